"""Judges of source code: what a program would do, read from its text."""
