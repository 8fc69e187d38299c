"""Run by a host's interpreter: what the host's installer reads as Python dependencies of a plugin folder, as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

folder = Path(sys.argv[1])
try:
    from pm.plugin_declarations import read_python_declaration
except ImportError:
    from hermes_cli.plugin_python_deps import read_declaration

    found = read_declaration(folder)
    requirements = list(found.specs)
    member = bool(requirements)
else:
    declared = read_python_declaration(folder)
    requirements = list(declared.requirements)
    member = declared.is_member
print(json.dumps({"member": member, "requirements": requirements}))
