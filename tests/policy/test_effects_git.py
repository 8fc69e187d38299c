"""What version control commands lose."""

from __future__ import annotations

import pytest

from agent_ledger.policy.effects import git, vcs
from tests.policy.recording import judged, lines

PROGRAMS = {**git.PROGRAMS, **vcs.PROGRAMS}

LOSES = """
git reset --hard HEAD^
git reset --har
git reset -q --hard upstream/release
git -C sub -c user.name=x --no-pager reset --hard
git -C $DIR reset --hard
git reset --merge ORIG_HEAD
git clean -ffdx
git clean -df .
git clean -f $DIR
git -c clean.requireForce=false clean -d
git clean -xdf -e .env
git checkout .
git checkout HEAD .
git checkout -- :/
git checkout --force
git checkout -qf release/1
git checkout -- lib/
git checkout -B main origin/main
git restore .
git restore -SW .
git restore --source=HEAD~2 --staged --worktree :/
git restore docs/
git switch -f topic
git switch -C master HEAD~4
git push --force origin topic
git push -uf origin HEAD
git push origin +topic
git push --mirror backup
git push --prune origin
git push origin :main
git push origin -d production
git push origin --delete refs/heads/release/2
git push origin --delete v1.4.0
git push origin --delete $BRANCH
git branch -D topic master
git branch -d -f main
git branch --delete --force develop
git branch -D $BRANCHES
git branch -f main HEAD~9
git stash clear
git stash drop stash@{3}
git filter-branch --tree-filter true HEAD
git filter-repo --invert-paths --path big.bin
git-filter-repo --strip-blobs-bigger-than 10M
git reflog expire --expire-unreachable=now --all
git reflog expire --expire now refs/heads/x
git reflog delete HEAD@{1}
git gc --prune=all
git prune
git prune --expire now
git worktree remove -f ../other
git submodule deinit --all --force
git submodule deinit -f .
git rm -r -f *
git update-ref -d refs/heads/main
git update-ref refs/heads/master abc
git tag -d $TAGS
git read-tree --reset -u HEAD
git checkout-index -f -a
git lfs migrate import --everything --include=*.zip
bfg --delete-files id_rsa
hg update --clean default
hg up -C
hg revert --all
hg revert -a --no-backup
hg revert .
hg purge
hg --config extensions.purge= purge --all
hg strip tip
hg rollback
svn revert -R .
svn revert --recursive *
svn revert --depth infinity .
svn cleanup --remove-unversioned
svn rm -m gone https://svn.example.com/repo/trunk
p4 obliterate -y //depot/x/...
p4 revert //depot/...
p4 clean
"""

KEEPS = """
git
git --version
git --help reset --hard
git reset --soft HEAD~3
git reset --mixed
git reset --keep HEAD^
git reset -q HEAD -- a.py
git reset -h --hard
git reset --hard --help
git clean -d
git clean -nfdx
git clean -fd --dry-run
git clean -fdi
git clean -fdx build/
git clean -fX dist node_modules
git checkout -b topic
git checkout -B topic origin/topic
git checkout main
git checkout -- a.py
git checkout HEAD~1 -- src/a.py src/b.py
git checkout -f -- poetry.lock
git checkout --theirs .
git checkout -p .
git checkout --ours go.sum
git checkout --detach
git restore a.py
git restore --staged .
git restore -S src/
git restore -p .
git switch -c topic
git switch -C topic main
git push
git push -u origin topic
git push origin main
git push --force-with-lease
git push --force-with-lease=topic:abc --force-if-includes origin topic
git push -fn origin main
git push --force --dry-run
git push origin :topic
git push origin --delete topic fix/login
git push origin --tags
git push origin --delete v0.1.0-rc1
git push origin HEAD:refs/for/main
git branch -d main
git branch -d $MERGED
git branch -D topic old/topic
git branch -r -D origin/main
git branch -M main
git branch -m old new
git branch -f topic HEAD~1
git branch --show-current
git stash -u
git stash push -m drop
git stash branch x
git stash show -p stash@{1}
git filter-repo --analyze
git filter-branch --help
git reflog show
git reflog expire --all
git reflog expire --expire=90.days --all
git reflog expire --expire=now --all --dry-run
git gc --auto
git gc --prune=2.weeks.ago
git prune -n
git prune --expire 3.weeks.ago
git remote prune origin
git fetch --prune --force
git worktree remove ../other
git worktree remove --force /tmp/wt
git worktree list
git submodule update --init --force
git submodule deinit -f vendor/lib
git rm -rf --cached .
git rm -r old/
git rm -n -r .
git rm $DELETED
git tag -d v9.9-test
git tag -f latest
git update-ref refs/heads/topic abc
git commit -m reset\\ --hard
git log --grep=--hard
git rebase --onto main a b
git merge --abort
git cherry-pick --abort
git bisect reset
git -C /tmp/clone reset --hard
git -C /tmp/clone clean -fdx
git --work-tree=/var/tmp/x checkout .
GIT_WORK_TREE=/tmp/x git reset --hard
hg update default
hg update -C --help
hg revert a.py
hg purge --print
hg push
svn revert a.c
svn revert -R src/a
svn rm old.c
svn cleanup
p4 revert a.c
p4 clean -n
"""


@pytest.mark.parametrize("line", lines(LOSES))
def test_what_loses_work_is_noted(line: str) -> None:
    """Commits, branches and uncommitted changes that would be lost are a git destruction."""
    assert judged(PROGRAMS, line).kinds[:1] == ["git_destruction"]


@pytest.mark.parametrize("line", lines(KEEPS))
def test_what_keeps_work_is_not_noted(line: str) -> None:
    """Everyday version control, dry runs and named topic branches have no effect."""
    assert judged(PROGRAMS, line).whats == []


CLONE = "/tmp/clone"  # noqa: S108


def test_a_clone_in_a_temporary_folder_may_be_thrown_away() -> None:
    """The working directory decides, for local losses; a push reaches further."""
    assert judged(PROGRAMS, "git reset --hard", CLONE).kinds == []
    assert judged(PROGRAMS, "git push --force", CLONE).kinds == ["git_destruction"]
    assert judged(PROGRAMS, "git clean -fdx /home/dev/project").kinds == ["git_destruction"]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("git -c alias.x=!ls x -l", ("shell", "ls")),
        ("git -c alias.x='reset --soft' x HEAD", ("argv", "git", "reset", "--soft", "HEAD")),
        ("git -c core.pager='ls -l' log", ("shell", "ls -l")),
        ("git rebase -x 'make test' main", ("shell", "make test")),
        ("git bisect run make test", ("argv", "make", "test")),
        ("git submodule foreach --recursive 'git pull'", ("shell", "git pull")),
        ("git submodule foreach git pull", ("argv", "git", "pull")),
        ("repo forall -c 'git status'", ("shell", "git status")),
    ],
)
def test_what_git_runs_is_run(line: str, said: tuple[str, ...]) -> None:
    """Commands inside options and sub-commands are handed on."""
    assert judged(PROGRAMS, line).said == [said]
