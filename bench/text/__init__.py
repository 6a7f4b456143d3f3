"""The contents of texts: facts, fields, instructions, decoding. Nothing here depends on traces."""
