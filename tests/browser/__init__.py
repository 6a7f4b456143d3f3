"""Tests of the new page in a real browser."""
