"""What today's agents do with their history: each policy by its own rule, its own name and its own way of counting."""
