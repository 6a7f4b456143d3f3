"""Files on disk: reading within limits, writing all or nothing, git."""
