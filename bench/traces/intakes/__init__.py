"""The three intakes: a list of messages, calls of models as a log has them, a tree of spans.

A reader finds one of the three in its files, in the format of any provider's interface:
`messages.py` reads the messages of a run, `calls.py` requests with their responses, `tree.py` runs
within runs. `content.py` and `usage.py` read what is in a message, `exchange.py` and `streams.py` a
request and its response; `prompts.py` makes a run out of whole prompts.
"""
