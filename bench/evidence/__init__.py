"""Evidence of traces and replays: facts that prompts have, that later turns needed and that the
store gives back. Nothing here is a score."""
