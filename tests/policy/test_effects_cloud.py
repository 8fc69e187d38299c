"""What is done to cloud resources, platforms, forges, stores of secrets, and backups."""

from __future__ import annotations

import pytest

from agent_ledger.policy.effects import cloud, fleet, forges, keepers, platforms
from agent_ledger.policy.model import UNKNOWN, Value
from tests.policy.recording import PROJECT, Recording, judged, lines, resolved

PROGRAMS = {**cloud.PROGRAMS, **fleet.PROGRAMS, **forges.PROGRAMS, **keepers.PROGRAMS, **platforms.PROGRAMS}

DESTROYS = """
terraform destroy -target=module.x
terraform -chdir=live destroy
tofu apply -destroy
terragrunt run-all destroy --terragrunt-non-interactive
terragrunt run --all destroy
terraform workspace delete live
terraform state rm aws_instance.x
terraform state push -force x.tfstate
pulumi -s live destroy -y
pulumi stack rm live --yes
cdk destroy --all --force
serverless remove --stage live
sls remove
sam delete --no-prompts
eb terminate app
kops delete cluster x --yes
eksctl delete nodegroup --cluster x y
aws s3 rb s3://data
aws --profile live s3 rm s3://data/x/ --recursive
aws s3 rm s3://data
aws ec2 terminate-instances --instance-ids i-1
aws ec2 delete-volume --volume-id v
aws rds delete-db-cluster --db-cluster-identifier x
aws --region eu-west-1 dynamodb delete-table --table-name x
aws iam delete-role --role-name x
aws lambda delete-function --function-name x
aws kms schedule-key-deletion --key-id x
aws s3api delete-bucket --bucket x
aws s3api delete-objects --bucket x --delete file://x
aws sqs purge-queue --queue-url x
aws secretsmanager delete-secret --secret-id x
aws ecr batch-delete-image --repository-name x
aws ec2 deregister-image --image-id x
aws cloudtrail stop-logging --name x
aws logs delete-log-group --log-group-name x
gcloud compute disks delete x --quiet
gcloud --project live projects delete live
gcloud beta run services delete api
gcloud sql databases delete x --instance y
gcloud storage rm --recursive gs://data/x
gcloud storage rm gs://data/**
gcloud storage buckets delete gs://data
gcloud kms keys versions destroy 1
gcloud logging logs delete x
gsutil rm -r gs://data/x
gsutil -m rm gs://data/*
gsutil rb gs://data
az vm delete -g x -n y --yes
az storage container delete -n x
az storage blob delete-batch -s x
az keyvault secret purge -n x
az ad user delete --id x
doctl kubernetes cluster delete x
doctl -t tok databases delete x -f
doctl compute volume rm x
linode-cli linodes delete 1
linode-cli lke cluster-delete 1
hcloud server delete x
hcloud server rebuild --image debian x
scw instance server delete x
openstack server delete x
ibmcloud is instance-delete x
ibmcloud cos bucket-delete --bucket x
oci compute instance terminate --instance-id x
oci os object bulk-delete -bn x
aliyun ecs DeleteInstance --InstanceId x
s3cmd del --recursive s3://data
mc rm --recursive --force live/data
mc rb --force live/data
s5cmd rm s3://data/*
azcopy remove https://x.blob.core.windows.net/c --recursive=true
b2 delete-bucket x
heroku apps:destroy -a app --confirm app
heroku pg:reset DATABASE -a app
fly apps destroy app
fly volumes delete vol_1 -y
flyctl destroy app
vercel remove app --yes
vercel project rm app
netlify sites:delete
wrangler delete
wrangler r2 bucket delete x
wrangler kv:namespace delete --namespace-id x
wrangler kv namespace delete --namespace-id x
wrangler d1 delete x
wrangler pages project delete x
railway down
supabase projects delete x
supabase db reset --linked
firebase firestore:delete --all-collections
firebase -P live functions:delete x
dokku apps:destroy x
dokku --force postgres:destroy x
cf delete app -f
kamal remove -y
kamal accessory remove db
confluent kafka topic delete x
avn service terminate x
gh repo delete o/r --yes
gh release delete v1 -y
gh secret delete KEY
gh -R o/r secret remove KEY
gh api -X DELETE repos/o/r
gh api --method DELETE /repos/o/r/branches/main/protection
gh api -XDELETE repos/o/r/releases/1
gh api graphql -f 'query=mutation { deleteRepository(x) }'
gh codespace delete --all
glab repo delete g/p
glab api -X DELETE projects/1
hub delete o/r
vault kv metadata delete secret/x
vault kv destroy -versions=1 secret/x
vault secrets disable kv/
consul kv delete -recurse app/
nomad job stop -purge api
doppler secrets delete KEY
op vault delete x
restic forget latest --prune
restic forget --keep-last 1 --prune
restic -r x forget --tag y
borg delete repo::a
borg prune --keep-last 1 repo
rclone purge remote:x
rclone delete remote:x
hdfs dfs -rm -r -skipTrash /data
hadoop fs -rmr /data
hdfs namenode -format
knife node delete web -y
"""

