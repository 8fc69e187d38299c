"""The ledger on disk: connection, schema, the statements over calls, and the spool beside it."""
