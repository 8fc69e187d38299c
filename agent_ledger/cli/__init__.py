"""``hermes ledger``, ``agent-ledger`` and ``/ledger``: one implementation, and nothing that a hook imports."""
