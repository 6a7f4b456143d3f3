"""What reports are made of: blocks of data, charts, and the parts of a page. Panels fill them, renderers show them."""
