"""Evidence of traces and runs: facts that prompts hold, later turns needed and the store gives
back. Nothing here is a score.
"""
