"""What a command line deletes, however it says it."""

from __future__ import annotations

import pytest

from tests.policy.words_machine import HOME, PROJECT, Talk, kinds, line, table

DELETES = """
# spelling
@DEL /
@DEL /*
@rm -fr /
@rm -r -f -- /
@rm --recursive --force /
@rm --recurs /etc
@rm -¦Rf /usr/lib
@rm -f -v -R @HOME
/bin/@rm @rf /
\\@rm @rf /
'@rm' @rf /
"@rm" @rf "/"
r''m @rf /
r""m -r"f" /
$'\\x72\\x6d' @rf /
@rm $'-rf' $'\\x2f'
command @rm @rf /
builtin command @rm @rf /
/bin/r? @rf /
# braces, globs, dots
@rm -{r,f} /
{@rm,-rf,/}
@DEL /{etc,usr}
@DEL /{bin,boot}/
@DEL /e[t]c
@DEL /u*
@DEL //
@DEL /./
@DEL /usr/..
@DEL ../.¦./..
@DEL ..
@DEL ../*
@DEL .
@DEL ./
@DEL *
@DEL ./* .[!.]*
@DEL .git
@DEL ./.git/
@DEL ../other/.git
@DEL @HOME
@DEL @HOME/
@DEL @HOME/*
@DEL @HOME/Documents
@DEL ~dev
@DEL ~root
@DEL /home/*/
# variables
X=/; @DEL $X
X=/ Y=$X; @DEL "$Y"
export X=/etc; @DEL ${X}
X=-rf; @rm $X /
CMD="@rm -rf"; $CMD /
CMD=@rm; $CMD @rf /
A=r B=m; $A$B @rf /
@DEL $UNSET
@DEL "$UNSET"/
@DEL $UNSET/*
@DEL "${DIR}"/*
@DEL ${DIR:-/}
@DEL ${DIR:=/etc}
@DEL ${DIR:-$HOME}
@DEL $HOME
@DEL "$HOME"
@DEL "${HOME}/"*
@DEL $PWD
@DEL "$(pwd)"
@DEL $(echo /)
@DEL `echo /etc`
@DEL $(printf '%s' /usr)
@DEL $(dirname /et¦c/passwd)
@rm${IFS}-rf${IFS}/
@rm$IFS-rf$IFS/
X=/tmp/../etc; @DEL $X
X=/etc/x; @DEL ${X%/x}
X=xx/etc; @DEL ${X#xx}
X=/ETC; @DEL ${X,,}
X=abc/etc; @DEL ${X:3}
X=Y; Y=/etc; @DEL ${!X}
X=(a / b); @DEL ${X[1]}
X=(-rf /); @rm "${X[@]}"
X+=/; X+=etc; @DEL $X
printf -v X '%s' /; @DEL $X
printf -v X '/%s' etc; @DEL "$X"
read X <<< /; @DEL $X
read -r A B <<< "x /etc"; @DEL $B
echo / | while read -r d; do @DEL "$d"; done
printf '%s\\n' /etc /usr | while read d; do @DEL $d; done
mapfile -t L <<< /etc; @DEL "${L[@]}"
set -- /; @DEL "$1"
set -- @rf /; @rm "$@"
set -- @rm @rf /; "$@"
declare X=/; @DEL $X
f() { local d=$1; @DEL "$d"; }; f /
f() { @rm "$@"; }; f @rf /
function wipe { @DEL $1; }; wipe @HOME
f() { g "$1"; }; g() { @DEL "$1"; }; f /etc
alias x='@DEL'; x /
shopt -s expand_aliases; alias ls='@DEL @HOME'; ls
# control
for d in / /etc; do @DEL "$d"; done
for d in /{etc,usr}; do @DEL $d; done
for ((i=0;i<1;i++)); do @DEL /; done
if true; then @DEL /; fi
if false; then :; else @DEL /etc; fi
case $1 in a) @DEL /;; esac
while :; do @DEL /; break; done
until false; do @DEL /; done
[ -d /etc ] && @DEL /etc
test -d x || @DEL @HOME
( @DEL / )
{ @DEL /; }
! @DEL /
time @DEL /
coproc @DEL /
@DEL / &
sleep 1 && @DEL / &
echo hi; @DEL / # clean
echo hi | @DEL /
@DEL / > /dev/null 2>&1
> /tmp/log @DEL /
ls\\n@DEL /
trap '@DEL /' EXIT
select x in a; do @DEL /; done
echo "$(@DEL /)"
: $(@DEL /)
x=$(@DEL /)
cat <(@DEL /)
echo $(( $(@DEL /) + 1 ))
[[ -n $(@DEL /) ]]
cat <<EOF\\n$(@DEL /)\\nEOF
# folders
cd / && @DEL *
cd /etc; @DEL .
cd @HOME && @DEL ./*
cd ../.. && @DEL project
pushd /usr; @DEL lib
(cd /; @DEL etc)
cd /usr && cd lib && @DEL .
cd -- /; @DEL *
# links
ln -s / r; @DEL r/
ln -s @HOME h && @DEL h/*
ln -sf /etc e; cd e; @DEL *
# other programs
find / -delete
find . -delete
find @HOME -type f -delete
find / -exec @rm {} \\;
find /etc -exec @rm @rf {} +
find . -execdir @rm @rf {} ;
find / -name '*' -delete
find . -mindepth 1 -delete
find / -type d | xargs @DEL
find . -print0 | xargs -0 @rm @rf
fd . / -x @rm @rf
fd -H . @HOME -X @rm -r
ls / | xargs @DEL
ls -d @HOME/* | xargs -n1 @rm @rf
echo / | xargs @DEL
printf '/\\0' | xargs -0 @rm @rf
xargs -I{} @DEL {} <<< /
echo /etc | xargs -I % sh -c '@DEL %'
parallel @DEL ::: / /etc
echo / | parallel @DEL {}
rimraf /
npx rimraf @HOME
rsync -a --delete empty/ /
rsync -av --delete-after /tmp/empty/ @HOME/
shred -u @KEY
mv /etc /tmp/x
mv @HOME/* /dev/null
: > /et¦c/passwd
trunc¦ate -s 0 /et¦c/fstab
cp /dev/null /et¦c/passwd
"""

