"""The decision over measured runs: certainty, rules, advice, gates. Nothing here replays."""
