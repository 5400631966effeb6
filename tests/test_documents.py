# SPDX-License-Identifier: MIT
"""The manual pages, the completion, the help and docs/ agree with the sources about
options, columns, settings and messages. tests/e2e/test_examples.py runs the examples, and
tests/test_completion.py tests the shells."""

import inspect
import os
import re
import shutil
from pathlib import Path

import ocular
import pytest
from e2e.program import run
from ocular import __main__ as command
from ocular import _agent, _convert

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
TOP = os.environ.get("OCULAR_TOP", str(ROOT / "build/bin/ocular-top"))
OPTION = re.compile(r"(?<![\w<-])--?[A-Za-z][\w-]*")


def text_of(name):
    return (ROOT / name).read_text("utf-8")


# --- Options ------------------------------------------------------------------


def options_of(parser):
    return {option for action in parser._actions for option in action.option_strings}


def options_of_ocular():
    return options_of(command._parser())


def options_of_top():
    """Returns the options of ocular-top, from its table for getopt_long()."""
    rows = re.findall(
        r"\{\"([\w-]+)\", (?:'(\w)'|0), (?:true|false), ", text_of("tui/app/options.c")
    )
    assert len(rows) > 10
    return {f"--{long}" for long, _ in rows} | {f"-{short}" for _, short in rows if short}


OPTIONS = {"ocular": options_of_ocular, "ocular-top": options_of_top}
both = pytest.mark.parametrize("program", OPTIONS)


def in_manual(program):
    """Returns the options that have a paragraph in the manual page. Each option is in the
    line after .TP."""
    page = text_of(f"docs/man/{program}.1").replace("\\-", "-")
    terms = re.findall(r"^\.TP\n(.*)$", page, re.M)
    return {option for term in terms for option in OPTION.findall(term.replace('"', " "))}


def in_bash(program):
    text = text_of(f"docs/completion/bash/{program}")
    (words,) = re.findall(r"local (?:words|options)='([^']*)'", text)
    return set(words.split())


def in_zsh(program):
    """Returns the options in zsh's completion, which stand before an explanation in "["."""
    text = text_of(f"docs/completion/zsh/_{program}").split("case $state")[0]
    specs = re.findall(r"(\{[^}]*\}'|--?[\w-]+=?)\[", text)
    return {option for spec in specs for option in OPTION.findall(spec)}


def in_fish(program):
    found = set()
    for line in text_of(f"docs/completion/fish/{program}.fish").splitlines():
        if not line.startswith("complete ") or "seen_subcommand" in line:
            continue
        line = line.split(" -d ")[0]
        found |= {f"-{short}" for short in re.findall(r" -s (\w)", line)}
        found |= {f"--{long}" for long in re.findall(r" -l ([\w-]+)", line)}
    return found


@both
@pytest.mark.parametrize("where", [in_manual, in_bash, in_zsh, in_fish])
def test_all_options_are_there_and_no_other(program, where):
    known = OPTIONS[program]()
    found = where(program)
    assert (known - found, found - known) == (set(), set())


@pytest.mark.parametrize("program", OPTIONS)
def test_a_manual_names_no_option_that_is_not_there(program):
    """A manual page names only options that exist, of this program or of another one."""
    page = text_of(f"docs/man/{program}.1").replace("\\-", "-")
    named = {word for word in OPTION.findall(page) if word.startswith("--")}
    others = options_of(_convert._parser()) | options_of(_agent._parser())
    assert named <= options_of_ocular() | options_of_top() | others
    if program == "ocular":
        assert options_of(_agent._parser()) - {"-h", "--help"} <= named


def test_defaults_in_the_manual():
    paragraphs = text_of("docs/man/ocular.1").replace("\\-", "-").split(".TP\n")
    for action in command._parser()._actions:
        if type(action.default) in (int, float):
            start = f".BI {action.option_strings[0]} "
            (paragraph,) = [each for each in paragraphs if each.startswith(start)]
            assert f"({action.default:.10g})" in paragraph


@both
def test_variables_in_the_manual(program):
    """Each environment variable that a manual page explains is read by a source file."""
    part = text_of(f"docs/man/{program}.1").split(".SH ENVIRONMENT")[1].split(".SH")[0]
    terms = " ".join(re.findall(r"^\.TP\n(.*)$", part, re.M))
    named = re.findall("[A-Z_]{4,}", terms)
    code = messages()
    assert len(named) > 2
    assert not [name for name in named if f'("{name}"' not in code]


def columns():
    """Returns the words that --sort accepts."""
    return re.findall(r'^COLUMN\(\w+, "(.*?)"', text_of("tui/model/columns.def"), re.M)


def test_columns_by_name():
    """All documents that list the words for --sort list all of them."""
    names = columns()
    assert len(names) > 10
    page = text_of("docs/man/ocular-top.1")
    (listed,) = re.findall(r"Sort by this column \(share\):\n((?:\.BR .*\n)+)", page)
    words = listed.replace(".BR", "").replace(" or ", "").replace('"', "").split()
    assert [word for word in words if word not in ".,"] == names
    for shell, pattern in (
        ("bash/ocular-top", r"columns='([^']*)'"),
        ("zsh/_ocular-top", r":column:\((.*)\)'"),
        ("fish/ocular-top.fish", r"-l sort -x -a '(.*?)'"),
    ):
        (words,) = re.findall(pattern, text_of(f"docs/completion/{shell}"))
        assert words.split() == names


