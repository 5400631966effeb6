# SPDX-License-Identifier: MIT
"""The arguments of start_tracing(): checked once, here, with clear words."""

import contextlib
import math
import os
import stat
from collections import namedtuple

MODES = ("adaptive", "precise")
DEFAULT_THRESHOLD = 500
DEFAULT_OUTPUT = "ocular_trace.json"
# An event is 16 bytes here and 127 to 226 bytes of JSON, the most if names and
# paths are long: so the file stays below 100 MB.
DEFAULT_TIMELINE_LIMIT = 6 << 20
DEFAULT_CHILDREN = 8
DEFAULT_OUTPUT_SECONDS = 10.0
DEFAULT_BUDGET = 0.01  # of CPU time, when serving
LEAST_TIMELINE = 1 << 20
MOST = (1 << 62) - 1  # of any number: the engine's are 64 bits


_DEFAULTS = dict(
    mode="adaptive",
    perfetto=True,
    deinstrument_threshold=DEFAULT_THRESHOLD,
    exclude=[],
    include_only=[],
    serve=False,
    overhead_budget=None,
    output=DEFAULT_OUTPUT,
    timeline_limit=DEFAULT_TIMELINE_LIMIT,
    timeline_instructions=False,
    timeline_spill=None,
    output_seconds=DEFAULT_OUTPUT_SECONDS,
    spill_asked=False,  # timeline_spill was given: an error if it does not do
    quiet=False,
    report=True,
    children=False,
    signal=0,  # that samples come by; 0: any that is free, -1: none
)


# No dataclass: to import that took as long as all else of this package.
class Settings(namedtuple("Settings", _DEFAULTS, defaults=_DEFAULTS.values())):
    """The settings of a trace; see ocular.start_tracing for the meanings."""

    __slots__ = ()


def _flag(name, value):
    if not isinstance(value, bool):
        raise TypeError(f"{name} must be True or False, not {value!r}")
    return value


def _children(value):
    """The number of children that may write."""
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
    # The engine spells names that are no UTF-8 in this way (python/hooks/adopt.c).
    return [pattern.encode("utf-8", "backslashreplace").decode() for pattern in patterns]


def _seconds(value):
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"output_seconds must be a number or None, not {value!r}")
    if not 0 < value <= 1e9:
        raise ValueError(f"output_seconds must be more than 0 and at most 1e9, not {value}")
    return float(value)


def _budget(value, serve):
    if value is None:
        return DEFAULT_BUDGET if serve else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(
            f"overhead_budget must be a number, a share of CPU "
            f"time such as 0.01, not {value!r}"
        )
    if not (math.isfinite(value) and 0 < value <= 1):
        raise ValueError(
            f"overhead_budget must be more than 0 and at most "
            f"1 (0.01 is one per cent), not {value}"
        )
    return float(value)


def _is_device(path):
    """As /dev/null: it is written to, and nothing is put beside it."""
    with contextlib.suppress(OSError):
        return stat.S_ISCHR(os.stat(path).st_mode)
    return False


def _signal():
    """$OCULAR_SIGNAL: the number of the signal that samples come by, or a name such as
    RTMIN+5 or SIGURG; "none" for no signal at all."""
    text = os.environ.get("OCULAR_SIGNAL", "")
    if not text:
        return 0
    if text.lower() == "none":
        return -1
    import signal  # its enumerations take as long as all else of this package

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
    """The directory's absolute path, None, or False."""
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


STACKS = ".folded"
PAGES = ".html", ".svg"  # flame graphs, which Python makes of folded stacks


def page_ending(path):
    """The ending of such a name, ".gz" and all; "": it is another one."""
    name = path.rpartition("/")[2]  # no call of os.path's, which would be traced
    for ending in (*PAGES, *(f"{each}.gz" for each in PAGES)):
        if name.endswith(ending) and name != ending:
            return ending
    return ""


def first_file(path):
    """The path that the extension writes to, if this one is wanted in the end."""
    return path + STACKS if page_ending(path) else path


STDOUT = ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def check_output(path):
    """The absolute path the timeline goes to, if it can be written there."""
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
    except OSError as error:  # the name is too long, most likely
        raise OSError(error.errno, f"output: {error.strerror}", path) from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise PermissionError(
            f"output: no right to write in {folder}; choose another output="
        )
    return path


def check(
    mode="adaptive",
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
):
    """Settings out of start_tracing's arguments, or TypeError, ValueError or
    OSError that names the argument and what is accepted."""
    if not isinstance(mode, str):
        raise TypeError(f"mode must be a string, not {mode!r}")
    if mode not in MODES:
        raise ValueError(f"mode must be 'adaptive' or 'precise', not {mode!r}")
    threshold = _whole("deinstrument_threshold", deinstrument_threshold, 0)
    if overhead_budget is not None and threshold == 0:
        raise ValueError(
            "overhead_budget cannot be held together with "
            "deinstrument_threshold=0, which never takes a hook "
            "out: give one of the two"
        )
    if overhead_budget is not None and mode == "precise":
        raise ValueError(
            "overhead_budget cannot be held together with "
            "mode='precise', where every instruction is hooked "
            "and the overhead is measured: give one of the two"
        )
    perfetto = _flag("perfetto", perfetto)
    instructions = _flag("timeline_instructions", timeline_instructions)
    if instructions and not (perfetto and mode == "precise"):
        raise ValueError(
            "timeline_instructions=True takes mode='precise', where instructions are "
            "hooked, and a timeline (perfetto)"
        )
    serve = _flag("serve", serve)
    budget = _budget(overhead_budget, serve and threshold != 0 and mode != "precise")
    output = check_output(output) if perfetto else os.fspath(output)
    spill = _spill(timeline_spill)
    if spill is None and perfetto and threshold == 0 and not _is_device(output):
        spill = os.path.dirname(output)
    return Settings(
        mode=mode,
        perfetto=perfetto,
        deinstrument_threshold=threshold,
        exclude=_patterns("exclude", exclude),
        include_only=_patterns("include_only", include_only),
        serve=serve,
        overhead_budget=budget,
        output=output,
        timeline_limit=_whole("timeline_limit", timeline_limit, LEAST_TIMELINE),
        timeline_instructions=instructions,
        timeline_spill=spill or None,
        spill_asked=bool(timeline_spill),
        output_seconds=_seconds(output_seconds),
        quiet=_flag("quiet", quiet),
        report=not serve if report is None else _flag("report", report),
        children=_children(children),
        signal=_signal(),
    )


def check_serve(
    mode,
    perfetto,
    deinstrument_threshold,
    exclude,
    include_only,
    overhead_budget,
    timeline_limit,
    timeline_spill,
):
    """The same for serve's: nothing is written by itself, and nothing said."""
    settings = check(
        mode,
        False,
        deinstrument_threshold,
        exclude,
        include_only,
        True,
        overhead_budget,
        timeline_limit=timeline_limit,
        timeline_spill=timeline_spill,
        quiet=True,
    )
    return settings._replace(perfetto=_flag("perfetto", perfetto))
