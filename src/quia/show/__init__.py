"""How explanations are shown."""
