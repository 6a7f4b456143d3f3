"""Rows, pairs, intervals and the decision. Nothing here replays, and nothing here is put into words."""
