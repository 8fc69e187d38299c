"""Programs that print a secret which no file here holds: key stores, vaults, cluster secrets, login tokens."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ..model import SECRET, UNKNOWN, Command, Value
from ..registry import program

if TYPE_CHECKING:
    from ..machine import Machine

# program: sequences of words, in order among its operands, that print a secret
_TABLE = """
    gh: auth token | auth status --show-token | auth status -t
    glab: auth status -t | auth status --show-token
    aws: secretsmanager get-secret-value | ssm get-parameter --with-decryption
      | ssm get-parameters --with-decryption | configure get aws_secret_access_key
      | configure get aws_session_token | configure export-credentials | sts get-session-token | sts assume-role
      | ecr get-login-password | iam create-access-key | kms decrypt | rds generate-db-auth-token
      | ssm get-parameters-by-path --with-decryption | ec2 get-password-data | codeartifact get-authorization-token
    gcloud: auth print-access-token | auth print-identity-token | auth application-default print-access-token
      | secrets versions access | iam service-accounts keys create
    az: account get-access-token | keyvault secret show | keyvault secret download | acr credential show
      | storage account keys list | ad sp create-for-rbac | webapp config appsettings list | cosmosdb keys list
      | redis list-keys
    vault: kv get | read | token lookup | print token
    consul: acl token read
    pass: show | otp
    gopass: show | cat
    op: read | item get | document get | inject
    bw: get | export | list items
    lpass: show | export
    rbw: get
    keyring: get
    secret-tool: lookup | search --unlock
    chezmoi: secret
    kwallet-query: -r
    keepassxc-cli: show | export | clip
    security: find-generic-password -w | find-generic-password -g | find-internet-password -w
      | find-internet-password -g | dump-keychain | export | find-generic-password -gw
    heroku: config | config:get | auth:token
    doppler: secrets | secrets download | secrets get
    infisical: secrets | export
    sops: -d | --decrypt | decrypt
    ansible-vault: view | decrypt
    kubeseal: --recovery-unseal
    chamber: read | export | env
    berglas: access
    doctl: auth token | kubernetes cluster kubeconfig show
    fly: auth token
    flyctl: auth token
    firebase: login:ci | functions:config:get
    netlify: env:list --plain | env:get
    vercel: env pull
    npm: token create
    docker: secret inspect --pretty-none
    terraform: output -raw
    credential-helper: get
    git-credential-manager: get
    git: credential fill
    teller: show | sh | yaml | env
    envchain: --list-values
    pulumi: config --show-secrets | stack output --show-secrets | config get --show-secrets
    step: crypto jwk create
