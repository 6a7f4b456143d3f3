"""Slow and obvious versions of the metrics: every prompt rebuilt as a full list, every text scanned with plain loops."""
