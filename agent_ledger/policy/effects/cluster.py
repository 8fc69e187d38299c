"""What is done to Kubernetes clusters and what keeps them."""

from __future__ import annotations

from collections.abc import Sequence

from ..model import UNKNOWN, Actions, Command, Value
from ..options import Options, parse
from . import places
from .container import KIND
from .verbs import Judge, both, is_harmless, judge, programs, say, tools

_VALUED = frozenset(
    "-n --namespace --context --cluster --user --kubeconfig -s --server --token --as --as-group --request-timeout -l "
    "--selector -f --filename -k --kustomize -o --output -c --container --field-selector --grace-period --timeout "
    "--kube-context -v --cache-dir --certificate-authority --replicas --clusterrole --group --serviceaccount "
    "--raw".split()
)
# What a controller makes again, or nobody misses.
_SMALL = frozenset(
    "pod pods po job jobs replicaset replicasets rs event events ev endpoints ep endpointslice lease leases csr "
    "certificatesigningrequest configmap configmaps cm hpa horizontalpodautoscaler horizontalpodautoscalers pdb "
    "poddisruptionbudget limitrange quota resourcequota taskrun taskruns pipelinerun pipelineruns workflow workflows "
    "build builds podmonitor servicemonitor".split()
)
_HEAVY = {
    **dict.fromkeys("namespace namespaces ns project projects".split(), "deletes a namespace and all in it"),
    **dict.fromkeys("node nodes no machine machines machineset machinedeployment".split(), "removes nodes"),
    **dict.fromkeys(
        "pv persistentvolume persistentvolumes pvc persistentvolumeclaim persistentvolumeclaims volumesnapshot "
        "volumesnapshots volumesnapshotcontent storageclass storageclasses sc".split(),
        "deletes stored data",
    ),
    **dict.fromkeys(
        "deployment deployments deploy statefulset statefulsets sts daemonset daemonsets ds service services svc "
        "ingress ingresses ing cronjob cronjobs cj replicationcontroller replicationcontrollers rc deploymentconfig "
        "deploymentconfigs dc route routes application applications app applicationset helmrelease helmreleases "
        "kustomization kustomizations gateway httproute ksvc rollout rollouts".split(),
        "removes a workload or what reaches it",
    ),
    **dict.fromkeys(
        "secret secrets serviceaccount serviceaccounts sa role roles rolebinding rolebindings clusterrole clusterroles "
        "clusterrolebinding clusterrolebindings networkpolicy networkpolicies netpol".split(),
        "deletes secrets or access rights",
    ),
    **dict.fromkeys(
        "crd crds customresourcedefinition customresourcedefinitions apiservice apiservices "
        "mutatingwebhookconfiguration validatingwebhookconfiguration cluster clusters postgresql postgrescluster kafka "
        "elasticsearch redis rediscluster mongodb perconaservermongodb mysqlcluster innodbcluster".split(),
        "deletes a definition or a stateful service, and what depends on it",
    ),
    "all": "deletes everything of that kind",
}
_LOCAL_CONTEXTS = ("kind-", "k3d-", "minikube", "docker-desktop", "rancher-desktop", "orbstack", "colima", "microk8s")
_ANONYMOUS = ("system:anonymous", "system:unauthenticated", "system:authenticated")


def is_local(options: Options) -> bool:
    """The context is a cluster on this machine."""
    context = options.values.get("--context") or options.values.get("--kube-context")
    return context is not None and context.text.startswith(_LOCAL_CONTEXTS)


def _kubectl(command: Command, act: Actions) -> None:
    options = parse(command.args, _VALUED)
    operands = options.operands
    verb = operands[0].text if operands else ""
    look = _VERBS.get(verb)
    if look is None or is_harmless(options) or is_local(options):
        return
    note = look(options, operands[1:])
    if note:
        act.effect(KIND, say(command.name, operands[:3], note), operands[2].text if len(operands) > 2 else "")


def _delete(options: Options, operands: Sequence[Value]) -> str:
    if options.any("-k", "--kustomize"):
        return "deletes everything that a manifest names"
    manifest = options.values.get("-f") or options.values.get("--filename")
    if manifest is not None:
        return _manifest(manifest.text)
    raw = options.values.get("--raw")
    if raw is not None:
        return "deletes through the API itself" if raw.text.count("/") < 5 else ""
    if not operands:
        return ""
    if UNKNOWN in operands[0].text:
        return "deletes what it is told at run time"
    kinds = _kinds(operands)
    chosen = options.any("-l", "--selector", "--field-selector")
    if options.any("--all") or (options.any("-A", "--all-namespaces") and not chosen):
        return "deletes all of them"
    for kind in kinds:
        if kind not in _SMALL and kind in _HEAVY:
            return _HEAVY[kind]
    return ""


def _kinds(operands: Sequence[Value]) -> set[str]:
    """The resource types: of ``deploy,svc name``, or of ``deploy/a svc/b``."""
    first = operands[0].text
    named = [operand.text.partition("/")[0] for operand in operands] if "/" in first else first.split(",")
    return {name.lower().partition(".")[0] for name in named}


