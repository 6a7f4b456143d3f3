"""Counting of tokens, and prices. No other room counts tokens or knows a price."""
