"""Scores recorded activity against the OWASP Top 10 for Agentic Applications 2026."""
