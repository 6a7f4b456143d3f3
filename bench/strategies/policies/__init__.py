"""The policies of today's agents and libraries, a file for each.

They are presets of mask, sliding window and summary.

Each follows its source, under its own name, with its own way of counting tokens. A *view* is
computed from the full history at every call; any other policy rewrites the history.
"""
