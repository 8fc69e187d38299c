"""What is done to repositories, releases, secrets and projects on forges: ``gh``, ``glab`` and their kind."""

from __future__ import annotations

import re

from ..model import Actions, Command
from ..options import parse
from .cloud import KIND
from .git import is_shared_branch
from .verbs import Judge, both, every, is_harmless, judge, programs, say, tools

_GH_VALUED = frozenset("-R --repo -t --title -b --body -o --org -e --env --app -u --user --owner -q --jq -T".split())
_GH = """
repo delete : deletes a repository
release delete : deletes a published release
secret delete|remove : deletes a secret
project delete : deletes a project board
repo sync +--force : overwrites a branch
codespace delete +--all : deletes work that was not pushed
cs delete +--all : deletes work that was not pushed
"""
_GLAB = """
repo|project delete : deletes a repository
release delete : deletes a published release
variable delete : deletes a variable
"""
_API_VALUED = frozenset(
    "-X --method -f --raw-field -F --field -H --header -q --jq -t --template --input -p --hostname".split()
)
# Addresses under which a whole thing lies that nobody gets back.
_WHOLE = re.compile(
    r"/?(?:api/v4/)?(?:repos/[^/]+/[^/]+|orgs/[^/]+|projects/[^/]+|groups/[^/]+|user|"
    r"repos/[^/]+/[^/]+/(?:releases/\d+|environments/[^/]+|pages|branches/[^/]+/protection.*|rulesets/\d+|"
    r"actions/secrets/[^/]+)|(?:orgs|users)/[^/]+/packages/.+|user/packages/.+|orgs/[^/]+/members(?:hips)?/[^/]+)/?"
)
_REF = re.compile(r"/?repos/[^/]+/[^/]+/git/refs/heads/(.+)")
_MUTATION = re.compile(r"\bdelete(?:Repository|ProjectV2|Ref|Organization|Environment|PackageVersion)\b")


def _api(command: Command, act: Actions) -> None:
    """``gh api -X DELETE``, ``glab api --method DELETE``."""
    options = parse(command.args, _API_VALUED)
    words = [operand.text for operand in options.operands]
    if words[:1] != ["api"] or len(words) < 2:
        return
    method = (options.values.get("-X") or options.values.get("--method") or options.operands[0]).text.upper()
    address = words[1].partition("?")[0]
    fields = [value.text for value in every(command.args, ("-f", "-F", "--field", "--raw-field"), _API_VALUED)]
    ref = _REF.fullmatch(address)
    if method == "DELETE":
        if _WHOLE.fullmatch(address):
            act.effect(KIND, say(command.name, ["api -X DELETE", address], "deletes all of it"), address)
        elif ref is not None and is_shared_branch(ref[1]):
            told = say(command.name, ["api -X DELETE", address], "deletes a shared branch")
            act.effect("git_destruction", told, address)
    elif ref is not None and method == "PATCH" and "force=true" in fields:
        act.effect("git_destruction", say(command.name, ["api -X PATCH", address], "overwrites a branch"), address)
    elif address == "graphql" and any(_MUTATION.search(field) for field in fields):
        act.effect(KIND, say(command.name, ["api graphql"], "deletes a repository, project or branch"))


def _visibility(command: Command, act: Actions) -> None:
    """``gh repo edit --visibility public`` shows everybody what was private."""
    options = parse(command.args, ("--visibility", "-R", "-d", "--description", "-h", "--homepage"))
    value = options.values.get("--visibility")
    public = value is not None and value.text == "public"
    if public and [operand.text for operand in options.operands[:2]] == ["repo", "edit"] and not is_harmless(options):
        act.effect("permissions", say(command.name, ["repo edit --visibility public"], "shows everybody a repository"))


PROGRAMS: dict[str, Judge] = programs(
    tools("gh", both(judge(KIND, _GH, _GH_VALUED), _api, _visibility)),
    tools("glab", both(judge(KIND, _GLAB, _GH_VALUED), _api)),
    tools("hub", judge(KIND, "delete : deletes a repository\nrelease delete : deletes a published release")),
    tools("tea", judge(KIND, "repos|repo|releases|release delete|rm : deletes a repository or a release")),
)
