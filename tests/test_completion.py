# SPDX-License-Identifier: MIT
"""Tests the words that bash, zsh and fish offer with the files in docs/completion/. The
tests ask the shells themselves. A shell must print nothing else than these words. If a
shell is not installed, its tests are skipped."""

import contextlib
import fcntl
import os
import pty
import shutil
import socket
import subprocess
import tempfile
import termios
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
COMPLETION = Path(__file__).resolve().parent.parent / "docs/completion"


def needs(shell):
    if not shutil.which(shell):
        pytest.skip(f"no {shell}")


def on_a_terminal(command, text="", **environment):
    """Runs a shell on a separate terminal, types the text, and waits until the shell
    ends."""
    ours, its = pty.openpty()
    with subprocess.Popen(
        command,
        stdin=its,
        stdout=its,
        stderr=its,
        env={**os.environ, "TERM": "vt100", **environment},
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    ) as shell:
        os.close(its)
        os.write(ours, text.encode())
        printed = b""
        try:
            with contextlib.suppress(OSError):  # the shell has ended
                while more := os.read(ours, 4096):
                    printed += more
        except BaseException:
            shell.kill()
            raise
        finally:
            os.close(ours)
    assert shell.returncode == 0, printed


# --- The words that each shell offers for the last word of a line -------------

BASH = """
. "$1" || exit
shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
mine=$(complete -p "$1") || exit
mine=${mine% *}
"${mine##* }"
[ ${#COMPREPLY[@]} = 0 ] || printf '%s\\n' "${COMPREPLY[@]}"
"""


def in_bash(folder, *lines, **more):
    for line in lines:
        words = line.split(" ")
        done = subprocess.run(
            ["bash", "--norc", "-c", BASH, "-", COMPLETION / "bash" / words[0], *words],
            capture_output=True,
            text=True,
            cwd=folder,
            **more,
        )
        assert (done.returncode, done.stderr) == (0, "")
        yield done.stdout.splitlines()


# All completion functions of zsh add words by compadd, except that compadd adds none with
# -O, -A or -D. This code runs when zsh begins to read its first line. So the test types no
# text, which could come too early.
ZSH = """
cd $FOLDER
fpath=($COMPLETION/zsh $fpath)
autoload -Uz compinit
compinit -u -d $SCRATCH/dump
exec 2>$SCRATCH/errors
LISTMAX=100000  # otherwise zsh asks before it shows a long list
offer() {
    compadd() {
        local -a found
        if ! (( ${@[(I)-[OAD]*]} )); then
            builtin compadd -A found "$@"
            print -rl -- $found >>$SCRATCH/offered
        fi
        builtin compadd "$@"
    }
    _main_complete
    unfunction compadd
}
zle -C offer list-choices offer
each() {
    local line
    for line in ${(f)"$(<$SCRATCH/lines)"}; do
        BUFFER=$line CURSOR=$#line
        print -r -- "== $line" >>$SCRATCH/offered
        zle offer
    done
    exit 0
}
zle -N zle-line-init each
"""


def in_zsh(folder, *lines):
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch)
        (path / ".zshrc").write_text(ZSH)
        (path / "lines").write_text("\n".join(lines) + "\n")
        given = {"SCRATCH": scratch, "COMPLETION": str(COMPLETION), "FOLDER": str(folder)}
        on_a_terminal(["zsh", "-d", "-i"], ZDOTDIR=scratch, **given)
        assert (path / "errors").read_text() == ""
        answers = (path / "offered").read_text().split("== ")[1:]
    assert [answer.split("\n")[0] for answer in answers] == list(lines)
    for answer in answers:
        yield [word for word in answer.splitlines()[1:] if word]


FISH = "source $argv[1]; cd $argv[2]; complete -C $argv[3]"


def in_fish(folder, *lines):
    for line in lines:
        source = COMPLETION / "fish" / f"{line.split(' ')[0]}.fish"
        done = subprocess.run(
            ["fish", "--no-config", "-c", FISH, source, folder, line],
            capture_output=True,
            text=True,
        )
        assert (done.returncode, done.stderr) == (0, "")
        offered = [text.split("\t")[0] for text in done.stdout.splitlines()]
        yield [text.rpartition("=")[2] for text in offered]


SHELLS = {"bash": in_bash, "zsh": in_zsh, "fish": in_fish}
every_shell = pytest.mark.parametrize("shell", SHELLS)


# --- The tests ----------------------------------------------------------------


