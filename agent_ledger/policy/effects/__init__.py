"""Judges of resolved commands, one room for each class of effect."""
