# SPDX-License-Identifier: MIT
"""`python -m ocular [options] script.py args...`: runs a program, traced.

The program keeps its arguments, stdin, stdout, exit status and tracebacks: no
frame of ours is below it (python/module/program.h). If tracing cannot start, a
warning says why and the program runs untraced. A program that does not compile
is not traced.
"""

import ocular  # first: see _path.py

# isort: split

import argparse
import builtins
import contextlib
import linecache
import os
import pkgutil
import runpy
import sys
import textwrap
import types
from importlib.machinery import BuiltinImporter, FrozenImporter

from ocular import _ocular, _opcodes, _path, _settings  # noqa: F401, for the start

DESCRIPTION = """\
Runs a Python program, traced. Three things people do:
  ocular script.py                       a report and a timeline at its end
  ocular --serve script.py; ocular-top   watch it, from another terminal
  ocular --idle script.py                full speed until ocular-top looks
Of a program that runs: ocular attach PID, detach PID. Of all programs of this
environment: ocular enable, disable, status. Files: ocular convert, merge."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Wider for options than usual, so that all of them fit a screen."""

    def __init__(self, prog, **more):
        super().__init__(prog, max_help_position=26, **more)


def _parser():
    parser = argparse.ArgumentParser(
        prog="ocular",
        allow_abbrev=False,
        formatter_class=_Help,
        usage="ocular [options] (script.py | -m module | -c code | -) [args...]",
        description=DESCRIPTION,
    )
    parser.add_argument(
        "--version", action="version", version=f"ocular {ocular.__version__}"
    )
    _add_program(parser.add_argument_group("the program"))
    _add_cost(parser.add_argument_group("tracing and its cost"))
    _add_output(parser.add_argument_group("output"))
    _add_children(parser.add_argument_group("child processes"))
    return parser


def _add_program(group):
    add = group.add_argument
    add(
        "-m",
        dest="module",
        metavar="module",
        help="run a library module, as python -m does",
    )
    add(
        "-c",
        dest="command",
        metavar="code",
        help="run code, as python -c does; - runs what stdin holds",
    )
    add("--serve", action="store_true", help="answer ocular-top")
    add(
        "--idle",
        action="store_true",
        help="trace only while ocular-top looks; write nothing",
    )


def _add_cost(group):
    add = group.add_argument
    add(
        "--mode",
        default="adaptive",
        metavar="MODE",
        help="adaptive: functions and blocks (default); precise: "
        "every instruction too, in its generic form",
    )
    add(
        "--threshold",
        type=int,
        metavar="N",
        dest="deinstrument_threshold",
        default=_settings.DEFAULT_THRESHOLD,
        help="hits after which a site's hook is taken out; 0: never (default %(default)s)",
    )
    add(
        "--budget",
        type=float,
        metavar="SHARE",
        dest="overhead_budget",
        help="share of CPU time that tracing may cost (default 0.01 with "
        "--serve or --idle, else none; not with --threshold 0 "
        "or --mode precise)",
    )
    add(
        "--exclude",
        action="append",
        metavar="TEXT",
        help="leave out code whose path or qualified name has TEXT in it "
        "(may be given several times)",
    )
    add(
        "--include-only",
        action="append",
        metavar="TEXT",
        help="trace only code that has TEXT there (likewise)",
    )


def _add_output(group):
    add = group.add_argument
    add(
        "--output",
        default=_settings.DEFAULT_OUTPUT,
        metavar="FILE",
        help="where the timeline goes (default %(default)s); "
        ".pftrace: Perfetto's own format, smaller and faster; "
        ".html, .svg: a flame graph; .folded, .speedscope.json, .pstats, .pb.gz: "
        "sampled stacks for other tools; .ocular: a recording, for ocular convert",
    )
    add("--no-perfetto", action="store_false", dest="perfetto", help="keep no timeline")
    add(
        "--timeline-limit",
        type=int,
        metavar="BYTES",
        default=_settings.DEFAULT_TIMELINE_LIMIT,
        help="memory for the timeline; JSON has 8 to 15 times as many "
        "bytes (default %(default)s)",
    )
    add(
        "--timeline-instructions",
        action="store_true",
        help="with --mode precise: each instruction that runs is in it",
    )
    add(
        "--timeline-spill",
        metavar="DIR",
        help="a directory for a file with the events that memory has no room for "
        "(with --threshold 0: beside the output)",
    )
    add(
        "--output-seconds",
        type=float,
        metavar="S",
        default=_settings.DEFAULT_OUTPUT_SECONDS,
        help="how long writing may take at exit; what takes longer stays a "
        "recording (default %(default)g)",
    )
    add("--quiet", action="store_true", help="no report and no progress on stderr")
    add(
        "--report",
        action="store_true",
        default=None,
        help="with --serve: the whole report, not five lines of it",
    )


