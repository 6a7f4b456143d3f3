"""What readers of several formats share. No format is registered here."""
