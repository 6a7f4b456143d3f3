"""What a trace and a run show: what each prompt holds, what later turns needed, what the store gives back. Nothing here is a score."""