def _add_children(group):
    add = group.add_argument
    add(
        "--children",
        nargs="?",
        type=int,
        metavar="N",
        const=_settings.DEFAULT_CHILDREN,
        default=False,
        help="with --serve: followed children, and N forked ones (--children=N, else "
        "%(const)d), write timelines of their own",
    )
    add(
        "--follow",
        action="store_true",
        help="trace the Python programs that it starts as well",
    )
    add(
        "--install-follow",
        action="store_true",
        help="write what --follow needs in this environment's site-packages",
    )
    add("--remove-follow", action="store_true", help="remove that again")


def _split(parser, arguments):
    """(our options, the program and its arguments): what follows the script,
    the module of -m or the code of -c is the program's, whatever it looks like."""
    takes_value = {
        option
        for action in parser._actions
        if action.nargs is None and action.const is None
        for option in action.option_strings
    }
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        if argument == "--":
            return arguments[:index], arguments[index + 1 :]
        if argument[:2] in ("-m", "-c"):  # "-m name" and "-mname"
            index += 2 if len(argument) == 2 else 1
            return arguments[:index], arguments[index:]
        if not argument.startswith("-") or argument == "-":
            break
        index += 2 if argument in takes_value else 1
    return arguments[:index], arguments[index:]


NOT_IDLE = (
    "serve",
    "output",
    "output_seconds",
    "quiet",
    "report",
    "children",
    "timeline_instructions",
    "follow",
)  # what --idle has no use for
# A script of such a name: ./merge
COMMANDS = ("attach", "convert", "detach", "enable", "disable", "merge", "status")
NOT_SETTINGS = ("idle", "module", "command", "follow", "install_follow", "remove_follow")


# --- The trace ----------------------------------------------------------------


