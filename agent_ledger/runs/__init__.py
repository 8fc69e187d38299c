"""Unattended runs: reads the event stream of a one-shot run, judges it, and reports. No hook needs any of it."""
