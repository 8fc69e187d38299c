"""agent-ledger: a write-ahead ledger of what a Hermes agent does that changes something."""

__version__ = "0.1.0"
