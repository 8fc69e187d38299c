"""What is done to cloud resources by the large providers' programs, and by those that describe infrastructure."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from ..model import Actions, Command, Value
from ..options import Options, parse
from . import places
from .verbs import Judge, is_harmless, judge, programs, say, tools

KIND = "cloud_destruction"
_DESTROYS = "destroys cloud resources"


# --- infrastructure as code


def _terraform(command: Command, act: Actions) -> None:
    """``terraform``, ``tofu``, ``terragrunt``: options have one dash; planning changes nothing."""
    options = parse(command.args, ("-var", "-var-file", "-state", "-target", "--terragrunt-working-dir"), True)
    words = [operand.text for operand in options.operands if operand.text not in ("run-all", "run", "stack")]
    verb = words[0] if words else ""
    if is_harmless(options, help_short=False) or options.any("-h", "-help", "--help"):
        return
    note = ""
    if verb in ("destroy", "destroy-all") or (verb == "apply" and options.any("-destroy", "--destroy")):
        note = "destroys the infrastructure"
    elif words[:2] == ["workspace", "delete"]:
        note = "deletes a workspace and its state"
    elif words[:2] == ["state", "rm"] and not options.any("-dry-run"):
        note = "forgets resources that go on existing"
    elif words[:2] == ["state", "push"] and options.any("-force", "--force"):
        note = "overwrites the recorded state"
    if note:
        act.effect(KIND, say(command.name, options.operands[:2], note))


_PULUMI = """
destroy|down : destroys the infrastructure
stack rm|remove : deletes a stack and its state
state delete : forgets resources that go on existing
"""
_EACH_WITH = {
    "cdk cdktf arc": "destroy : destroys the stack",
    "serverless sls sst": "remove : removes the service",
    "sam": "delete : deletes the stack",
    "amplify": "delete : deletes the environment\nenv remove : deletes the environment",
    "copilot": "app|svc|job|pipeline|env delete : deletes it",
    "eb": "terminate : terminates the environment",
    "chalice": "delete : deletes the application",
    "zappa": "undeploy : removes the application",
    "sceptre": "delete : deletes stacks",
    "rain": "rm : deletes a stack",
    "nitric": "down : removes the stack",
    "azd": "down : deletes all resources",
    "kops": "delete cluster|ig|instancegroup|instance +--yes : deletes a cluster",
    "eksctl": "delete cluster|nodegroup|ng|fargateprofile|addon|iamserviceaccount : deletes a cluster or a part of it",
    "rosa": "delete cluster|machinepool|idp : deletes a cluster or a part of it",
    "openshift-install": "destroy : destroys the cluster",
    "cloud-nuke": "aws|azure !--dry-run : deletes everything in the account",
    "aws-nuke": "+--no-dry-run : deletes everything in the account",
}

_STACK_VALUED = ("-r", "--region", "--stage", "-s", "--profile", "--app", "-a")

# --- AWS

_AWS_GLOBAL = frozenset(
    "--profile --region --output --query --endpoint-url --color --ca-bundle --cli-read-timeout --cli-connect-timeout "
    "--parameters --document-name --policy-arn".split()
)
_AWS_VERBS = ("delete", "terminate", "remove", "purge", "destroy", "batch-delete", "force-delete")
_AWS_ALSO = frozenset(
    "schedule-key-deletion release-address deregister-image close-account leave-organization stop-logging "
    "disable-key release-hosts".split()
)
# One small thing, a label, or what is made again at once.
_AWS_SMALL = re.compile(
    r"(?:delete|remove)-(?:tags?|.*-tags|tags-.*|item|message|message-batch|object|object-tagging|change-set|alarms|"
    r"dashboards?|metric-filter|launch-template-versions|placement-group|key-pair|targets|permission|rule|"
    r"user-from-group|role-from-instance-profile|client-id-from-open-id-connect-provider|attributes?|"
    r"scheduled-action|network-acl-entry|route|log-delivery|report-definition|notification-configuration|"
    r"lifecycle-hook|evaluation-results|maintenance-window|anomaly-detector|insight-rules|contributor-.*)"
)
_AWS_LOCAL = re.compile(
    r"https?://(?:localhost|127\.|0\.0\.0\.0|host\.docker\.internal|(?:localstack|minio|dynamodb-local|moto)(?:[:/]|$))"
)


def _aws(command: Command, act: Actions) -> None:
    """``aws SERVICE ACTION``."""
    options = parse(command.args, _AWS_GLOBAL)
    words = [operand.text for operand in options.operands]
    endpoint = options.values.get("--endpoint-url") or command.env.get("AWS_ENDPOINT_URL")
    local = endpoint is not None and _AWS_LOCAL.match(endpoint.text) is not None
    if len(words) < 2 or local or is_harmless(options, help_short=False) or options.any("--generate-cli-skeleton"):
        return
    service, action = words[0], words[1]
    if service == "s3":
        _object_store(command, act, options, action, words[2:], ("rb",), ("rm",))
    elif service == "ssm" and action == "send-command":
        _ssm(options, act)
    elif action in _AWS_ALSO or (action.startswith(_AWS_VERBS) and not _AWS_SMALL.fullmatch(action)):
        act.effect(KIND, say("aws", words[:2], _DESTROYS), words[-1])
    elif action in ("attach-user-policy", "attach-role-policy", "attach-group-policy"):
        policy = options.values.get("--policy-arn")
        if policy is not None and policy.text.endswith("/AdministratorAccess"):
            act.effect("account", say("aws", words[:2], "makes somebody an administrator"))


_QUOTED = re.compile(r"[\"']([^\"']*)[\"']")


def _ssm(options: Options, act: Actions) -> None:
    """``aws ssm send-command --parameters 'commands=["..."]'``: runs on other machines."""
    text = options.values.get("--parameters", Value()).text
    name, _, listed = text.partition("=")
    if name == "commands":
        for line in _QUOTED.findall(listed) or [listed]:
            act.shell(line, "host")


def _object_store(
    command: Command,
    act: Actions,
    options: Options,
    verb: str,
    targets: Sequence[str],
    buckets: Collection[str],
    removes: Collection[str],
) -> None:
    """A bucket is always much; an object alone is not, until it is recursive, a pattern or a whole bucket."""
    target = targets[0] if targets else ""
    if verb in buckets:
        act.effect(KIND, say(command.name, [verb, target], "deletes a bucket"), target)
    elif verb in removes:
        recursive = options.any("--recursive", "-r", "-R", "--all", "-a", "--include", "--recurse")
        if recursive or any(_many_objects(each) for each in targets):
            act.effect(KIND, say(command.name, [verb, target], "deletes all objects below it"), target)


_BUCKET = re.compile(r"(?:s3|gs|oss|cos|b2|obs|az|https?)://[^/]*/?")


def _many_objects(target: str) -> bool:
    return "*" in target or _BUCKET.fullmatch(target) is not None or places.is_unknown(target)


# --- programs with a group, a noun and a verb

_LOOKS = frozenset("list ls show get describe create update ssh scp".split())
_BULK = frozenset(("bulk-delete", "delete-batch", "purge"))
_DELETES = _BULK | frozenset("delete destroy rm remove terminate del".split())


def _nouns_and_verbs(valued: str, small: str, deletes: str = "", store: str = "", suffix: bool = False) -> Judge:
    """The first verb among the words decides.

    ``small``: nouns of which one may go; ``deletes``: more verbs; ``store``: the noun of an object store, whose
    ``rm`` takes paths; ``suffix``: verbs are also the end of a word (``instance-delete``).
    """
    with_value, spared = frozenset(valued.split()), frozenset(small.split())
    verbs = _DELETES | frozenset(deletes.split())

    def look(command: Command, act: Actions) -> None:
        options = parse(command.args, with_value)
        words = [operand.text for operand in options.operands]
        if is_harmless(options):
            return
        for at, word in enumerate(words[:6]):
            if word in _LOOKS:
                return
            if word not in verbs and not (suffix and word.endswith(("-delete", "-rm", "-terminate", "-destroy"))):
                continue
            if store and at and words[at - 1] == store:
                _object_store(command, act, options, word, words[at + 1 :], (), ("rm", "remove"))
            elif word in _BULK or spared.isdisjoint((*words[:at], word.rpartition("-")[0])):
                act.effect(KIND, say(command.name, words[: at + 2], _DESTROYS), words[-1])
            return

    return look


_GCLOUD_VALUED = (
    "--project --account --configuration --format --filter --zone --region --location --impersonate-service-account "
    "--verbosity --billing-project --limit --page-size --sort-by"
)


def _gsutil(command: Command, act: Actions) -> None:
    args = command.args
    at = 0
    while at < len(args) and args[at].text.startswith("-"):
        at += 2 if args[at].text in ("-o", "-h", "-u", "-i") else 1
    if at < len(args):
        options = parse(args[at + 1 :])
        targets = [operand.text for operand in options.operands]
        _object_store(command, act, options, args[at].text, targets, ("rb",), ("rm",))


def _azure(command: Command, act: Actions) -> None:
    options = parse(command.args, ("-g", "-n", "-o", "--resource-group", "--name", "--output", "--query"))
    words = [operand.text for operand in options.operands]
    if is_harmless(options):
        return
    for at, word in enumerate(words[:6]):
        if word in ("list", "show", "create", "update"):
            return
        if word in ("delete", "purge", "delete-batch", "remove"):
            group = " ".join(words[:at])
            if word not in ("delete", "remove") or group not in _AZ_SMALL:
                act.effect(KIND, say("az", words[: at + 1], _DESTROYS))
            return


_AZ_SMALL = frozenset(
    ("storage blob", "storage file", "storage entity", "storage message", "tag", "extension", "cache", "config",
     "deployment group", "deployment sub", "repos ref", "boards work-item", "pipelines build", "devops")
)  # fmt: skip
_AWS_STORES = {
    "s3cmd": ("rb",), "s4cmd": (), "s5cmd": ("rb",), "mc": ("rb",), "mcli": ("rb",), "ossutil": ("rb",), "coscmd": (),
    "obsutil": (), "azcopy": (), "b2": ("delete-bucket",),
}  # fmt: skip


def _store(buckets: Collection[str]) -> Judge:
    def look(command: Command, act: Actions) -> None:
        options = parse(command.args, ("-c", "--config", "--endpoint-url", "--profile", "--older-than", "--access_key"))
        words = [operand.text for operand in options.operands]
        if words and not is_harmless(options) and not options.any("-n", "--fake"):
            _object_store(command, act, options, words[0], words[1:], buckets, ("rm", "del", "delete", "remove"))

    return look


def _capital_verbs(command: Command, act: Actions) -> None:
    """``aliyun ecs DeleteInstance``, ``tccli cvm TerminateInstances``: the action is one word."""
    words = [operand.text for operand in parse(command.args, ("--profile", "-p", "--region")).operands]
    if len(words) > 1 and words[1].startswith(("Delete", "Release", "Terminate", "Destroy", "Purge", "Remove")):
        act.effect(KIND, say(command.name, words[:2], _DESTROYS))
    elif words[:2] == ["oss", "rm"] and any(arg.text in ("-r", "--recursive") for arg in command.args):
        act.effect(KIND, say(command.name, words[:2], "deletes all objects below it"))


_OUT = "-o --output --profile --zone --os-cloud"
_DO = "-t --access-token -c --context -o --output -u --api-url --config --format --interactive --http-retry-max"
PROGRAMS: dict[str, Judge] = programs(
    tools("terraform tofu terragrunt opentofu", _terraform),
    tools("pulumi", judge(KIND, _PULUMI, ("-s", "--stack", "-C", "--cwd", "-m", "--message"))),
    *(tools(names, judge(KIND, table, _STACK_VALUED)) for names, table in _EACH_WITH.items()),
    tools("aws aws2", _aws),
    tools("gcloud", _nouns_and_verbs(_GCLOUD_VALUED, "configurations components config", store="storage")),
    tools("gsutil", _gsutil),
    tools("az", _azure),
    tools("doctl", _nouns_and_verbs(_DO, "auth ssh-key tag", "d rm delete-tag")),
    tools("linode-cli linode", _nouns_and_verbs("--format --as-user", "sshkeys tags", "rebuild", suffix=True)),
    tools("hcloud", _nouns_and_verbs("--context --config -o", "context ssh-key certificate", "rebuild")),
    tools("scw exo upctl civo vultr-cli yc openstack nova", _nouns_and_verbs(_OUT, "keypair key ssh-key config")),
    tools("ibmcloud", _nouns_and_verbs("-g -r --output", "config plugin api-key object", suffix=True)),
    tools("oci", _nouns_and_verbs("--profile --region --compartment-id --output -bn -ns", "object session")),
    tools("aliyun tccli", _capital_verbs),
    *(tools(name, _store(buckets)) for name, buckets in _AWS_STORES.items()),
)  # fmt: skip
