"""Rollouts: a plan of workers is run, relay by relay, into an episode."""
