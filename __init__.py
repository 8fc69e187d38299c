"""The door that the Hermes host knocks on: it imports this folder and calls ``register(ctx)``."""

from .agent_ledger.plugin import register

__all__ = ["register"]
