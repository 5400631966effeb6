# SPDX-License-Identifier: MIT
"""Checks the arguments of start_tracing() and serve(), with clear error messages."""

import contextlib
import os
import stat
from collections import namedtuple

# The events that a trace can have. Calls of Python functions are always traced.
EVENTS = ("call", "c_call", "exception", "line", "branch", "opcode", "reference")
# A mode is a name for a set of events.
MODES = {
    "adaptive": ("call", "exception", "branch"),
    "precise": ("call", "exception", "opcode"),
}
DEFAULT_THRESHOLD = 500
DEFAULT_OUTPUT = "ocular_trace.json"
# An event takes 5 to 9 bytes of a recording, and 127 to 226 bytes of JSON, depending on
# the length of names and paths. With this limit the JSON file stays below 100 MB.
DEFAULT_TIMELINE_LIMIT = 5 << 19
DEFAULT_CHILDREN = 8
DEFAULT_OUTPUT_SECONDS = 10.0
DEFAULT_STALL_MS = 50
DEFAULT_BUDGET = 0.01  # share of CPU time, if viewers can connect to the trace
LEAST_TIMELINE = 1 << 20
# The largest number that is accepted, because the engine's numbers have 64 bits.
MOST = (1 << 62) - 1


# The arguments of start_tracing() with their defaults. check() then makes the values that
# _start() needs.
_DEFAULTS = dict(
    mode=None,
    perfetto=True,
    deinstrument_threshold=DEFAULT_THRESHOLD,
    exclude=None,
    include_only=None,
    serve=False,
    overhead_budget=None,
    output=DEFAULT_OUTPUT,
    timeline_limit=DEFAULT_TIMELINE_LIMIT,
    timeline_spill=None,
    output_seconds=DEFAULT_OUTPUT_SECONDS,
    quiet=False,
    children=False,
    timeline_instructions=False,
    report=None,
    stall_ms=DEFAULT_STALL_MS,
    events=None,
    native=False,
    # The next settings are no arguments.
    # True if timeline_spill was given, so that failing to spill is an error.
    spill_asked=False,
    signal=0,  # number of the sampler's signal (0 = any free signal, -1 = no signal)
)


# Settings is no dataclass, because importing dataclasses takes as long as importing the
# rest of this package.
class Settings(namedtuple("Settings", _DEFAULTS, defaults=_DEFAULTS.values())):
    """Holds the settings of a trace, which ocular.start_tracing() describes."""

    __slots__ = ()


