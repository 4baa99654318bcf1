"""Many decisions at once."""
