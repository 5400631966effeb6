# SPDX-License-Identifier: MIT
"""Ocular: `top` for the CPython evaluation loop.

    import ocular
    ocular.start_tracing(serve=True)    # then: ocular-top --pid ...
    ...
    ocular.stop_tracing()

    ocular.serve()      # or OCULAR_SERVE=1: listens, and traces while you look

All functions may be called from any thread. Nothing is ever printed on stdout.
"""

import sys

# Up to the last of these checks, and for a compiler, this file is Python 3.8. An error with
# the package's name is one line of `python -m ocular`, without a traceback.
if not sys.platform.startswith("linux"):
    raise ImportError(
        "Ocular works on Linux only, and this is %s" % sys.platform, name=__name__
    )
if sys.version_info < (3, 12) or sys.implementation.name != "cpython":
    raise ImportError(
        "Ocular needs CPython 3.12 or newer (sys.monitoring), and this is %s %d.%d"
        % (sys.implementation.name, *sys.version_info[:2]),
        name=__name__,
    )
if "t" in sys.abiflags or "d" in sys.abiflags:
    raise ImportError(
        "Ocular does not work on a %s build of CPython: "
        "run it with a usual build of Python %d.%d"
        % ("free-threaded" if "t" in sys.abiflags else "debug", *sys.version_info[:2]),
        name=__name__,
    )

from . import _path  # noqa: F401, before all others

# isort: split

import _thread
import atexit
import contextlib
import functools
import os
import warnings


def _explain(error):
    """Raises why the extension cannot be loaded, if more can be said than `error`."""
    from importlib.machinery import EXTENSION_SUFFIXES

    folder = os.path.dirname(os.path.abspath(__file__))
    there = [name for name in os.listdir(folder) if name.startswith("_ocular.")]
    if not any("_ocular" + suffix in there for suffix in EXTENSION_SUFFIXES):
        raise ImportError(
            f"Ocular in {folder} was compiled for another Python ({', '.join(there)}), and "
            f"not for {sys.executable} ({EXTENSION_SUFFIXES[0]}): install it for this one"
        ) from error
    if "cannot open shared object file" in str(error):
        raise ImportError(
            f"Ocular needs a shared library that is not on this machine: {error}; install "
            "it, or Ocular from a wheel of `make wheel`, which holds all of them"
        ) from error


try:
    # The last is for the extension: imported at the start, it could find a lock of
    # the import system that a thread of the parent held when this process was forked.
    from . import _ocular, _probes, _progress, _settings  # noqa: F401
    from ._marks import mark, span
    from ._ocular import __version__
except ImportError as error:
    _explain(error)
    raise


def _check_frames():
    """ImportError if CPython's frames are not as this was compiled for: a function's,
    a generator's, and those below."""

    def generator():
        yield _ocular.check_frames()

    next(generator())


_check_frames()

__all__ = [
    "__version__",
    "export",
    "is_tracing",
    "mark",
    "serve",
    "snapshot",
    "span",
    "start_tracing",
    "stop_serving",
    "stop_tracing",
    "traced",
    "tracing",
]

_GRACE_S = 5  # for a viewer to come back and find the numbers as they were
# A program may drop this package from sys.modules and import it again while it is
# traced: what has to outlive that is kept by the extension.
_kept = _ocular.kept()
_kept.setdefault("running", _settings.Settings())  # the newest trace's settings
_kept.setdefault("serving", None)  # those of a viewer's trace, after serve()
_kept.setdefault("warned of the JIT", False)


