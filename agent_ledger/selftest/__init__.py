"""What ``selftest.py`` at the root of the plugin checks, and against which host. No hook reaches this."""
