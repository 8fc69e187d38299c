"""The plugin's two shapes, a folder that a host clones and a distribution that pip installs, say the same."""

from __future__ import annotations

import ast
import email
import importlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

import agent_ledger
from agent_ledger import plugin, settings
from tests.hosts import checkout

ROOT = checkout.ROOT
HOOKS = ["pre_tool_call", "post_tool_call", "pre_llm_call", "on_session_start"]


def read_manifest(text: str) -> dict[str, Any]:
    """The manifest's small part of YAML: mappings, lists of words, plain and double-quoted scalars, ``[]``, ``{}``.

    Hosts differ in the YAML library that they have; what this reads, all of them read alike. Anything else is an error.
    """
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    value, rest = _block(lines, 0)
    assert not rest and isinstance(value, dict)
    return value


def _block(lines: list[str], indent: int) -> tuple[Any, list[str]]:
    mapping: dict[str, Any] = {}
    items: list[Any] = []
    while lines and len(lines[0]) - len(lines[0].lstrip()) == indent:
        line, lines = lines[0].strip(), lines[1:]
        if line.startswith("- "):
            items.append(_scalar(line[2:]))
            continue
        found = re.fullmatch(r"([a-z_]+):(?: (.+))?", line)
        assert found and found[1] not in mapping, line
        if found[2] is None:
            mapping[found[1]], lines = _block(lines, indent + 2)
        else:
            mapping[found[1]] = _scalar(found[2])
    assert not (mapping and items)
    return mapping or items, lines


def _scalar(text: str) -> Any:
    if text.startswith('"'):
        return json.loads(text)
    if text in ("[]", "{}"):
        return ast.literal_eval(text)
    assert re.fullmatch(r"[A-Za-z0-9_-]+", text), text
    assert text.lower() not in ("yes", "no", "on", "off", "true", "false", "null"), text
    return int(text) if text.isdigit() else text


@pytest.fixture(scope="module")
def manifest() -> dict[str, Any]:
    """What plugin.yaml says."""
    return read_manifest((ROOT / "plugin.yaml").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """The table ``project`` of pyproject.toml."""
    table: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return table


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive of a clean copy, and the wheel that was built from that archive."""
    source = checkout.export(tmp_path_factory.mktemp("source") / "agent-ledger")
    target = tmp_path_factory.mktemp("built")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(target), str(source)],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return target


@pytest.fixture(scope="module")
def wheel(built: Path) -> dict[str, bytes]:
    """File name -> content of the wheel."""
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def part(wheel: dict[str, bytes], name: str) -> str:
    """A file of the wheel's ``.dist-info`` folder."""
    return wheel[f"hermes_agent_ledger-{agent_ledger.__version__}.dist-info/{name}"].decode()


class Recorder:
    """A plugin context that notes the hooks and takes everything else."""

    def __init__(self) -> None:
        self.hooks: list[str] = []

    def register_hook(self, name: str, callback: object) -> None:
        self.hooks.append(name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("register_"):
            return lambda *_, **__: None
        raise AttributeError(name)


def test_the_manifest_declares_the_hooks_that_are_registered(manifest: dict[str, Any], home: Path) -> None:
    """Validators compare both: a hook that is registered and not declared fails, one declared in vain warns."""
    context = Recorder()
    plugin.register(context)

    assert context.hooks == manifest["provides_hooks"] == HOOKS


def test_the_manifest_describes_the_settings_that_are_read(manifest: dict[str, Any]) -> None:
    """The host shows and checks the settings, with the defaults and words that the code has."""
    assert manifest["config_schema"] == settings.config_schema()


def test_the_manifest_is_one_that_every_supported_host_takes(manifest: dict[str, Any]) -> None:
    """Installers up to 0.21.0 refuse a manifest version above 1, and without a kind the host guesses one."""
    assert (manifest["name"], manifest["kind"], manifest["manifest_version"]) == ("agent-ledger", "standalone", 1)
    assert manifest["requires_hermes"] == ">=0.18"


def test_no_host_has_a_python_dependency_to_ask_about(manifest: dict[str, Any], project: dict[str, Any]) -> None:
    """0.21.5 reads the dependencies; 0.22 asks about any folder with a pyproject.toml, save an external runtime."""
    assert project["dependencies"] == []
    assert manifest["python_runtime"] == "external"
    assert not {"python_dependencies", "pip_dependencies"} & manifest.keys()
    assert not (ROOT / "package.json").exists()


def test_the_version_is_the_same_everywhere(manifest: dict[str, Any], project: dict[str, Any]) -> None:
    """The package has the version; the distribution takes it from there, and manifest and changelog repeat it."""
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = re.findall(r"^## \[(\d[^\]]*)\]", changelog, re.MULTILINE)

    assert "version" in project["dynamic"] and "version" not in project
    assert manifest["version"] == headings[0] == agent_ledger.__version__


def test_both_shapes_have_the_same_licence(manifest: dict[str, Any], project: dict[str, Any]) -> None:
    """Manifest, distribution and LICENSE agree."""
    assert manifest["license"] == project["license"] == "MIT"
    assert (ROOT / "LICENSE").read_text(encoding="utf-8").startswith("MIT License\n")


def test_the_entry_points_lead_somewhere(project: dict[str, Any]) -> None:
    """The host's entry point is a module with ``register``, and the console script is a function."""
    entry = project["entry-points"]["hermes_agent.plugins"]["agent-ledger"]
    module, _, function = project["scripts"]["agent-ledger"].partition(":")

    assert importlib.import_module(entry).register is plugin.register
    assert callable(getattr(importlib.import_module(module), function))


def test_the_plugin_needs_the_standard_library_alone() -> None:
    """Without any site-packages folder the plugin, its commands and its self test can be imported."""
    code = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "import agent_ledger.plugin, agent_ledger.cli.main, agent_ledger.selftest.scenarios\n"
        "print(*sorted(name for name in sys.modules if name.split('.')[0] in ('rich', 'psutil', 'pluggy')))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", code], capture_output=True, text=True, timeout=60, check=False
    )

    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stderr


