"""What a text or value says: decoding, facts, leaves of JSON, tables, notices, lossless notations. Nothing here knows a trace."""
