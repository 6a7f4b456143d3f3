"""The three intakes: a list of messages, calls of models as a log has them, a tree of spans.

A reader says where one of the three stands in its files, in whatever interface's form it is
written: `messages.py` reads the messages of a run, `calls.py` requests with their responses,
`tree.py` runs within runs. `content.py` and `usage.py` read what is in a message, `exchange.py` and
`streams.py` a request and its response; `prompts.py` makes a run out of whole prompts.
"""
