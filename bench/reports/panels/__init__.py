"""One file for each panel: `sections(reading)` yields its sections of the report."""
