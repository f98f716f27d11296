"""Benchmarks: tasks, environments, scoring, roles; one package each."""
