"""What a text or value holds, what of it is gone, and what later turns needed: pure functions that metrics, strategies and reports measure with."""
