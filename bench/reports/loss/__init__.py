"""What was lost, for people: sentences, excerpts, one text beside another."""