def _settings_of(options):
    """(the function that starts tracing, its arguments), or exit status 2."""
    settings = vars(options).copy()
    for name in NOT_SETTINGS:
        del settings[name]
    start, check = ocular.start_tracing, _settings.check
    if options.idle:
        start, check = ocular.serve, _settings.check_serve
        for name in NOT_IDLE:
            settings.pop(name, None)
    try:
        checked = check(**settings)
        if options.follow:
            _follow().announce(checked)
        if options.perfetto and not options.idle and not options.quiet:
            from ocular import _recording_file

            _recording_file.announce(checked)
    except (TypeError, ValueError) as error:
        print(f"ocular: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError:
        pass  # the start will say so
    return start, settings


def _beginner(options):
    """A function that starts tracing when the program's first code is about to run."""
    start, settings = _settings_of(options)

    def begin(code):
        _show_source(code, options.command)
        shown = sys.argv[0]  # as the command of the trace, see ocular._command
        if options.module is not None:
            sys.argv[0] = "-m " + options.module
        try:
            start(**settings)
        except (RuntimeError, OSError, Warning) as error:
            print(f"ocular: warning: tracing is off: {error}", file=sys.stderr)
        finally:
            sys.argv[0] = shown

    return begin


def _show_source(code, source):
    """From CPython 3.13 on tracebacks show the code of -c."""
    if source is not None and hasattr(linecache, "_register_code"):
        by_code = hasattr(linecache, "_interactive_cache")  # 3.13.0 has it by name
        linecache._register_code(code if by_code else "<string>", source, "<string>")


# --- The program --------------------------------------------------------------


def _fresh_main():
    """A __main__ of the program's own, as the interpreter makes it."""
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    module.__loader__ = BuiltinImporter
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    sys.modules["__main__"] = module


def _absolute(path):
    """The script's path as the interpreter has it: dots and links are kept."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


def _put_first_on_path(folder):
    """In place of the directory that `-m ocular` would import from: the
    interpreter has put it first, if there is one."""
    if sys.flags.safe_path:
        return
    with contextlib.suppress(OSError):
        os.getcwd()
        del sys.path[0]
    sys.path.insert(0, folder)
    _forget_modules(folder)


# The modules that are imported before the program's folder is put on the path.
AT_START = {
    "_collections_abc",
    "_sitebuiltins",
    "abc",
    "codecs",
    "encodings",
    "genericpath",
    "io",
    "os",
    "posixpath",
    "site",
    "stat",
    "zipimport",
}


def _can_be_the_programs(name):
    return not (
        name not in sys.stdlib_module_names
        or name in AT_START
        or BuiltinImporter.find_spec(name)
        or FrozenImporter.find_spec(name)
    )


def _forget_modules(folder):
    """Forgets modules of the standard library that we have imported if the program's
    folder has one of the same name: the program's own import is to find that."""
    for hook in sys.path_hooks:  # the cache of these would not see a file made just now
        try:
            finder = hook(folder or os.getcwd())
            break
        except (ImportError, OSError):
            continue
    else:
        return
    for name in {module.partition(".")[0] for module in sys.modules}:
        spec = _can_be_the_programs(name) and finder.find_spec(name)
        if spec and spec.loader is not None:  # else a folder without __init__.py
            for module in list(sys.modules):
                if module == name or module.startswith(name + "."):
                    del sys.modules[module]


def _run_module(begin, name, is_option):
    """Runs a module as the interpreter does for -m, or for a directory."""
    if sys.path:
        _forget_modules(sys.path[0])
    return _ocular.run_call(begin, runpy._run_module_as_main, (name, is_option))


def _run_command(begin, source):
    _put_first_on_path("")
    if sys.version_info >= (3, 14):
        source = textwrap.dedent(source)
    try:
        source.encode()
    except UnicodeEncodeError as error:  # bytes that are not UTF-8
        print("Unable to decode the command from the command line:", file=sys.stderr)
        print(f"UnicodeEncodeError: {error}", file=sys.stderr)
        return 1
    return _ocular.run_string(begin, source)


def _folder_of(path):
    """The folder that the interpreter puts on the path for a script: that of the file
    itself, or, if it has no real name, as /dev/stdin of a pipe, that of the name."""
    with contextlib.suppress(OSError):
        link = os.readlink(path)
        if "/" in link:
            path = os.path.join(os.path.dirname(path), link)
    with contextlib.suppress(OSError):
        path = os.path.realpath(path, strict=True)
    return os.path.dirname(path)


def _run_script(begin, path):
    """Runs a file, a directory or an archive, as `python path` does."""
    full = _absolute(path)
    if pkgutil.get_importer(full) is not None:
        _put_first_on_path(full)
        if sys.flags.safe_path:
            sys.path.insert(0, full)
        return _run_module(begin, "__main__", False)
    _put_first_on_path(_folder_of(path))
    return _ocular.run_file(begin, os.fsencode(full))


def _run(parser, begin, options, rest):
    """Runs the program: its exit status, if it has not ended the process."""
    if options.module is not None:
        sys.argv[:] = ["-m", *rest]
        return _run_module(begin, options.module, True)
    if options.command is not None:
        sys.argv[:] = ["-c", *rest]
        return _run_command(begin, options.command)
    sys.argv[:] = rest or [""]
    if sys.argv[0] in ("", "-"):
        _put_first_on_path("")
        return _ocular.run_file(begin, None)
    try:
        return _run_script(begin, rest[0])
    except OSError as error:  # no exception of the program comes here
        parser.error(f"can't open file {rest[0]!r}: {error.strerror}")


def _follow():
    """The module, with all that it imports, for code that asks for it."""
    from ocular import _follow

    return _follow


def _change_follow(options):
    """--install-follow and --remove-follow: the exit status."""
    try:
        if options.install_follow:
            print(f"ocular: written: {_follow().install()}")
        else:
            removed = ", ".join(map(str, _follow().remove()))
            print(f"ocular: removed: {removed or 'nothing'}")
    except OSError as error:
        print(f"ocular: {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


def main(arguments=None):
    """Parses our options, and runs the program, which starts tracing."""
    if arguments is None:
        arguments = sys.argv[1:]
    if arguments and arguments[0] in COMMANDS:
        from ocular import _commands

        sys.exit(_commands.run(arguments))
    parser = _parser()
    ours, rest = _split(parser, arguments)
    options = parser.parse_args(ours)
    for name in NOT_IDLE:
        if options.idle and getattr(options, name) != parser.get_default(name):
            parser.error(
                f"--idle and --{name.replace('_', '-')} do not go together: nothing is "
                f"traced, said or written until somebody looks"
            )
    if options.install_follow or options.remove_follow:
        sys.exit(_change_follow(options))
    if options.follow and not _follow().is_installed():
        parser.error(
            "--follow needs one line in this environment's site-packages; write it "
            f"with: {sys.executable} -m ocular --install-follow"
        )
    named = options.module is not None or options.command is not None
    if not named and not rest and os.isatty(0):
        parser.error("name a script, a module with -m, or code with -c")
    begin = _beginner(options)
    _path.give_back()
    _fresh_main()
    status = _run(parser, begin, options, rest)
    # With -i the interpreter asks for more afterwards, and has a status of its own: where
    # there is somebody to ask.
    asks = sys.flags.interactive or (sys.flags.inspect and os.isatty(0))
    if status and not asks:
        _ocular.end_inspection()
        raise SystemExit(status)


def command():
    """The installed command `ocular`. Python puts the command's own folder first on
    sys.path; `python -m ocular` has the current directory there."""
    if not sys.flags.safe_path:
        del sys.path[0]
        with contextlib.suppress(OSError):  # the directory was removed
            _path.take(os.getcwd())
    main()


if __name__ == "__main__":
    main()
