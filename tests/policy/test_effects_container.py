"""What is done to containers, volumes, virtual machines and clusters."""

from __future__ import annotations

import pytest

from agent_ledger.policy.effects import cluster, container
from agent_ledger.policy.model import SOME, UNKNOWN
from tests.policy.recording import judged, lines, resolved

PROGRAMS = {**container.PROGRAMS, **cluster.PROGRAMS}

DESTROYS = """
docker rm -f $IDS
docker container rm -fv $IDS
docker rmi --force $IDS
docker image rm $IDS
docker kill $IDS
docker volume rm pgdata
docker --context prod volume prune --all --force
docker -H tcp://host volume rm a b
docker system prune --all -f
docker system prune --volumes
docker image prune -af
docker compose down -v
docker compose -p shop down --volumes --remove-orphans
docker-compose -f docker-compose.yml down -v
docker stack rm shop
docker service rm api
docker node rm --force w1
docker swarm leave -f
docker secret rm key
podman rm --all --force
podman rmi -a
podman pod rm -fa
podman system reset
podman machine rm
podman volume rm --all
nerdctl namespace remove x
ctr -n k8s.io namespaces remove x
crictl rm -fa
buildah rm --all
lxc delete web --force
incus delete web
lxc storage delete pool
virsh undefine vm --remove-all-storage
vagrant destroy -f
multipass delete --all --purge
VBoxManage unregistervm vm --delete
qm destroy 101 --purge
xe vm-destroy uuid=1
govc vm.destroy web
wsl --unregister Ubuntu
kubectl delete namespace shop
kubectl -n shop delete deployment/api
kubectl delete deploy api
kubectl delete pods --all
kubectl delete pods --all-namespaces
kubectl delete pvc -l app=db
kubectl delete po,pvc -l app=db
kubectl delete secret tls
kubectl delete crd certificates.cert-manager.io
kubectl delete statefulsets.apps db
kubectl delete -f deploy/
kubectl delete -f -
kubectl delete -Rf manifests
kubectl delete -k overlays/live
kubectl delete -f https://example.com/all.yaml
kubectl delete $WHAT
kubectl delete node w1 --force
kubectl delete ns shop --dry-run=none
kubectl delete --raw /api/v1/namespaces/shop
kubectl drain w1 --force --ignore-daemonsets --delete-emptydir-data
kubectl apply --prune -f k8s/ --all
kubectl scale deploy --all --replicas=0
kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=system:anonymous
oc delete project shop
oc delete all -l app=web
helm uninstall web
helm -n shop delete web db
helmfile -e live destroy
etcdctl del /registry --prefix
etcdctl del a z
argocd app delete web --cascade
flux uninstall --silent
flux delete kustomization apps
velero backup delete x --confirm
istioctl uninstall --purge -y
kubeadm reset -f
talosctl -n host reset --graceful=false
k3s-uninstall.sh
skaffold delete
"""

SPARES = """
docker
docker ps
docker rm -f web
docker rm web db cache
docker rm -fv web
docker rm -f $SOME
docker container rm web
docker container prune --force
docker rmi app:1
docker rmi $SOME
docker stop $IDS
docker kill web
docker volume ls
docker volume create x
docker volume inspect x
docker system df
docker system prune
docker system prune -af --help
docker image prune
docker image prune -a --filter until=240h
docker builder prune -a
docker buildx prune -af
docker network rm x
docker network prune
docker compose down
docker compose down --rmi local --remove-orphans
docker compose rm -fsv web
docker compose up -d --force-recreate -V
docker compose -f docker-compose.test.yml down -v
docker compose -p app-test down --volumes
docker compose --dry-run down -v
docker-compose up
docker run --rm -v x:/x alpine true
docker stack deploy -c x.yml shop
docker service scale api=0
docker swarm leave
docker cp a web:/a
podman rm web
podman machine stop
podman pod rm x
crictl rmi --prune
lxc delete web/snap0
lxc stop web
virsh list --all
virsh shutdown vm
vagrant halt
vagrant up
vagrant box remove x
multipass delete web
VBoxManage controlvm vm poweroff
qm stop 101
wsl --list
kubectl get ns
kubectl delete pod web-1
kubectl delete pod web-1 --force --grace-period=0
kubectl delete po web-1 web-2 -n shop
kubectl delete pod $EVICTED
kubectl delete pods -l app=web
kubectl delete pods -A --field-selector=status.phase=Failed
kubectl delete job/migrate
kubectl delete jobs.batch migrate
kubectl delete cm settings
kubectl delete rs web-1
kubectl delete ns shop --dry-run
kubectl delete -f job.yaml
kubectl delete -f tests/k8s.yaml
kubectl delete -f /tmp/x.yaml
kubectl --context kind-dev delete ns shop
kubectl delete ns shop --context=minikube
kubectl drain w1 --ignore-daemonsets
kubectl cordon w1
kubectl apply -f k8s/
kubectl diff --prune -f k8s/
kubectl scale deploy/api --replicas=0
kubectl scale --replicas=3 deploy --all
kubectl config delete-context x
kubectl create clusterrolebinding x --clusterrole=cluster-admin --user=me
kubectl explain delete
oc get projects
helm list
helm rollback web 1
helm repo remove x
helm uninstall web --kube-context kind-x
helm --help uninstall
helmfile diff
etcdctl get / --prefix
etcdctl del /app/one
argocd app sync web --prune
flux reconcile kustomization apps
velero backup get
istioctl analyze
kubeadm token list
kubeadm reset --dry-run
k3s server
"""


@pytest.mark.parametrize("line", lines(DESTROYS))
def test_volumes_namespaces_and_many_at_once_are_noted(line: str) -> None:
    """What holds data or reaches many objects is a container destruction."""
    assert judged(PROGRAMS, line).kinds[:1] == ["container_destruction"]


@pytest.mark.parametrize("line", lines(SPARES))
def test_single_objects_and_everyday_work_are_not(line: str) -> None:
    """One named container or pod, local clusters, test stacks and listings are no effect."""
    assert judged(PROGRAMS, line).whats == []


def test_a_cluster_tool_that_holds_another_hands_it_on() -> None:
    """Distributions bring their own kubectl."""
    expected = [("argv", "kubectl", "delete", "ns", "x")]

    assert judged(PROGRAMS, "k3s kubectl delete ns x").said == expected
    assert judged(PROGRAMS, "minikube kubectl -- delete ns x").said == expected


@pytest.mark.parametrize(
    ("line", "printed"),
    [
        ("docker ps -aq", UNKNOWN),
        ("docker images -q", UNKNOWN),
        ("docker container ls -q", UNKNOWN),
        ("docker ps -aq -f status=exited", SOME),
        ("docker images --filter=dangling=true -q", SOME),
        ("docker run -d redis", SOME),
        ("docker create redis", SOME),
        ("podman compose ps -q web", SOME),
    ],
)
def test_a_chosen_list_is_told_from_all(line: str, printed: str) -> None:
    """Ids that were asked for are not the same as whatever runs here."""
    assert container.prints(resolved(line)).text == printed
