"""Engines: what runs the language model. `generate` and, where the backend can, `score`."""
