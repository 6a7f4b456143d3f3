"""The policies of today's agents and libraries, a file each: presets of mask, window and summary."""
