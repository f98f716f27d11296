"""Relays: what crosses the edge between two workers, one file an encoder."""
