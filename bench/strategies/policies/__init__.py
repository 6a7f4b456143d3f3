"""The history rules of today's agents and libraries, as presets of three engines: mask, window and summary; and the cuts of one output.

Each follows its source, under its own name, with its own way of counting tokens. A *view* is computed from the full history at every call; every
other policy rewrites the history. A parameter `every` above 1 moves the boundary at every `every`-th prompt only, which no original offers.
"""
