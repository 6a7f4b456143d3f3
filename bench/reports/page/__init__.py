"""The parts of the HTML page: charts, and what the page carries compressed."""
