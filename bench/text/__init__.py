"""The contents of texts: facts, fields, instructions, decoding. Nothing here knows a trace."""
