"""Users' functions, classes and programs in the slots of a strategy: their values and answers, and
the child process that they run in."""
