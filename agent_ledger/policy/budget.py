"""What one judgement may cost. It is counted and not timed, so that the same call is always judged the same."""

from __future__ import annotations

_STEPS = 3000  # commands
_SIZE = 1_000_000  # characters that are made or read again
_DEPTH = 48  # shells inside shells, functions inside functions, wrappers of wrappers
_FIELD = 48  # what a field costs beside its characters
# What each command of the call itself has in any case, so that nothing in front of it can hide it.
_LEAST_STEPS = 16
_LEAST_SIZE = 512


class Budget:
    """The steps, the characters and the depth that are left of one judgement."""

    __slots__ = ("depth", "size", "steps")

    def __init__(self) -> None:
        self.steps = _STEPS
        self.size = _SIZE
        self.depth = 0

    def step(self) -> bool:
        """Count a command; False once there were too many."""
        self.steps -= 1
        return self.steps >= 0

    def enter(self) -> bool:
        """Go one level down; False where that is too deep. Whoever got True gives the level back."""
        if self.depth >= _DEPTH:
            return False
        self.depth += 1
        return True

    def spend(self, characters: int, fields: int = 0) -> bool:
        """Count text; False once there was too much."""
        self.size -= characters + fields * _FIELD
        return self.size >= 0

    def refill(self) -> None:
        """Before each command of the call itself."""
        if self.steps < _LEAST_STEPS:
            self.steps = _LEAST_STEPS
        if self.size < _LEAST_SIZE:  # a debt stays one, so that many commands cannot each make one
            self.size = min(self.size + _LEAST_SIZE, _LEAST_SIZE)
