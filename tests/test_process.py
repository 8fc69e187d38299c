"""What belongs to the process: which copy acts, and what a forked child may not use."""

from __future__ import annotations

import os

from agent_ledger import process


def test_newest_copy_acts() -> None:
    """Of two copies for one home only the one that was registered last acts."""
    old, new = object(), object()
    process.claim("/srv/h", old)
    process.claim("/srv/h", new)
    assert (process.acts("/srv/h", old), process.acts("/srv/h", new)) == (False, True)


def test_copies_of_several_homes_act_each_for_its_own() -> None:
    """A copy for another home takes nothing from the first."""
    one, two = object(), object()
    process.claim("/srv/one", one)
    process.claim("/srv/two", two)
    assert process.acts("/srv/one", one) and process.acts("/srv/two", two)
    assert not process.acts("/srv/one", two)


def test_home_without_a_copy_is_served_by_the_newest() -> None:
    """Older hosts load one copy for all homes."""
    newest = object()
    process.claim("/srv/any", newest)
    assert process.acts("/srv/never-registered", newest)


def test_forked_child_starts_anew() -> None:
    """In a child of fork nothing of the parent's connections and locks is in use."""
    state = process.registry()
    before = state.generation
    state.connections["/srv/fork"] = object()
    try:
        child = os.fork()
        if child == 0:
            fresh = process.registry()
            os._exit(0 if fresh.generation is not before and not fresh.connections and not fresh.owners else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert state.generation is before
    finally:
        del state.connections["/srv/fork"]