SPARES = """
terraform
terraform plan -destroy -out p
terraform apply
terraform apply -auto-approve
terraform destroy -h
terraform -help destroy
terraform state list
terraform state show x
terraform workspace new live
terraform fmt
terragrunt run-all plan
pulumi up -y
pulumi preview
pulumi destroy --preview-only
pulumi stack select live
cdk deploy
cdk diff
serverless deploy
sam build
kops delete cluster x
eksctl get clusters
aws
aws help
aws s3 ls
aws s3 cp a s3://data/a
aws s3 sync dist s3://site --delete
aws s3 rm s3://data/a.txt
aws s3 rm s3://data/x --recursive --dryrun
aws s3 rb help
aws s3 rm s3://data/$KEY
aws ec2 stop-instances --instance-ids i-1
aws ec2 terminate-instances --instance-ids i-1 --dry-run
aws ec2 delete-tags --resources x
aws dynamodb delete-item --table-name x --key y
aws sqs delete-message --queue-url x
aws s3api delete-object --bucket x --key y
aws cloudformation delete-change-set --change-set-name x
aws iam remove-user-from-group --user-name x
aws iam list-users
aws --endpoint-url http://localhost:4566 s3 rb s3://x --force
aws iam attach-role-policy --policy-arn arn:aws:iam::aws:policy/ReadOnlyAccess --role-name x
aws rds delete-db-instance --generate-cli-skeleton
gcloud compute instances list --filter delete
gcloud compute instances describe delete
gcloud run deploy api
gcloud config configurations delete x
gcloud components remove x
gcloud storage rm gs://data/x/a.txt
gcloud storage cp a gs://data
gcloud sql instances delete x --help
gsutil ls gs://data
gsutil rm gs://data/a.txt
gsutil -m cp -r a gs://data
gsutil -m rsync -d -r dist gs://site
az group list
az group show -n delete
az storage blob delete -c x -n y
az extension remove -n x
az vm deallocate -g x -n y
doctl compute droplet list
doctl compute ssh-key delete x
doctl auth remove
linode-cli linodes list
hcloud server list
hcloud context delete x
hcloud server remove-label x y
ibmcloud cos object-delete --bucket x --key y
oci os object delete -bn x --object-name y
aliyun ecs DescribeInstances
s3cmd ls
s3cmd del s3://data/a.txt
mc rm live/data/a.txt
mc ls
heroku ps -a app
heroku config:unset KEY
heroku logs
fly deploy
fly secrets unset KEY
fly scale count 0
vercel
vercel deploy
vercel alias rm x
vercel env rm KEY
netlify deploy --prod
netlify unlink
wrangler deploy
wrangler delete --dry-run
wrangler kv key delete x
wrangler r2 object delete x/y
wrangler d1 list
railway up
supabase start
supabase stop
supabase db push
firebase deploy
firebase hosting:channel:delete x
dokku ps:restart x
cf push
kamal deploy
gh pr close 1 --delete-branch
gh issue close 1
gh release delete-asset v1 a
gh release list
gh secret set KEY
gh run delete 1
gh cache delete --all
gh gist delete x
gh label delete x
gh codespace delete -c x
gh api repos/o/r
gh api -X POST repos/o/r/issues -f title=x
gh api -X DELETE repos/o/r/issues/comments/1
gh api -X DELETE repos/o/r/git/refs/heads/topic
gh api -X DELETE repos/o/r/actions/runs/1
gh repo edit --description x
gh repo edit --visibility private
glab mr list
vault kv get secret/x
vault kv put secret/x a=b
vault token revoke x
vault kv undelete -versions=1 secret/x
consul kv delete app/key
nomad job stop api
doppler secrets
op item get x
bw delete item x
restic snapshots
restic forget --keep-daily 7 --keep-weekly 4 --prune
restic forget --dry-run latest
restic prune
borg list repo
borg delete --dry-run repo::a
borg prune --keep-daily 7 repo
borg prune -d 7 -w 4 repo
borg compact repo
rclone sync a remote:x
rclone delete remote:x --min-age 30d
rclone purge remote:x --dry-run
rclone purge /tmp/x
rclone deletefile remote:x/a
hdfs dfs -ls /
hdfs dfs -rm /data/a
hdfs dfs -rm -r /user/me/tmp
ansible all -m ping
ansible all -m shell -a ls --check
knife node list
"""


