"""The policies of today's agents and libraries: presets of mask, window and summary."""
