"""One file for each panel.

`ORDER`, its place in a report, and `sections(reading)`, what it shows of a comparison.
"""
