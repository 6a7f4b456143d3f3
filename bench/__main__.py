"""`python -m bench` is the command line."""

from .cli import main

main()
