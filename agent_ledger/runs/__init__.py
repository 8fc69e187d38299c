"""Unattended runs: starts a one-shot run, reads its event stream, judges it, and reports.

No hook needs any of it, except in a run whose events were asked for (emitter.py).
"""
