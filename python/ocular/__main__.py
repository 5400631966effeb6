# SPDX-License-Identifier: MIT
"""`python -m ocular [options] script.py args...`: runs a program, traced.

The program keeps its arguments, stdin, stdout and exit status. Where tracing
cannot start, a warning says why and the program runs untraced.
"""

import argparse
import builtins
import contextlib
import importlib.util
import io
import marshal
import os
import runpy
import sys
import types
import zipfile
from importlib.machinery import SourceFileLoader, SourcelessFileLoader

import ocular
from ocular import _settings


def _parser():
    parser = argparse.ArgumentParser(
        prog="ocular",
        allow_abbrev=False,
        usage="ocular [options] (script.py | -m module) [args...]",
        description="Run a Python program under Ocular's tracer.",
        epilog="While it runs with --serve: ocular-top --pid PID",
    )
    parser.add_argument(
        "--version", action="version", version=f"ocular {ocular.__version__}"
    )
    add = parser.add_argument
    add(
        "-m",
        dest="module",
        metavar="module",
        help="run a library module, as python -m does",
    )
    add("--serve", action="store_true", help="answer ocular-top")
    add(
        "--idle",
        action="store_true",
        help="trace only while ocular-top looks, as ocular.serve() does; "
        "nothing is written",
    )
    add(
        "--mode",
        default="adaptive",
        metavar="MODE",
        help="adaptive: functions and blocks (default); precise: every "
        "instruction too, in its generic form",
    )
    add(
        "--threshold",
        type=int,
        metavar="N",
        dest="deinstrument_threshold",
        default=_settings.DEFAULT_THRESHOLD,
        help="hits after which a site's hook is taken out; 0 = never (default %(default)s)",
    )
    add(
        "--exclude",
        action="append",
        metavar="TEXT",
        help="leave out code whose path or qualified name holds TEXT "
        "(may be given several times)",
    )
    add(
        "--include-only",
        action="append",
        metavar="TEXT",
        help="trace only code whose path or qualified name holds TEXT",
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
        "--output",
        default=_settings.DEFAULT_OUTPUT,
        metavar="FILE",
        help="where the timeline goes (default %(default)s)",
    )
    add("--no-perfetto", action="store_false", dest="perfetto", help="keep no timeline")
    add(
        "--timeline-limit",
        type=int,
        metavar="BYTES",
        default=_settings.DEFAULT_TIMELINE_LIMIT,
        help="memory for the timeline, whose file has 8 to 15 times as many "
        "bytes (default %(default)s)",
    )
    add("--quiet", action="store_true", help="no report and no progress on stderr")
    return parser


def _split(parser, arguments):
    """(our options, the program and its arguments): what follows the script,
    or the module of -m, is the program's, whatever it looks like."""
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
        if argument.startswith("-m"):  # "-m name" and "-mname"
            index += 2 if argument == "-m" else 1
            return arguments[:index], arguments[index:]
        if not argument.startswith("-") or argument == "-":
            break
        index += 2 if argument in takes_value else 1
    return arguments[:index], arguments[index:]


NOT_IDLE = ("serve", "output", "quiet")  # what --idle has no use for


def _start(options):
    settings = vars(options).copy()
    del settings["module"]
    begin = ocular.start_tracing
    if settings.pop("idle"):
        begin = ocular.serve
        for name in NOT_IDLE:
            del settings[name]
    try:
        begin(**settings)
    except (TypeError, ValueError, NotImplementedError) as error:
        print(f"ocular: {error}", file=sys.stderr)
        sys.exit(2)
    except (RuntimeError, OSError, Warning) as error:
        print(f"ocular: warning: tracing is off: {error}", file=sys.stderr)


def _fresh_main():
    """A __main__ of the program's own, without our names."""
    module = types.ModuleType("__main__")
    module.__builtins__ = builtins
    if sys.version_info < (3, 14):
        module.__annotations__ = {}
    sys.modules["__main__"] = module
    return module


def _run_module(name, is_option):
    """Runs a module as the interpreter does for -m, or for a directory."""
    _fresh_main()
    runpy._run_module_as_main(name, alter_argv=is_option)


def _absolute(path):
    """As the interpreter spells the script: dots and links are kept."""
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


def _drop_our_directory():
    """From where `-m ocular` would import: the interpreter has put it first,
    where there is one."""
    with contextlib.suppress(OSError):
        os.getcwd()
        del sys.path[0]


def _run_script(path):
    """Runs a file as __main__, as `python path` does."""
    if not sys.flags.safe_path:
        _drop_our_directory()
    if os.path.isdir(path) or (
        not path.endswith((".py", ".pyw")) and zipfile.is_zipfile(path)
    ):
        sys.path.insert(0, _absolute(path))
        return _run_module("__main__", False)
    if not sys.flags.safe_path:
        sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    full = _absolute(path)
    with io.open_code(full) as file:
        data = file.read()  # once: it may be a pipe
    if data.startswith(importlib.util.MAGIC_NUMBER):
        loader, code = SourcelessFileLoader, marshal.loads(data[16:])
    else:
        loader = SourceFileLoader
        code = compile(data, full, "exec", dont_inherit=True)
    module = _fresh_main()
    module.__file__ = full
    module.__loader__ = loader("__main__", full)
    if sys.version_info < (3, 15):
        module.__cached__ = None
    return exec(code, module.__dict__)


def main(arguments=None):
    """Parses our options, starts tracing, runs the program."""
    if arguments is None:
        arguments = sys.argv[1:]
    parser = _parser()
    ours, rest = _split(parser, arguments)
    options = parser.parse_args(ours)
    for name in NOT_IDLE:
        if options.idle and getattr(options, name) != parser.get_default(name):
            parser.error(
                f"--idle and --{name} do not go together: nothing is "
                f"traced, said or written until somebody looks"
            )
    if options.module is None and not rest:
        parser.error("name a script, or a module with -m")
    if options.module is not None:
        sys.argv[:] = ["-m " + options.module, *rest]
        _start(options)
        sys.argv[0] = "-m"
        return _run_module(options.module, True)
    sys.argv[:] = rest
    if not os.path.exists(rest[0]):
        parser.error(f"there is no file {rest[0]!r}")
    _start(options)
    return _run_script(rest[0])


if __name__ == "__main__":
    main()