def start_tracing(
    mode="adaptive",
    perfetto=True,
    deinstrument_threshold=_settings.DEFAULT_THRESHOLD,
    exclude=None,
    include_only=None,
    serve=False,
    overhead_budget=None,
    output=_settings.DEFAULT_OUTPUT,
    timeline_limit=_settings.DEFAULT_TIMELINE_LIMIT,
    timeline_spill=None,
    output_seconds=_settings.DEFAULT_OUTPUT_SECONDS,
    quiet=False,
    children=False,
    timeline_instructions=False,
    report=None,
):
    """Start tracing this process: all threads, until stop_tracing().

    mode                    "adaptive": functions and blocks. "precise": every
                            instruction too; what it takes is that of its
                            generic form, since CPython does not specialise an
                            instruction that has a hook. Many times slower
                            while the hooks are in.
    perfetto                keep a timeline, and write it on stop.
    deinstrument_threshold  hits after which a site's hook is taken out;
                            0 = never.
    exclude, include_only   lists of substrings of a file's path (also with "."
                            for "/") or of a qualified name; exclude wins.
    serve                   answer ocular-top on a Unix socket. Always so
                            where serve() was called before.
    overhead_budget         share of the CPU time that the program uses, counted
                            as at least a fifth of one core, that tracing may
                            cost: 0.01 if it is served, else none. Under a
                            budget the threshold counts hits within a second,
                            and floats. None can be held with a threshold of 0,
                            or in precise mode.
    output                  the timeline's file: JSON or, if the name ends in
                            ".pftrace", Perfetto's own format, which is smaller
                            and faster; ".gz" compresses either. If the name
                            has an ending of a profile, as in export(), the
                            sampled stacks are written and no timeline is kept.
                            ".ocular" keeps the recording, for `ocular convert`.
                            Until the output is written the recording is beside
                            it, with the process id in its name, so that a
                            killed program leaves it.
                            A file that exists is never overwritten: the process
                            id is put into the name instead.
    timeline_limit          bytes of timeline kept in memory; the oldest part
                            is forgotten, or spilled. JSON has 8 to 15 times as many,
                            depending on the length of names and paths: less
                            than 100 MB with the default of 6 MiB, which holds
                            the newest 390 000 calls, returns and iterations;
                            ".pftrace" has about as many.
    timeline_spill          a directory: the recording is there, and takes the
                            events that the limit has no room for, 6 to 9 bytes
                            each, until its file system has only a twentieth (or
                            1 GiB) left. With a threshold of 0, where no event
                            is lost, None is the directory of the output.
                            False: forget them instead.
    output_seconds          the time that writing the timeline may take when the
                            interpreter exits; None: as long as it takes.
                            If all would take longer, or the disk is full, the
                            recording stays. stop_tracing() has no such limit.
    quiet                   no report and no progress on stderr at stop.
    report                  the whole report at stop; False: five lines of it at
                            most; None: five if it is served.
    children                the number of forked children that may write
                            timelines of their own when they end, with their
                            process ids in the names; True: 8. Children are
                            traced if this process is served. From others, and
                            with False, only a viewer can have one written.
    timeline_instructions   in precise mode: the timeline has a slice for each
                            instruction that runs, within its call's: 16 bytes
                            of memory each, and some 200 of JSON.

    Raises TypeError, ValueError or OSError for a bad argument, RuntimeError
    if tracing cannot start (already tracing, no free tool id, no place for
    the socket); nothing is traced then.
    """
    if serve is False and _kept["serving"] is not None:
        serve = True
    settings = _settings.check(
        mode,
        perfetto,
        deinstrument_threshold,
        exclude,
        include_only,
        serve,
        overhead_budget,
        output,
        timeline_limit,
        timeline_spill,
        output_seconds,
        quiet,
        children,
        timeline_instructions,
        report,
    )
    if _kept["serving"] is not None and not _ocular.is_serving():
        # A child that has not come to it yet.
        with contextlib.suppress(Exception):
            _ocular.serve(_arm, _GRACE_S)
    _start(settings)


def _start(settings, by=_ocular.BY_PROGRAM):
    budget = settings.overhead_budget
    _warn_of_jit()
    _ocular.start(
        settings.mode,
        settings.perfetto,
        settings.timeline_limit,
        settings.timeline_instructions,
        os.fsencode(settings.timeline_spill or ""),
        settings.spill_asked,
        settings.deinstrument_threshold,
        settings.exclude,
        settings.include_only,
        settings.serve,
        settings.signal,
        float("nan") if budget is None else budget,
        os.fsencode(_settings.first_file(settings.output)),
        _command(),
        by,
    )
    _kept["running"] = settings
    if settings.children and by == _ocular.BY_PROGRAM:
        _ocular.child_files_begin()


def _warn_of_jit():
    """Once a process; turned into an error it prevents the start."""
    jit = getattr(sys, "_jit", None)
    if _kept["warned of the JIT"] or jit is None or not jit.is_enabled():
        return
    warnings.warn(
        "CPython's JIT is on, and together with sys.monitoring, which Ocular "
        "is built on, it can give a program wrong values (CPython issue "
        "gh-156319): turn it off with PYTHON_JIT=0 in the environment",
        RuntimeWarning,
        skip_file_prefixes=(os.path.dirname(__file__),),
    )
    _kept["warned of the JIT"] = True


def _command():
    """The program and its arguments, as a viewer shows them: `script.py a`, or
    `-m module a`."""
    words = list(getattr(sys, "argv", ()))
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    # A directory and a zip archive are run as a module of that name.
    if spec is not None and words and spec.name not in ("__main__", "ocular.__main__"):
        words[:1] = ["-m", spec.name.removesuffix(".__main__")]
    text = " ".join(map(str, words)) or "python"
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _say(text):
    """One message on stderr, which may be gone by now."""
    with contextlib.suppress(Exception):
        sys.stderr.write(text)
        sys.stderr.flush()


