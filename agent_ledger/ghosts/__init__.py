"""Judgement over calls that nobody confirmed: whose they are, whether they are ghosts, and what the agent is told."""
