"""What the tab in the host's dashboard asks and does. Standard library only; the host's web framework is known to
``dashboard/plugin_api.py`` alone."""