def _manifest(path: str) -> str:
    """A folder, standard input or an address can hold anything; a file that is named for a job or pod holds that."""
    if places.is_test_name(path) or places.is_temporary(path):
        return ""
    base = path.rpartition("/")[2].lower()
    if any(word in base for word in ("pod", "job", "debug", "example", "demo")):
        return ""
    return "deletes everything that a manifest names"


def _drain(options: Options, operands: Sequence[Value]) -> str:
    forced = options.any("--force", "--delete-emptydir-data", "--delete-local-data", "--disable-eviction")
    return "evicts everything from a node and deletes local data" if forced else ""


def _apply(options: Options, operands: Sequence[Value]) -> str:
    return "deletes what the manifests do not name" if options.any("--prune") else ""


def _scale(options: Options, operands: Sequence[Value]) -> str:
    replicas = options.values.get("--replicas")
    stopped = replicas is not None and replicas.text == "0"
    return "stops all workloads" if stopped and options.any("--all") else ""


def _create(options: Options, operands: Sequence[Value]) -> str:
    role = options.values.get("--clusterrole")
    given = [value.text for name, value in options.values.items() if name in ("--user", "--group")]
    if role is not None and role.text == "cluster-admin" and any(name in _ANONYMOUS for name in given):
        return "makes everybody an administrator"
    return ""


_VERBS = {"delete": _delete, "drain": _drain, "apply": _apply, "scale": _scale, "create": _create}


def _sub_kubectl(command: Command, act: Actions) -> None:
    """``k3s kubectl ...``, ``minikube kubectl -- ...``."""
    for at, arg in enumerate(command.args):
        if arg.text == "kubectl":
            rest = list(command.args[at + 1 :])
            if rest and rest[0].text == "--":
                rest = rest[1:]
            act.argv([Value("kubectl"), *rest], command.stdin, command.place)
            return


def _helm(command: Command, act: Actions) -> None:
    options = parse(command.args, _VALUED)
    operands = options.operands
    verb = operands[0].text if operands else ""
    if verb in ("uninstall", "delete", "del", "un") and not is_harmless(options) and not is_local(options):
        act.effect(KIND, say("helm", operands[:2], "removes a release and its resources"))


def _etcdctl(command: Command, act: Actions) -> None:
    options = parse(command.args, ("--endpoints", "--cacert", "--cert", "--key", "--user", "-C"))
    operands = [operand.text for operand in options.operands]
    verb = operands[0] if operands else ""
    many = options.any("--prefix", "--from-key", "--recursive", "-r") or len(operands) > 2
    if (verb in ("del", "rm", "rmdir") and many) or operands[:2] == ["member", "remove"]:
        act.effect(KIND, say("etcdctl", operands[:2], "deletes a range of keys or a member"))


_ARGOCD = """
app delete : deletes an application and its resources
appset delete : deletes applications
proj|project delete : deletes a project
cluster rm : removes a cluster
"""
_FLUX = """
uninstall : removes the controllers
delete kustomization|ks|helmrelease|hr|source : deletes what it deployed
"""
_VELERO = """
backup|restore|schedule delete : deletes backups
uninstall : removes the backup service
"""
_PORTWORX = "volume delete|d : deletes a volume\ncluster delete : removes a node"


def _plain(table: str) -> Judge:
    return judge(KIND, table, _VALUED)


_RESET = "reset : takes the cluster apart"

PROGRAMS: dict[str, Judge] = programs(
    tools("kubectl oc k kubecolor", _kubectl),
    tools("k3s minikube", _sub_kubectl),
    tools("microk8s", both(_sub_kubectl, _plain("reset +--destroy-storage : deletes all stored data"))),
    tools("helm helm3", _helm),
    tools("helmfile", judge(KIND, "destroy|delete : removes all releases", ("-e", "--environment", "-f", "-l"))),
    tools("etcdctl", _etcdctl),
    tools("argocd", _plain(_ARGOCD)),
    tools("flux", _plain(_FLUX)),
    tools("velero", _plain(_VELERO)),
    tools("istioctl", _plain("uninstall : removes the mesh\nx|experimental uninstall : removes the mesh")),
    tools("cilium", _plain("uninstall : removes the network")),
    tools("skaffold", _plain("delete : deletes what it deployed")),
    tools("tilt", _plain("down +--delete-namespaces : deletes namespaces")),
    tools("kubeadm k0s talosctl", judge(KIND, _RESET, ("-n", "--nodes", "-e", "--endpoints", "--talosconfig"))),
    tools("rke", _plain("remove : takes the cluster apart")),
    tools("clusterctl", _plain("delete : deletes clusters")),
    tools("pxctl", _plain(_PORTWORX)),
    tools("k3s-uninstall.sh rke2-uninstall.sh", judge(KIND, "!-h : removes the cluster and its data")),
)