"""


def _sequences() -> dict[str, tuple[tuple[str, ...], ...]]:
    found: dict[str, tuple[tuple[str, ...], ...]] = {}
    for entry in re.split(r"\n {4}(?=\S)", _TABLE):
        name, _, sequences = entry.strip().partition(": ")
        if name:
            found[name] = tuple(tuple(words.split()) for words in sequences.split(" | "))
    return found


_PRINTS = _sequences()
_LISTING = frozenset(
    {
        "ls",
        "list",
        "find",
        "grep",
        "insert",
        "generate",
        "edit",
        "init",
        "git",
        "rm",
        "mv",
        "cp",
        "version",
        "help",
        "--help",
        "-h",
        "--version",
        "sync",
        "status",
        "log",
    }
)
_OUTPUTS = ("yaml", "json", "jsonpath", "go-template", "template", "custom-columns")


def printed(machine: Machine, command: Command) -> Value | None:
    """What this command prints where that is a secret, else None."""
    texts = command.texts
    if any(text in ("--help", "-h", "-help", "help") for text in texts):
        return None
    if command.name in ("kubectl", "oc", "k3s"):
        return _cluster(machine, command, texts)
    for sequence in _PRINTS.get(command.name, ()):
        if _in_order(texts, sequence):
            if (
                command.name == "vault"
                and sequence == ("read",)
                and any("secret" not in t and t.startswith("sys/") for t in texts)
            ):
                return None
            if command.name == "heroku" and sequence == ("config",) and texts[0] != "config":
                return None
            return _secret(machine, f"what {command.name} {' '.join(sequence)} prints".replace("  ", " "))
    if (
        command.name in ("pass", "gopass")
        and texts
        and texts[0] not in _LISTING
        and not texts[0].startswith("-")
        and "/" in texts[0]
    ):
        return _secret(machine, f"what {command.name} prints")
    return None


def _secret(machine: Machine, what: str) -> Value:
    machine.origin = what
    return Value(UNKNOWN, SECRET)


def _in_order(texts: list[str], sequence: tuple[str, ...]) -> bool:
    """True where the words of ``sequence`` stand in ``texts`` in this order, the first among the first three."""
    at = 0
    for number, word in enumerate(sequence):
        limit = len(texts) if number else min(len(texts), 3)
        while at < limit and texts[at] != word:
            at += 1
        if at >= limit:
            return False
        at += 1
    return bool(sequence)


def _cluster(machine: Machine, command: Command, texts: list[str]) -> Value | None:
    if "config" in texts[:3] and "view" in texts and ("--raw" in texts or "--flatten" in texts):
        return _secret(machine, "the credentials of a cluster")
    if "create" in texts[:3] and "token" in texts[:4]:
        return _secret(machine, "a token of a cluster")
    if "get" not in texts:
        return None
    kinds = {kind for text in texts[texts.index("get") + 1 :] for kind in text.partition("/")[0].split(",")}
    if not kinds & {"secret", "secrets"}:
        return None
    for at, text in enumerate(texts):
        form = text.removeprefix("--output=").removeprefix("-o=") if text.startswith(("--output=", "-o=")) else ""
        if text in ("-o", "--output") and at + 1 < len(texts):
            form = texts[at + 1]
        elif text.startswith("-o") and len(text) > 2 and not form:
            form = text[2:]
        if form.startswith(_OUTPUTS) and "metadata" not in form:
            return _secret(machine, "a secret of a cluster")
    return None


@program(
    *(
        name
        for name in _PRINTS
        if name
        not in (
            "gh",
            "glab",
            "aws",
            "gcloud",
            "az",
            "npm",
            "docker",
            "git",
            "heroku",
            "fly",
            "flyctl",
            "op",
            "doppler",
            "infisical",
            "sops",
            "chamber",
            "teller",
            "envchain",
        )
    )
)
def prints(machine: Machine, command: Command) -> Value | None:
    return printed(machine, command)


@program("git")
def git(machine: Machine, command: Command) -> Value | None:
    """Only what git runs for others: an alias or a pager given on the command line. The rest is judged elsewhere."""
    args = command.args
    for at, arg in enumerate(args[:-1]):
        if arg.text == "-c":
            name, _, value = args[at + 1].text.partition("=")
            if value.startswith("!"):
                machine.aside(value[1:])
            elif (
                name.lower()
                in (
                    "core.pager",
                    "core.editor",
                    "core.sshcommand",
                    "core.fsmonitor",
                    "sequence.editor",
                    "diff.external",
                )
                and " " in value
            ):
                machine.aside(value)
    texts = command.texts
    for words in (
        ("filter-branch", "--tree-filter"),
        ("filter-branch", "--index-filter"),
        ("bisect", "run"),
        ("submodule", "foreach"),
        ("rebase", "--exec"),
        ("rebase", "-x"),
    ):
        if (
            words[0] in texts
            and words[1] in texts
            and texts.index(words[1]) + 1 < len(texts)
            and words[0] != "filter-branch"
        ):
            rest = args[texts.index(words[1]) + 1 :]
            text = " ".join(a.text for a in rest if a.text not in ("--recursive", "--quiet"))
            machine.aside(text)
    if "config" in texts[:4] and any(text.startswith("!") for text in texts):
        return None
    return printed(machine, command)
