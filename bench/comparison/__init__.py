"""The decision over measured runs: totals, certainty, the table of rules, the advice, gates and
baselines. Nothing here replays.
"""
