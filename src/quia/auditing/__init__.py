"""Audits: what is true of a whole model and of its decisions on a table."""