@pytest.mark.skipif(not shutil.which("man"), reason="no man")
@both
def test_manuals_are_well_formed(program):
    path = DOCS / "man" / f"{program}.1"
    command = ["man", "--warnings", "-E", "UTF-8", "-l", path]
    done = run(command, env={"MANWIDTH": "80", "MANPAGER": "cat"})
    assert done.status == 0 and done.err == ""
    assert done.out.startswith(f"{program.upper()}(1)")


# --- The help -----------------------------------------------------------------


def help_of(*command):
    done = run([*command, "--help"], env={"COLUMNS": "80", "NO_COLOR": "1"})
    assert done.status == 0
    return done.out.splitlines()


@both
def test_the_help_fits_a_screen(program):
    """The help begins with three examples, and lists all options."""
    python = os.environ.get("PYTHON", "python3")
    lines = help_of(TOP) if program == "ocular-top" else help_of(python, "-m", "ocular")
    assert len(lines) <= 60 and max(map(len, lines)) <= 80
    begin = [line for line in lines[:8] if re.match(rf"  {program} ", line)]
    assert len(begin) == 3
    assert OPTIONS[program]() <= set(OPTION.findall("\n".join(lines)))


# --- Columns ------------------------------------------------------------------


def titles(name):
    """Returns the titles of columns in a table of a C source, in their order."""
    return re.findall(r'^ +\[\w+\] =\s+\w+_COLUMN\(\s*"(.*?)"', text_of(name), re.M)


def test_each_column_has_its_paragraph():
    """docs/metrics.md has a paragraph for each column, in the order of the columns on the
    screen, with the name that --sort accepts."""
    text = text_of("docs/metrics.md")
    main, threads = re.split(r"^## .*$", text, flags=re.M)[1:3]
    found = re.findall(r"^\*\*(.*?)\*\* \(`(.*?)`\): ", main, re.M)
    names = columns()
    wanted = [title.strip() for title in titles("tui/views/table_column.c")]
    assert found == list(zip(wanted, names, strict=True))
    found = re.findall(r"^\*\*(.*?)\*\*: ", threads, re.M)
    assert found == titles("tui/views/view_threads.c") and len(found) > 3


def test_each_column_says_how_sure_it_is():
    main = re.split(r"^## .*$", text_of("docs/metrics.md"), flags=re.M)[1]
    for paragraph in main.strip().split("\n\n"):
        name = paragraph.split("**")[1]
        # P99 and TOTAL are as precise as the column before. FUNCTION is a name.
        if name not in ("P99", "TOTAL", "FUNCTION"):
            assert re.search("ounted|sampled|exact|`python/hooks/", paragraph), name


# --- Settings -----------------------------------------------------------------


def test_settings_in_usage():
    """The table has the default value of each option, and lists all options."""
    parameters = inspect.signature(ocular.start_tracing).parameters
    rows = re.findall(r"^\| (`\w+=.*?) \| (.*?) \|", text_of("docs/usage.md"), re.M)
    assert len(rows) > 8
    for settings, option in rows:
        for name, value in re.findall(r"`(\w+)=(.*?)`", settings):
            default = parameters[name].default
            shown = {"mode": "adaptive", "overhead_budget": 0.01}.get(name, default)
            assert not value or value.replace('"', "'") == repr(shown), name
        assert set(OPTION.findall(option)) <= options_of_ocular()


def test_the_list_of_processes_knows_options_with_values():
    """ocular-top's list finds the script in the command line of a program."""
    body = text_of("tui/app/chooser_draw.c").split("names[] =")[1].split(";")[0]
    words = "".join(re.findall('"(.*)"', body)).split()
    assert {*words, "-c", "-m"} == command._valued(command._parser())


def test_functions_in_the_readme():
    rows = re.findall(
        r"^\| (`.*?) \|", text_of("README.md").split("| in Python |")[1], re.M
    )
    named = {name for row in rows[:7] for name in re.findall(r"`@?(?:with )?(\w+)", row)}
    assert named == set(ocular.__all__) - {"__version__"}


# --- Messages -----------------------------------------------------------------


def messages():
    """Returns the text of the sources. A string that continues on the next line becomes one
    string."""
    found = []
    for folder in ("ipc", "tracer", "formats", "tui", "python"):
        for path in sorted((ROOT / folder).rglob("*")):
            script = path.parent.name == "setup" and path.is_file() and not path.suffix
            if script or path.suffix in (".c", ".h", ".py"):
                text = path.read_text("utf-8")
                between = r'"\s*\\\n\s*"' if script else r'"\s*f?"'
                found.append(re.sub(between, " " if script else "", text))
    return "\n".join(found)


def quoted(name):
    """Returns the messages that a document quotes. A quoted message is a line that begins
    with ">"."""
    return re.findall(r"^> (.*)$", text_of(name), re.M)


def parts_of(message):
    """Returns the parts of a message that are always the same."""
    return [part for part in message.split("...") if part.strip(" .():;,")]


def test_messages_in_troubleshooting_exist():
    sources = messages()
    found = quoted("docs/troubleshooting.md")
    assert len(found) > 20
    missing = [
        part for message in found for part in parts_of(message) if part not in sources
    ]
    assert not missing, "\n".join(missing)
