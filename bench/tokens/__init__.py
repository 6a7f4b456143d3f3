"""Counting tokens, and what they cost. No other room counts tokens or knows a price."""