def _flag(name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def _children(value):
    """Returns the number of forked children that may write a timeline."""
    if isinstance(value, bool):
        return DEFAULT_CHILDREN if value else 0
    return _whole("children", value, 0)


def _whole(name, value, least):
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, not {value!r}")
    if not least <= value <= MOST:
        raise ValueError(f"{name} must be at least {least} and at most {MOST}, not {value}")
    return value


def _patterns(name, value):
    if value is None:
        return []
    if isinstance(value, (str, bytes)):
        raise TypeError(
            f"{name} must be a list of strings, not one string: write {name}=[{value!r}]"
        )
    try:
        patterns = list(value)
    except TypeError:
        raise TypeError(f"{name} must be a list of strings, not {value!r}") from None
    for pattern in patterns:
        if not isinstance(pattern, str):
            raise TypeError(f"{name} must hold strings only, not {pattern!r}")
        if not pattern or "\0" in pattern:
            raise ValueError(
                f"{name} must not hold {pattern!r}: it is a "
                f"substring of a path or of a function's name"
            )
    # If a name is not valid UTF-8, the engine escapes the name in the same way
    # (python/hooks/adopt.c).
    return [pattern.encode("utf-8", "backslashreplace").decode() for pattern in patterns]


def _number(name, value, meaning, most, hint=""):
    """Returns the value, a number above 0 that is at most the number in `most`."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{name} must be {meaning}, not {value!r}")
    if not 0 < value <= float(most):
        raise ValueError(
            f"{name} must be more than 0 and at most {most}{hint}, not {value}"
        )
    return float(value)


def _seconds(value):
    if value is None:
        return None
    return _number("output_seconds", value, "a number or None", "1e9")


def _events(value, mode):
    """Returns the mode, and the chosen events as a tuple in the order of EVENTS. If `mode`
    is not None, its events are among them. Only precise mode has the event "opcode", which
    shows all that "branch" shows."""
    if value is None:
        mode = mode or "adaptive"
        return mode, MODES[mode]
    names = value.split(",") if isinstance(value, str) else _patterns("events", value)
    chosen = {"call", *MODES.get(mode, ())}
    for name in map(str.strip, names):
        if name not in EVENTS and name not in MODES:
            raise ValueError(
                f"events must hold names out of {', '.join((*EVENTS, *MODES))}, "
                f"not {name!r}"
            )
        chosen.update(MODES.get(name, (name,)))
    if "opcode" in chosen:
        mode = "precise"
        chosen.discard("branch")
    return mode or "adaptive", tuple(name for name in EVENTS if name in chosen)


def _budget(value, serve):
    if value is None:
        return DEFAULT_BUDGET if serve else None
    meaning = "a number, a share of CPU time such as 0.01"
    return _number("overhead_budget", value, meaning, "1", " (0.01 is one per cent)")


def _is_device(path):
    """Returns True for a character device such as /dev/null. The output is written into a
    device directly, without a temporary file in the device's folder."""
    with contextlib.suppress(OSError):
        return stat.S_ISCHR(os.stat(path).st_mode)
    return False


def _signal():
    """Returns the number of the sampler's signal from $OCULAR_SIGNAL, which holds a number,
    a name such as RTMIN+5 or SIGURG, or "none". Returns 0 if the variable is not set and -1
    for "none"."""
    text = os.environ.get("OCULAR_SIGNAL", "")
    if not text:
        return 0
    if text.lower() == "none":
        return -1
    # `signal` is imported late, because this import takes as long as all other imports
    # together.
    import signal

    name, _, more = text.upper().removeprefix("SIG").partition("+")
    number = getattr(signal, "SIG" + name, None) or (int(name) if name.isdecimal() else 0)
    number += int(more) if more.isdecimal() else 0
    if not 0 < number < signal.NSIG or number in (signal.SIGKILL, signal.SIGSTOP):
        raise ValueError(
            f"OCULAR_SIGNAL={text} is no signal that a program can handle: give a "
            f"number or a name such as RTMIN+5, or none for no signal at all"
        )
    return int(number)


def _spill(folder):
    """Checks the directory for spilled timelines. Returns the directory's absolute path,
    None or False."""
    if folder is None or folder is False:
        return folder
    try:
        path = os.path.abspath(os.fsdecode(folder))
    except TypeError:
        raise TypeError(
            f"timeline_spill must be a directory's path, None or False, not {folder!r}"
        ) from None
    if "\0" in path:
        raise ValueError("timeline_spill must not hold a null character")
    if not os.path.isdir(path):
        raise NotADirectoryError(f"timeline_spill: {path} is no directory; make it first")
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(f"timeline_spill: no right to write in {path}")
    return path


STACKS = ".wall.folded"
# Suffixes of flame graphs, which Python makes from folded stacks.
PAGES = ".html", ".svg"


# Suffixes of all files that have stacks instead of a timeline.
OF_STACKS = *PAGES, ".folded", ".speedscope.json", ".pstats", ".pb"


def has_stacks(path):
    return path.removesuffix(".gz").endswith(OF_STACKS)


def page_ending(path):
    """Returns the suffix of a flame graph's name, such as ".svg.gz", or "" for another
    name."""
    # os.path is not used, because its calls would be traced.
    name = path.rpartition("/")[2]
    for ending in (*PAGES, *(f"{each}.gz" for each in PAGES)):
        if name.endswith(ending) and name != ending:
            return ending
    return ""


def first_file(path):
    """Returns the path that the extension writes for the output `path`. For a flame graph,
    returns the path of the folded stacks."""
    return path + STACKS if page_ending(path) else path


STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def check_output(path):
    """Returns the absolute path of the output. Raises an error if the output cannot be
    written."""
    try:
        path = os.fsdecode(path)
    except TypeError:
        raise TypeError(f"output must be a path, not {path!r}") from None
    if "\0" in path:
        raise ValueError("output must not hold a null character")
    if path in STDOUT:
        raise ValueError(
            f"output must not be {path!r}: stdout belongs to the program; "
            f"name a file (./- for one of that name)"
        )
    if path.endswith(".ocular.gz"):
        raise ValueError("output must not be a packed recording: name it x.ocular")
    path = os.path.abspath(path)
    if os.path.isdir(path):
        raise IsADirectoryError(f"output: {path} is a directory; name a file")
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            f"output: the directory {folder} does not exist; make it first"
        )
    if _is_device(path):
        if not os.access(path, os.W_OK):
            raise PermissionError(f"output: no right to write to {path}")
        return path
    try:
        os.lstat(path)
    except FileNotFoundError:
        pass
    except OSError as error:  # most likely the name is too long
        raise OSError(error.errno, f"output: {error.strerror}", path) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(
            f"output: no right to write in {folder}; choose another output="
        )
    return path


