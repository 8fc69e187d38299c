"""Run by a host's interpreter: scan a plugin folder as the installer does and print the verdict as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tools.plugin_guard import scan_plugin

result = scan_plugin(Path(sys.argv[1]))
grave = [
    f"{found.file}:{found.line} {found.severity} {found.pattern_id}: {found.match}"
    for found in result.findings
    if found.severity in ("high", "critical")
]
print(json.dumps({"verdict": result.verdict, "findings": len(result.findings), "grave": grave}))
