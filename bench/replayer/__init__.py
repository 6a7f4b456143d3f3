"""One trace replayed through one strategy: the loop, the prompts of a thread, the state that routers see. Nothing here is measured."""
