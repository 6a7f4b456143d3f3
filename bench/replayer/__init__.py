"""Replaying of one trace through one strategy: its prompts, records, evaluations and routes."""
