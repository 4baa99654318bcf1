"""Plots with matplotlib (extra `plot`): each draws on one Axes, returns it, and shows what was found elsewhere."""
