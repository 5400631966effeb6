# SPDX-License-Identifier: MIT
"""`python -m ocular [options] script.py args...` runs a program and traces it.

The program has its usual arguments, stdin, stdout, exit status and tracebacks, because no
frame of Ocular is among the callers of the program's frames (python/module/program.h). If
tracing cannot start, a warning gives the reason and the program runs untraced. A program
that does not compile is not traced.
"""

import ocular  # this import must be the first (see _path.py)

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
Of a program that runs: ocular attach, detach PID. Of this environment: enable,
disable, status. Of files: convert, merge, diff. Faults: doctor. Fleets: agent."""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Makes the column of options wider than usual, so that the help fits a screen."""

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


def share(text):  # argparse has this name in its error
    return float(text[:-1]) / 100 if text.endswith("%") else float(text)


def _add_cost(group):
    add = group.add_argument
    add(
        "--mode",
        metavar="MODE",
        help="adaptive (default) or precise: sets of events",
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
        type=share,
        metavar="SHARE",
        dest="overhead_budget",
        help="share of CPU time that tracing may cost, as 0.01 or 1%% (default 1%% "
        "with --serve or --idle, else none)",
    )
    add(
        "--stall-ms",
        type=float,
        metavar="MS",
        default=_settings.DEFAULT_STALL_MS,
        help="shortest stall of a loop or the GIL (default %(default)g)",
    )
    add(
        "--events",
        metavar="NAMES",
        help="what is hooked, and ns of one: call 15-45, c_call 70, exception 40-130, "
        "line 20-40, branch 15-50, opcode 15-35, reference 5-10; or a mode",
    )
    add(
        "--native",
        action="store_true",
        help="sample C functions, too (not for timelines)",
    )
    add(
        "--exclude",
        action="append",
        metavar="TEXT",
        help="leave out code with TEXT in its path or name",
    )
    add(
        "--include-only",
        action="append",
        metavar="TEXT",
        help="trace only such code (both options may be repeated)",
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
        help="bytes of the recording; JSON has 20 to 40 times as many "
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
        help="a directory for a recording that may grow beyond the limit "
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


def _valued(parser):
    """Returns the options whose value may be the next word."""
    return {
        option
        for action in parser._actions
        if action.nargs is None and action.const is None
        for option in action.option_strings
    }


def _split(parser, arguments):
    """Splits the command line. Returns (Ocular's options, the program and its arguments).
    All words after the script, after the module of -m or after the code of -c belong to the
    program, even if they look like options of Ocular."""
    valued = _valued(parser)
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        if argument == "--":
            return arguments[:index], arguments[index + 1 :]
        if argument[:2] in ("-m", "-c"):  # accepts "-m name" and "-mname"
            index += 2 if len(argument) == 2 else 1
            return arguments[:index], arguments[index:]
        if not argument.startswith("-") or argument == "-":
            break
        index += 2 if argument in valued else 1
    return arguments[:index], arguments[index:]


# Options that --idle refuses.
NOT_IDLE = (
    "serve output output_seconds quiet report children timeline_instructions follow".split()
)
# The names of Ocular's commands. A script that has one of these names can be run as, for
# example, ./merge.
COMMANDS = "agent attach convert detach diff disable doctor enable merge status".split()
NOT_SETTINGS = ("idle", "module", "command", "follow", "install_follow", "remove_follow")


# --- The trace ----------------------------------------------------------------


def _settings_of(options):
    """Returns (the function that starts tracing, its arguments). Exits with status 2 if an
    argument is bad."""
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
            from ocular import _follow

            _follow.announce(checked)
        if options.perfetto and not options.idle and not options.quiet:
            from ocular import _recording_file

            _recording_file.announce(checked)
    except (TypeError, ValueError) as error:
        print(f"ocular: {error}", file=sys.stderr)
        sys.exit(2)
    except OSError:
        pass  # the start of the trace reports the error
    return start, settings


def _beginner(options):
    """Returns a function that starts tracing just before the program's first code runs."""
    start, settings = _settings_of(options)

    def begin(code):
        _show_source(code, options.command)
        shown = sys.argv[0]  # ocular._command() reads sys.argv
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
    """Gives linecache the code of -c, which tracebacks show from CPython 3.13 on."""
    if source is not None and hasattr(linecache, "_register_code"):
        # CPython 3.13.0 registers the code by its name.
        by_code = hasattr(linecache, "_interactive_cache")
        linecache._register_code(code if by_code else "<string>", source, "<string>")


# --- The program --------------------------------------------------------------


def _fresh_main():
    """Makes a new __main__ module for the program, as the interpreter does."""
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    module.__loader__ = BuiltinImporter
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    sys.modules["__main__"] = module


def _absolute(path):
    """Returns the absolute path of the script. Keeps dots and links in the path, as the
    interpreter does."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


def _put_first_on_path(folder):
    """Replaces the first folder of sys.path by `folder`. `python -m ocular` has put the
    current directory first on sys.path. If the current directory was removed, the
    interpreter has put nothing on sys.path."""
    if sys.flags.safe_path:
        return
    with contextlib.suppress(OSError):
        os.getcwd()
        del sys.path[0]
    sys.path.insert(0, folder)
    _forget_modules(folder)


# The modules that CPython imports before it puts the program's folder on sys.path.
AT_START = set(
    "_collections_abc _sitebuiltins abc codecs encodings genericpath io os posixpath site "
    "stat zipimport".split()
)


def _can_be_the_programs(name):
    return not (
        name not in sys.stdlib_module_names
        or name in AT_START
        or BuiltinImporter.find_spec(name)
        or FrozenImporter.find_spec(name)
    )


def _forget_modules(folder):
    """Removes those modules of the standard library from sys.modules that have the name
    of a module in the program's folder, so that the program imports its own module."""
    # sys.path_importer_cache is not used, because its finders may not know a new file.
    for hook in sys.path_hooks:
        try:
            finder = hook(folder or os.getcwd())
            break
        except (ImportError, OSError):
            continue
    else:
        return
    for name in {module.partition(".")[0] for module in sys.modules}:
        spec = _can_be_the_programs(name) and finder.find_spec(name)
        # The loader is None for a folder without __init__.py.
        if spec and spec.loader is not None:
            for module in list(sys.modules):
                if module == name or module.startswith(name + "."):
                    del sys.modules[module]


def _run_module(begin, name, is_option):
    """Runs a module as the interpreter does for -m and for a directory."""
    if sys.path:
        _forget_modules(sys.path[0])
    return _ocular.run_call(begin, runpy._run_module_as_main, (name, is_option))


def _run_command(begin, source):
    _put_first_on_path("")
    if sys.version_info >= (3, 14):
        source = textwrap.dedent(source)
    try:
        source.encode()
    except UnicodeEncodeError as error:  # the command line was not UTF-8
        print("Unable to decode the command from the command line:", file=sys.stderr)
        print(f"UnicodeEncodeError: {error}", file=sys.stderr)
        return 1
    return _ocular.run_string(begin, source)


def _folder_of(path):
    """Returns the folder that the interpreter puts on sys.path for a script. The
    interpreter takes the folder of the real file. If there is no real file, as for
    /dev/stdin of a pipe, the interpreter takes the folder of the given name."""
    with contextlib.suppress(OSError):
        link = os.readlink(path)
        if "/" in link:
            path = os.path.join(os.path.dirname(path), link)
    with contextlib.suppress(OSError):
        path = os.path.realpath(path, strict=True)
    return os.path.dirname(path)


def _run_script(begin, path):
    """Runs a file, a directory or an archive as `python path` does."""
    full = _absolute(path)
    if pkgutil.get_importer(full) is not None:
        _put_first_on_path(full)
        if sys.flags.safe_path:
            sys.path.insert(0, full)
        return _run_module(begin, "__main__", False)
    _put_first_on_path(_folder_of(path))
    return _ocular.run_file(begin, os.fsencode(full))


def _run(parser, begin, options, rest):
    """Runs the program and returns its exit status, unless the program ends the process."""
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
    # The script cannot be opened. Exceptions of the program itself do not get here.
    except OSError as error:
        parser.error(f"can't open file {rest[0]!r}: {error.strerror}")


def main(arguments=None):
    """Parses Ocular's options, runs the program and traces it."""
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
    if options.install_follow or options.remove_follow or options.follow:
        from ocular import _follow, _pth

        if options.install_follow or options.remove_follow:
            line = _follow.LINE if options.install_follow else None
            sys.exit(_pth.change(_follow.NAME, line))
        if not _pth.find(_follow.NAME):
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
    # With -i on a terminal the interpreter prompts after the program, and the prompt
    # determines the exit status.
    asks = sys.flags.interactive or (sys.flags.inspect and os.isatty(0))
    if status and not asks:
        _ocular.exit(status)


def command():
    """The installed command `ocular`. Python puts the command's folder first on
    sys.path. This function puts the current directory there instead, as `python -m
    ocular` has it."""
    if not sys.flags.safe_path:
        del sys.path[0]
        with contextlib.suppress(OSError):  # the current directory was removed
            _path.take(os.getcwd())
    main()


if __name__ == "__main__":
    main()
