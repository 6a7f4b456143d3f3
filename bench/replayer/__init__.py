"""One trace replayed through one strategy: what it shows, stores, judges and routes."""
