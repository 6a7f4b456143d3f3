"""Parts of readers for agents' session logs: shared ones, and those too long for the reader's
file."""