def test_the_wheel_holds_the_package_and_nothing_else(wheel: dict[str, bytes]) -> None:
    """Nothing lands beside the package: no tests, no root module that would shadow another distribution's."""
    recorded = [line.split(",")[0] for line in part(wheel, "RECORD").splitlines()]
    package = {name for name in recorded if name.startswith("agent_ledger/")}
    sources = {str(path) for path in checkout.source_files() if path.parts[0] == "agent_ledger"}

    pack = "policy.example.json"  # commands look for it in the package where no checkout is around it

    assert package == sources | {f"agent_ledger/{pack}"}
    assert wheel[f"agent_ledger/{pack}"] == (ROOT / pack).read_bytes()
    assert all(name.split("/")[0].endswith(".dist-info") for name in set(recorded) - package)


def test_the_wheel_announces_itself_to_host_and_shell(wheel: dict[str, bytes]) -> None:
    """The installed distribution has the host's entry point, the command, its version, and no requirement."""
    metadata = email.message_from_string(part(wheel, "METADATA"))
    entries = part(wheel, "entry_points.txt")

    assert metadata["Name"] == "hermes-agent-ledger" and metadata["Version"] == agent_ledger.__version__
    assert metadata.get_all("Requires-Dist") is None
    assert "[hermes_agent.plugins]\nagent-ledger = agent_ledger.plugin" in entries
    assert "[console_scripts]\nagent-ledger = agent_ledger.cli.main:main" in entries


def test_the_source_archive_is_a_plugin_folder_too(built: Path) -> None:
    """Who unpacks it has all that a clone has for use and tests, and none of what git ignores."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    must = {"plugin.yaml", "__init__.py", "after-install.md", "selftest.py", "LICENSE", "tests/test_packaging.py"}

    assert must <= names
    assert not [name for name in names if name.startswith((".venv", ".hosts", ".git/")) or "__pycache__" in name]


def test_the_package_imports_itself_relatively() -> None:
    """A host mounts the package under a name of its own, and the plugin folder is not on the path."""
    for file in (ROOT / "agent_ledger").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names = [node.module or ""]
            assert not any(name.split(".")[0] == "agent_ledger" for name in names), f"{file}:{node.lineno}"  # type: ignore[attr-defined]