KEEPS = """
@DEL node_modules
@DEL ./build dist/ target
@DEL node_modules/ && ls
@DEL "$PWD/build"
@DEL ${PWD}/dist
@DEL /tmp/x
@DEL /tmp/*
@DEL "$TMPDIR/x"
@DEL src/old
@DEL src/{a,b}
@DEL *.log
@DEL ./*.pyc
@rm -f *.tmp
@rm -r docs/_build
@rm file.txt
@rm -f .git/index.lock
@DEL "${BUILD:?}"
@DEL "${BUILD:?}/"*
@DEL ${OUT:-build}
@DEL "${OUT:=dist}"
d=$(mktemp -d); @DEL "$d"
T=$(mktemp -d) && trap '@DEL "$T"' EXIT
X=build; @DEL $X
X=/tmp/x; @DEL "$X"
for d in build dist; do @DEL "$d"; done
for d in */node_modules; do @DEL "$d"; done
cd /tmp && @DEL x
cd build && @DEL *
cd build && @DEL ./*
(cd dist; @DEL *)
find . -name '*.pyc' -delete
find . -name __pycache__ -exec @rm -r {} +
find . -type d -name node_modules -prune -exec @DEL {} +
find /tmp -mtime +7 -delete
find build -delete
find . -name '*.orig' | xargs @rm -f
find . -name '*.bak' -print0 | xargs -0 @rm
git ls-files -d | xargs ls
fd -e pyc -x @rm
ls *.log | xargs @rm
set -- build; @DEL "$1"
f() { @DEL "$1"; }; f build
f() { @DEL /; }; echo defined
alias clean='@DEL build'; clean
alias nuke='@DEL /'
ln -s /etc e; @rm e
rsync -a --delete src/ build/
rsync -a --delete --dry-run empty/ /
rimraf dist
npx rimraf build
mv a b
mv src/a.txt /tmp/
: > app.log
truncate -s 0 app.log
cp /dev/null app.log
trash-put x
rmdir /etc/empty
@rm --help
man @rm
which @rm
# text
echo '@DEL /'
echo @DEL /
printf '%s\\n' '@DEL /'
echo "never @DEL /" >> notes.md
grep -r '@DEL /' .
git commit -m 'do not @DEL / here'
git log --grep='@DEL /'
# @DEL /
ls # @DEL /
cat <<'EOF' > notes.md\\n@DEL /\\nEOF
cat <<EOF\\n@DEL /\\nEOF
: '@DEL /'
x='@DEL /'
x="@DEL /"; echo "$x"
[[ $x == '@DEL /' ]]
case '@DEL /' in *) echo;; esac
rg '@DEL' | wc -l
sed 's#@DEL /#true#' f
jq '.cmd == "@DEL /"' f.json
echo 'rm: @DEL /' | tee notes.txt
"""


@pytest.mark.parametrize("command", table(DELETES))
def test_what_matters_is_deleted(command: str) -> None:
    """Whatever quotes, variables, loops or programs are between the line and the act."""
    assert kinds(command) & {"recursive_delete", "overwrite", "account"}


@pytest.mark.parametrize("command", table(KEEPS))
def test_what_may_go(command: str) -> None:
    """Output of builds, temporary files, named parts of the project; and text that is only text."""
    assert not kinds(command)


@pytest.mark.parametrize(("workdir", "command", "refused"), [
    (PROJECT + "/build", "@DEL *", False),
    (PROJECT + "/build", "@DEL ../*", True),
    (PROJECT + "/build", "@DEL ..", True),
    ("/", "@DEL etc", True),
    (HOME + "/.cache/x", "@DEL .", False),
    (HOME, "@DEL project", True),
    (HOME, "@DEL .cache", False),
    ("~", "@DEL *", True),
])  # fmt: skip
def test_the_folder_that_the_host_names(workdir: str, command: str, refused: bool) -> None:
    """A relative path means what it means there."""
    assert bool(Talk().run(command, workdir)) is refused


def test_a_link_on_disk_is_followed() -> None:
    """Behind a slash a link stands for its target; the link itself may go."""
    links = {PROJECT + "/data": "/etc", PROJECT + "/out": HOME + "/.cache/out"}
    real = lambda path: links.get(path.rstrip("/"), path)  # noqa: E731
    assert Talk(real=real).run("@DEL data/")
    assert Talk(real=real).run("@DEL data/*")
    assert not Talk(real=real).run("@DEL out/*")
    assert not Talk(real=real).run("@rm data")


def test_the_target_is_named() -> None:
    """What is told is the resolved path."""
    found = Talk().call("terminal", {"command": line("X=/usr/../etc; cd /; @DEL $X")})
    assert [(effect.kind, effect.target) for effect in found] == [("recursive_delete", "/etc")]
