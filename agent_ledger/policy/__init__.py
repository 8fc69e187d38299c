"""The judgement of what a call would do, before it does it."""