def stop_tracing():
    """Stop tracing, write the timeline, print the report on stderr.

    Returns the final snapshot (a dict, see snapshot()), or None if nothing was
    traced. Also runs by itself when the interpreter exits. If serve() was
    called, the process goes on serving, idly.

    If writing takes more than a second, stderr has a line about its progress.
    An exception of a signal handler (Ctrl-C) ends the writing: no timeline is
    left, the trace is over all the same, and the exception is raised.
    """
    return _stop(0)


def _stop(seconds):
    _Shared.running = None
    progress = None if _kept["running"].quiet else _progress.Progress(_say)
    make_page = _page_maker(_kept["running"].output)
    result = _ocular.stop(progress, seconds, not _kept["running"].report, make_page)
    if result is None:
        return None
    final, report, _, trouble, interruption = result
    if progress is not None:
        progress.end()
    if not _kept["running"].quiet:  # what a thread was starting is through by now
        _say(report)
        _say_of_children(_kept["running"].children)
    for line in (trouble or "").splitlines():
        _say(f"ocular: {line}\n")
    if interruption is not None:
        raise interruption
    return final


def _page_maker(output):
    """The function that makes a flame graph of the stacks that were written; None: these
    are wanted themselves."""
    ending = _settings.page_ending(output)
    if not ending:
        return None

    def make_page(path, snapshot):
        from . import _flame_file

        return _flame_file.make_page(ending, _say, path, snapshot)

    return make_page


def _say_of_children(most):
    asked = _ocular.child_files() if most else 0
    if asked > most:
        _say(
            f"ocular: {most} forked children write timelines, {asked - most} more do not "
            f"(children={most})\n"
        )


def snapshot():
    """All figures as they are now: a dict of the same shape as
    `ocular-top --once --json` (shares are fractions 0..1, times in seconds,
    cycles in ticks of the time stamp counter; None = not measured).

    Raises RuntimeError if nothing is traced.
    """
    return _ocular.snapshot()


def export(path):
    """Write the timeline to `path` now and go on tracing: JSON, or Perfetto's own
    format if the path ends in ".pftrace"; or the sampled stacks of the run
    if it ends in ".folded", ".speedscope.json", ".pstats" or ".pb" (pprof), or
    a flame graph of these: ".html", a page in one file, or ".svg".
    ".gz" behind any of them compresses. A file there is replaced, once the new
    one is whole.

    Returns the file's size in bytes. Raises RuntimeError if nothing is
    traced, no timeline is kept (perfetto=False) or nothing is sampled, OSError
    if the file cannot be written.
    """
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("path must not hold a null character")
    if _settings.page_ending(name.decode("utf-8", "surrogateescape")):
        from . import _flame_file

        return _flame_file.export(os.fsdecode(name))
    return _ocular.export(name)


def is_tracing():
    """Whether this process is being traced (after serve(): whether hooks are
    in at this moment)."""
    return _ocular.is_tracing()


def serve(
    mode="adaptive",
    perfetto=True,
    deinstrument_threshold=_settings.DEFAULT_THRESHOLD,
    exclude=None,
    include_only=None,
    overhead_budget=None,
    timeline_limit=_settings.DEFAULT_TIMELINE_LIMIT,
    timeline_spill=None,
):
    """Listen for ocular-top and do nothing else: no hook, no sampler.

    Tracing starts when the first viewer attaches and stops 5 seconds after the
    last has left, without a report or a file; the arguments are those of
    start_tracing(), for these traces. With perfetto the viewer can export a
    timeline, which spills if a directory is given. Called again it changes
    the settings of the next trace.

    start_tracing() takes the socket over, viewers included; after
    stop_tracing() the process serves idly again. stop_serving(), or the
    interpreter's exit, ends it. A forked child serves idly on a socket of its
    own. The environment variable OCULAR_SERVE=1 does the same at
    `import ocular`.

    Raises as start_tracing() does; RuntimeError if a trace runs already, or
    if there is no place for the socket.
    """
    settings = _settings.check_serve(
        mode,
        perfetto,
        deinstrument_threshold,
        exclude,
        include_only,
        overhead_budget,
        timeline_limit,
        timeline_spill,
    )
    before = _kept["serving"]
    _kept["serving"] = settings  # a viewer may be there at once
    try:
        _ocular.serve(_arm, _GRACE_S)
    except BaseException:
        _kept["serving"] = before
        raise


def stop_serving():
    """End what serve() began; a trace that a viewer has started ends with it.
    Nothing happens where serve() was not called.

    Raises RuntimeError while a trace of the program's own runs:
    stop_tracing() first.
    """
    _ocular.stop_serving()
    _kept["serving"] = None