# Maps a line to the words that a shell offers for it in a folder with FILES.
FILES = ("serial.json", "service.py")
LINES = {
    "ocular --mode ": "adaptive precise",
    "ocular --mode p": "precise",
    "ocular --serve --output-": "--output-seconds",
    "ocular --mode precise --thr": "--threshold",
    "ocular --idl": "--idle",
    "ocular --output x.json --qui": "--quiet",
    "ocular --timeline-spill fol": "folder",
    "ocular service.py --qui": "",
    "ocular -m module --qui": "",
    "ocular attach 1 --qui": "",
    "ocular at": "attach",
    "ocular e": "enable",
    "ocular convert --out": "--output",
    "ocular merge --out": "--output",
    "ocular conv": "convert",
    "ocular convert service.py --un": "--unit",
    "ocular convert service.py --unit s": "samples",
    "ocular-top --re": "--record --replay",
    "ocular-top --once --sort wai": "wait% waited",
    "ocular-top --sort spe": "spec",
    "ocular-top --size 8": "",
}


@pytest.fixture
def folder(tmp_path):
    for name in FILES:
        (tmp_path / name).touch()
    (tmp_path / "folder").mkdir()
    return tmp_path


@every_shell
def test_what_is_offered(folder, shell):
    needs(shell)
    offered = list(SHELLS[shell](folder, *LINES))
    offered = [sorted({word.rstrip("/") for word in each}) for each in offered]
    assert dict(zip(LINES, offered, strict=True)) == {
        line: sorted(words.split()) for line, words in LINES.items()
    }


# If none of Ocular's words fits, bash itself offers these file names.
NAMES = {
    "ocular --output serv": "service.py",
    "ocular --output=seri": "serial.json",
    "ocular --quiet serv": "service.py",
    "ocular service.py seri": "serial.json",
    "ocular merge -o seri": "serial.json",
    "ocular merge seri": "serial.json",
    "ocular-top --record serv": "service.py",
    "ocular-top --replay serv": "service.py",
}


def typed_in_bash(folder, *lines):
    """Types lines into bash. Returns the last word of each line, completed by Tab."""
    with tempfile.TemporaryDirectory() as scratch:
        rc, said, errors = (Path(scratch, name) for name in ("rc", "said", "errors"))
        keep = f'bind -x \'"\\C-g": echo "$READLINE_LINE" >>{said}; READLINE_LINE=\''
        sources = "\n".join(f". {path}" for path in (COMPLETION / "bash").iterdir())
        rc.write_text(f"{sources}\n{keep}\ncd {folder}\nexec 2>{errors}\n")
        text = "".join(f"{line}\t\x07" for line in lines) + "exit\n"
        on_a_terminal(["bash", "--rcfile", rc, "-i"], text, HISTFILE="")
        # readline writes the text that is typed to stderr.
        assert "bash:" not in errors.read_text()
        return [line.split()[-1].rpartition("=")[2] for line in said.open()]


@every_shell
def test_names_of_files(folder, shell):
    needs(shell)
    if shell == "bash":
        offered = typed_in_bash(folder, *NAMES)
    else:
        offered = [" ".join(each) for each in SHELLS[shell](folder, *NAMES)]
    assert dict(zip(NAMES, offered, strict=True)) == NAMES


@every_shell
def test_processes(tmp_path, shell):
    """The shells offer the Python processes after the words `attach` and `detach`. zsh and
    fish also offer these processes after --pid."""
    needs(shell)
    if not shutil.which("find"):
        pytest.skip("no find")
    lines = ["ocular attach ", "ocular detach "]
    if shell != "bash":
        lines += ["ocular-top -p ", "ocular-top --attach --pid="]
    with subprocess.Popen(["sleep", "1000"]) as no_python:
        try:
            for offered in SHELLS[shell](tmp_path, *lines):
                assert str(os.getpid()) in offered
                assert str(no_python.pid) not in offered
        finally:
            no_python.kill()


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_bash_completes_processes_that_serve():
    with (
        # the path must be short enough for a socket's address
        tempfile.TemporaryDirectory(prefix="oc-") as folder,
        socket.socket(socket.AF_UNIX) as listener,
    ):
        listener.bind(f"{folder}/4711.sock")
        Path(folder, "4712.sock").touch()  # this file is not a socket
        given = {"PATH": os.environ["PATH"], "OCULAR_DIR": folder}
        (offered,) = in_bash(folder, "ocular-top -p 47", env=given)
        assert "4711" in offered and "4712" not in offered


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash")
def test_words_that_bash_splits_at_equals_signs(tmp_path):
    lines = "ocular --mode = p", "ocular --mode = precise --th", "ocular-top --sort = spe"
    assert list(in_bash(tmp_path, *lines)) == [["precise"], ["--threshold"], ["spec"]]