def check(**arguments):
    """Returns the Settings for the arguments of start_tracing(). Raises TypeError,
    ValueError or OSError with a message that names the argument and the accepted values."""
    asked = Settings(**arguments)
    if not isinstance(asked.mode, (str, type(None))):
        raise TypeError(f"mode must be a string, not {asked.mode!r}")
    if asked.mode is not None and asked.mode not in MODES:
        raise ValueError(f"mode must be 'adaptive' or 'precise', not {asked.mode!r}")
    mode, events = _events(asked.events, asked.mode)
    threshold = _whole("deinstrument_threshold", asked.deinstrument_threshold, 0)
    budget = asked.overhead_budget
    if budget is not None and threshold == 0:
        raise ValueError(
            "overhead_budget cannot be held together with "
            "deinstrument_threshold=0, which never takes a hook "
            "out: give one of the two"
        )
    if budget is not None and mode == "precise":
        cause = "mode='precise'" if asked.mode == "precise" else "events='opcode'"
        raise ValueError(
            "overhead_budget cannot be held together with "
            f"{cause}, where every instruction is hooked "
            "and the overhead is measured: give one of the two"
        )
    perfetto = _flag("perfetto", asked.perfetto)
    instructions = _flag("timeline_instructions", asked.timeline_instructions)
    if instructions and not (perfetto and mode == "precise"):
        raise ValueError(
            "timeline_instructions=True takes mode='precise', where instructions are "
            "hooked, and a timeline (perfetto)"
        )
    serve = _flag("serve", asked.serve)
    output = check_output(asked.output) if perfetto else os.fspath(asked.output)
    spill = _spill(asked.timeline_spill)
    if spill is None and perfetto and threshold == 0 and not _is_device(output):
        spill = os.path.dirname(output)
    return asked._replace(
        mode=mode,
        exclude=_patterns("exclude", asked.exclude),
        include_only=_patterns("include_only", asked.include_only),
        overhead_budget=_budget(budget, serve and threshold and mode != "precise"),
        output=output,
        timeline_limit=_whole("timeline_limit", asked.timeline_limit, LEAST_TIMELINE),
        timeline_spill=spill or None,
        spill_asked=bool(asked.timeline_spill),
        output_seconds=_seconds(asked.output_seconds),
        quiet=_flag("quiet", asked.quiet),
        report=not serve if asked.report is None else _flag("report", asked.report),
        children=_children(asked.children),
        stall_ms=_number("stall_ms", asked.stall_ms, "a number of milliseconds", "1e6"),
        events=events,
        native=_flag("native", asked.native),
        signal=_signal(),
    )


def check_serve(perfetto=True, **settings):
    """Returns the Settings for the arguments of serve(). With the settings of serve(), no
    file is written at the end, and nothing is printed."""
    checked = check(perfetto=False, serve=True, quiet=True, **settings)
    return checked._replace(perfetto=_flag("perfetto", perfetto))
