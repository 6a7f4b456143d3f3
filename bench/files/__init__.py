"""Files on disk: reading with places to point at, writing whole or not at all, git. Nothing here
replays or judges.
"""