def _arm():
    """A viewer is there: on a thread of ours."""
    _start(_kept["serving"], _ocular.BY_ACTIVATION)


def _end():
    """At exit."""
    try:
        _stop(_kept["running"].output_seconds or 0)
    except KeyboardInterrupt:
        pass  # it has ended the writing, which stop_tracing() has said
    except MemoryError:
        _say("ocular: memory is out: no report\n")
    finally:
        stop_serving()


def _serve_if_asked():
    """OCULAR_SERVE=1. An import does not fail for this."""
    wish = os.environ.get("OCULAR_SERVE", "")
    try:
        if wish not in ("", "0", "1"):
            raise ValueError(f"it must be 1 or 0, not {wish!r}")
        if wish == "1":
            serve()
    except Exception as error:
        _say(f"ocular: warning: OCULAR_SERVE has no effect: {error}\n")


class _Shared:
    """A trace that `with tracing()` blocks, of any threads, share: the first block
    starts it, the last one stops it."""

    lock = _thread.RLock()  # held over starting and stopping
    running = None  # the present trace, if blocks have started it

    def __init__(self):
        self.blocks = 0

    @classmethod
    def enter(cls, settings):
        """The trace that this block is a part of; None if the trace is not ours."""
        with cls.lock:
            if not _ocular.is_tracing() or _ocular.is_armed():
                start_tracing(**settings)
                cls.running = cls()
            if cls.running is not None:
                cls.running.blocks += 1
            return cls.running

    def leave(self):
        with self.lock:
            self.blocks -= 1
            if self.blocks == 0 and _Shared.running is self:
                stop_tracing()


class _Block(contextlib.ContextDecorator):
    """What tracing() returns. It is no generator's: contextlib's code would run in the
    trace, and be listed beside the program's."""

    def __init__(self, settings):
        self.settings = settings
        self.entered = []

    def _recreate_cm(self):  # for each call of what it decorates
        return _Block(self.settings)

    def __enter__(self):
        self.entered.append(_Shared.enter(self.settings))

    def __exit__(self, *exception):
        shared = self.entered.pop()
        if shared is not None:
            shared.leave()


def tracing(**settings):
    """Trace a `with` block; the arguments are start_tracing's. Inside a trace
    that is running already it does nothing; where several threads are in such
    blocks, the trace ends with the last of them."""
    return _Block(settings)


def traced(function=None, /, **settings):
    """Trace every call of a function: a decorator, with or without
    start_tracing's arguments. A coroutine's or generator's trace lasts from
    its first step to its last."""
    if function is None:
        return functools.partial(traced, **settings)
    if not callable(function):
        raise TypeError(
            f"traced decorates a function, not {function!r}; give settings by name"
        )
    import inspect  # takes as long as to import all else here

    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def wrapper(*args, **kwargs):
            with tracing(**settings):
                return await function(*args, **kwargs)
    elif inspect.isasyncgenfunction(function):

        @functools.wraps(function)
        async def wrapper(*args, **kwargs):
            with tracing(**settings):
                async with contextlib.aclosing(function(*args, **kwargs)) as generator:
                    async for value in generator:
                        yield value
    elif inspect.isgeneratorfunction(function):

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with tracing(**settings):
                return (yield from function(*args, **kwargs))
    else:

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            with tracing(**settings):
                return function(*args, **kwargs)

    return wrapper


# The path is that of its code objects: with the ".." of the import path.
_ocular.set_package(os.path.dirname(_start.__code__.co_filename))
atexit.register(_end)


def _inherit(traces):
    """In a forked child of a process that serves, a moment after the fork: the
    child does so on a socket of its own, idly if the parent does, and is
    traced if the parent is and not for a viewer's sake."""
    # A child of multiprocessing ends without atexit.
    util = sys.modules.get("multiprocessing.util")
    if util is not None:
        util.Finalize(None, _end, exitpriority=-1000)
    if _kept["serving"] is not None:
        _ocular.serve(_arm, _GRACE_S)
    if traces:
        settings = _kept["running"]._replace(quiet=True, spill_asked=False)
        writes = settings.children and _ocular.child_files_take() < settings.children
        _start(settings, _ocular.BY_WRITING_CHILD if writes else _ocular.BY_CHILD)


def _after_fork():
    """In a forked child: no lock is held."""
    _Shared.lock = _thread.RLock()
    _Shared.running = None


_ocular.on_fork(_inherit)
os.register_at_fork(after_in_child=_after_fork)
if not _kept.setdefault("fork handlers", False):
    os.register_at_fork(
        before=_ocular.before_fork,
        after_in_parent=_ocular.after_fork_in_parent,
        after_in_child=_ocular.after_fork_in_child,
    )
    _kept["fork handlers"] = True
_serve_if_asked()
