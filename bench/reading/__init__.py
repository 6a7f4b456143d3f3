"""What readers share: a file with places to point at, provider messages as steps, commands spoken in text."""
