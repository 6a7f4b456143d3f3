"""Session logs of agents, as far as a reader of one needs a file of its own, or several share it."""