@pytest.mark.parametrize("line", lines(DESTROYS))
def test_resources_that_would_be_gone_are_noted(line: str) -> None:
    """Infrastructure, data, published things, secrets and backups."""
    assert judged(PROGRAMS, line).kinds[:1] == ["cloud_destruction"]


@pytest.mark.parametrize("line", lines(SPARES))
def test_everyday_operations_are_not_noted(line: str) -> None:
    """Plans, dry runs, listings, deployments, single objects, rotations, emulators."""
    recording = judged(PROGRAMS, line)
    assert (recording.whats, recording.said) == ([], [])


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("gh api -X DELETE repos/o/r/git/refs/heads/main", "git_destruction"),
        ("gh api -X PATCH repos/o/r/git/refs/heads/topic -F force=true -f sha=x", "git_destruction"),
        ("gh repo edit o/r --visibility public", "permissions"),
        ("aws iam attach-user-policy --user-name x --policy-arn arn:aws:iam::aws:policy/AdministratorAccess", "account"),
    ],
)
def test_other_effects_have_their_own_kind(line: str, kind: str) -> None:
    """A branch, an audience or a right is not a resource."""
    assert judged(PROGRAMS, line).kinds == [kind]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ansible web -m shell -a 'ls -l'", ("shell", "ls -l")),
        ("ansible web -b -a 'ls -l'", ("shell", "ls -l")),
        ("ansible web -m ansible.builtin.command -a ls", ("shell", "ls")),
        ("ansible web -m file -a 'path=/srv/x state=absent'", ("argv", "rm", "-rf", "/srv/x")),
        ("pdsh -w web[1-9] ls -l", ("argv", "ls", "-l")),
        ("pssh -h hosts.txt -i 'ls -l'", ("shell", "ls -l")),
        ("salt web* cmd.run 'ls -l'", ("shell", "ls -l")),
        ("aws ssm send-command --document-name x --parameters 'commands=[\"ls -l\"]'", ("shell", "ls -l")),
        ("heroku run -a app rails db:drop", ("argv", "rails", "db:drop")),
        ("heroku run 'ls -l'", ("shell", "ls -l")),
        ("heroku pg:psql -a app -c 'SELECT 1'", ("code", "sql", "SELECT 1")),
        ("fly ssh console -a app -C 'ls -l'", ("shell", "ls -l")),
        ("wrangler d1 execute db --remote --command 'SELECT 1'", ("code", "sql", "SELECT 1")),
        ("wrangler d1 execute db --remote --file x.sql", ("run_file", f"{PROJECT}/x.sql", "sql")),
    ],
)
def test_what_runs_elsewhere_is_run(line: str, said: tuple[str, ...]) -> None:
    """Commands for other machines, and statements for hosted databases, are handed on."""
    assert judged(PROGRAMS, line).said == [said]


def test_nothing_raises_on_odd_words() -> None:
    """Every judge takes no words, empty words and words that are not known."""
    for name, judge in PROGRAMS.items():
        for words in ([], [""], ["-"], ["--"], [UNKNOWN], ["-x"], ["--x="], ["a"] * 5, ["delete"], ["api", "-X"]):
            command = resolved("x")
            command.name, command.args = name, [Value(word) for word in words]
            judge(command, Recording())
