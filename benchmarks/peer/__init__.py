"""Scripts that run other tools, each in an environment of its own; none is imported by quia."""
