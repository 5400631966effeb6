# SPDX-License-Identifier: MIT
"""`python -m ocular [options] script.py args...`: runs a program, traced.

The program keeps its arguments, stdin, stdout and exit status. Where tracing
cannot start, a warning says why and the program runs untraced.
"""

import argparse
import io
import os
import runpy
import sys
import types

import ocular
from ocular import _settings


def _parser():
    parser = argparse.ArgumentParser(
        prog="ocular", allow_abbrev=False,
        usage="ocular [options] (script.py | -m module) [args...]",
        description="Run a Python program under Ocular's tracer.",
        epilog="While it runs with --serve: ocular-top --pid PID")
    parser.add_argument("--version", action="version",
                        version=f"ocular {ocular.__version__}")
    add = parser.add_argument
    add("-m", dest="module", metavar="module",
        help="run a library module, as python -m does")
    add("--serve", action="store_true", help="answer ocular-top")
    add("--mode", default="adaptive", help="adaptive (default)")
    add("--threshold", type=int, metavar="N", dest="deinstrument_threshold",
        default=_settings.DEFAULT_THRESHOLD,
        help="hits after which a site's hook is taken out; 0 = never "
             "(default %(default)s)")
    add("--exclude", action="append", metavar="TEXT",
        help="leave out code whose path or qualified name holds TEXT "
             "(may be given several times)")
    add("--include-only", action="append", metavar="TEXT",
        help="trace only code whose path or qualified name holds TEXT")
    add("--budget", type=float, metavar="SHARE", dest="overhead_budget",
        help="share of CPU time that tracing may cost, e.g. 0.01")
    add("--output", default=_settings.DEFAULT_OUTPUT, metavar="FILE",
        help="where the timeline goes (default %(default)s)")
    add("--no-perfetto", action="store_false", dest="perfetto",
        help="keep no timeline")
    add("--timeline-limit", type=int, metavar="BYTES",
        default=_settings.DEFAULT_TIMELINE_LIMIT,
        help="memory for the timeline (default %(default)s)")
    add("--quiet", action="store_true", help="no report on stderr")
    return parser


def _split(parser, arguments):
    """(our options, the program and its arguments): what follows the script,
    or the module of -m, is the program's, whatever it looks like."""
    takes_value = {option for action in parser._actions
                   if action.nargs is None and action.const is None
                   for option in action.option_strings}
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        if argument == "--":
            return arguments[:index], arguments[index + 1:]
        if argument == "-m":
            return arguments[:index + 2], arguments[index + 2:]
        if not argument.startswith("-") or argument == "-":
            break
        index += 2 if argument in takes_value else 1
    return arguments[:index], arguments[index:]


def _start(options):
    settings = vars(options).copy()
    del settings["module"]
    try:
        ocular.start_tracing(**settings)
    except (TypeError, ValueError, NotImplementedError) as error:
        print(f"ocular: {error}", file=sys.stderr)
        sys.exit(2)
    except (RuntimeError, OSError, Warning) as error:
        print(f"ocular: warning: tracing is off: {error}", file=sys.stderr)


def _run_script(path):
    """Runs a file as __main__, as `python path` would."""
    if os.path.isdir(path) or not path.endswith((".py", ".pyw")) and \
            _is_archive(path):
        return runpy.run_path(path, run_name="__main__")
    with io.open_code(os.path.abspath(path)) as file:
        code = compile(file.read(), path, "exec")
    module = types.ModuleType("__main__")
    module.__file__ = path
    module.__builtins__ = __builtins__
    sys.modules["__main__"] = module
    sys.path[0] = os.path.dirname(os.path.realpath(path))
    return exec(code, module.__dict__)


def _is_archive(path):
    import zipfile

    return zipfile.is_zipfile(path)


def main(arguments=None):
    """Parses our options, starts tracing, runs the program."""
    if arguments is None:
        arguments = sys.argv[1:]
    parser = _parser()
    ours, rest = _split(parser, arguments)
    options = parser.parse_args(ours)
    if options.module is None and not rest:
        parser.error("name a script, or a module with -m")
    if options.module is not None:
        sys.argv[:] = ["-m " + options.module, *rest]
        _start(options)
        sys.argv[0] = options.module
        runpy.run_module(options.module, run_name="__main__", alter_sys=True)
        return
    sys.argv[:] = rest
    if not os.path.exists(rest[0]):
        parser.error(f"there is no file {rest[0]!r}")
    _start(options)
    _run_script(rest[0])


if __name__ == "__main__":
    main()
