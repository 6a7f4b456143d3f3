"""One file for each panel: `sections(reading)` gives what it shows of a comparison."""
