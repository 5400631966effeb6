# SPDX-License-Identifier: MIT
"""Ocular: `top` for the CPython evaluation loop.

    import ocular
    ocular.start_tracing(serve=True)    # then: ocular-top --pid ...
    ...
    ocular.stop_tracing()

    ocular.serve()      # or OCULAR_SERVE=1: traces only while ocular-top is attached

Any thread may call these functions. Nothing is ever printed on stdout.
"""

import sys

# Python 3.8 must be able to compile this whole file, and to run it up to the last of the
# checks below. `python -m ocular` prints an ImportError with name=__name__ as one line,
# without a traceback.
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
    """Raises an ImportError with a clear reason, if the reason is known why the extension
    cannot be imported."""
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
    # The extension imports _probes when a trace starts. _probes is imported early,
    # because in a forked child a later import might wait for a lock that another thread
    # held at the fork.
    from . import _ocular, _probes, _progress, _settings  # noqa: F401
    from ._marks import mark, span
    from ._ocular import __version__
except ImportError as error:
    _explain(error)
    raise


def _check_frames():
    """Raises ImportError if the layout of CPython's frames differs from the layout for
    which the extension was compiled. The check reads the frames of a generator, of a
    function, and of the callers of both."""

    def generator():
        yield _ocular.check_frames()

    next(generator())


_check_frames()


def _namesake():
    """Returns a warning if the other project that PyPI calls `ocular` is installed into the
    same folder. Both have a package `ocular`, so the project that is installed or removed
    last replaces or removes files of the other."""
    folder = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    try:
        names = os.listdir(folder)
    except OSError:
        return None
    if any(name.startswith("ocular-") and name.endswith("-info") for name in names):
        return (
            f"the distribution 'ocular' in {folder} is another project, whose files are in "
            "Ocular's folder: run `pip uninstall ocular ocular-top`, then install "
            "ocular-top again"
        )
    return None


def _was_asked_for():
    """Returns False if Ocular comes into a program by an attach (load() in
    tui/attach/script.c) or by a .pth file of `ocular enable` or --follow."""
    frame, modules = sys._getframe(), []
    while frame is not None:
        modules.append(frame.f_globals.get("__name__"))
        frame = frame.f_back
    return __spec__.loader_state != "attaching" and "site" not in modules


if _namesake() and _was_asked_for():
    warnings.warn(_namesake(), RuntimeWarning, stacklevel=2)

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

_GRACE_S = 5  # Seconds in which a viewer may reconnect to the same trace.
# A program may remove this package from sys.modules and import it again while it is
# traced. The extension keeps the values that must outlive the second import.
_kept = _ocular.kept()
# The settings of the program's newest trace.
_kept.setdefault("running", _settings.Settings())
_kept.setdefault("serving", None)  # Settings of traces for viewers, set by serve().
_kept.setdefault("warned of the JIT", False)


def start_tracing(
    mode=None,
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
    stall_ms=_settings.DEFAULT_STALL_MS,
    events=None,
    native=False,
):
    """Start tracing all threads of this process, until stop_tracing().

    mode                    "adaptive" (default): count and time functions and
                            blocks.
                            "precise": every instruction, too. CPython does not
                            specialise an instruction that has a hook, so its
                            time is that of the generic form. The program is
                            many times slower while the hooks are in.
    perfetto                keep a timeline and write it at stop.
    deinstrument_threshold  number of hits after which a site's hook is taken
                            out; 0: never.
    exclude, include_only   lists of substrings of a file's path (also with "."
                            for "/") or of a qualified name. Code that matches
                            exclude, or does not match include_only, is not
                            traced; exclude wins.
    serve                   answer ocular-top on a Unix socket. Always true
                            after serve() was called.
    overhead_budget         share of the program's CPU time that tracing may
                            cost. A program that uses less than a fifth of one
                            core counts as using a fifth. None: 0.01 if the
                            trace is served, otherwise no limit. With a budget
                            the threshold counts hits per second, and adapts. A
                            budget cannot be combined with a threshold of 0 or
                            with precise mode.
    output                  the timeline's file. The format is JSON or, if the
                            name ends in ".pftrace", Perfetto's own, which is
                            smaller and faster. A further ".gz" compresses
                            either. If the name has the suffix of a profile, as
                            in export(), the sampled stacks are written and no
                            timeline is kept. ".ocular" keeps the recording for
                            `ocular convert`. While the program runs, the
                            recording is in the same directory, with the process
                            id in its name, and stays there if the program is
                            killed. A file that exists is never overwritten.
                            Instead, the new file's name gets the process id.
    timeline_limit          bytes of the timeline's recording, which is a file
                            if there is an output, otherwise memory. The oldest
                            part is forgotten, unless the file may grow. JSON
                            takes 20 to 40 times as many bytes, depending on the
                            length of names and paths, and ".pftrace" two or
                            three times as many. The default of 2.5 MiB holds
                            the newest 390 000 calls, returns and iterations, in
                            less than 100 MB of JSON.
    timeline_spill          a directory for the recording, which then also takes
                            the events beyond the limit, 6 to 9 bytes each,
                            until a twentieth of the file system, or 1 GiB, is
                            left, up to 2 100 million events. False: forget
                            these events. None: the directory of the output if the
                            threshold is 0, so that no event is lost, otherwise
                            the same as False.
    output_seconds          seconds that writing the output may take when the
                            interpreter exits; None: no limit. If writing would
                            take longer, or the disk is full, the recording
                            stays. stop_tracing() has no such limit.
    quiet                   print no report and no progress on stderr at stop.
    report                  True: print the whole report at stop. False: at most
                            five lines of it. None: five lines if the trace is
                            served, otherwise the whole report.
    children                number of forked children that may write timelines
                            of their own when they end, with their process ids
                            in the names; True: 8. Children are traced if this
                            process is served. Only a viewer can have the
                            timeline of another child written.
    timeline_instructions   in precise mode: the slice of a call contains a slice
                            for each instruction that runs. An instruction takes
                            16 bytes of memory and some 200 of JSON.
    stall_ms                milliseconds; a step of an event loop, or a C call
                            that keeps the GIL, that takes at least as long is a
                            stall and goes into the log.
    events                  what is hooked: names of events and of modes, as a
                            list or a string with commas. "call" is always
                            chosen. "c_call": C functions have rows of their
                            own. "exception": exceptions are counted. "line":
                            hits of lines. "branch": loops, blocks and how often
                            branches jump. "opcode": each instruction, which is
                            precise mode. "reference": births and deaths of
                            objects. None: the events of the mode: "adaptive"
                            is call, exception and branch, "precise" is call,
                            exception and opcode. If `mode` is given, too, its
                            events are added to the list.
    native                  samples also show which C functions run below a
                            Python function, with those of extensions and other
                            libraries. Flame graphs and files of stacks show
                            them, but not timelines. Ocular must be built with
                            elfutils.

    Raises TypeError, ValueError or OSError for a bad argument. Raises RuntimeError
    if the program is traced already, no tool id is free, or the socket cannot be
    made. Nothing is traced after an error.
    """
    if serve is False and _kept["serving"] is not None:
        serve = True
    settings = _settings.check(**locals())
    if _kept["serving"] is not None and not _ocular.is_serving():
        # A forked child may not have opened its socket yet.
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
        settings.stall_ms / 1000,
        ",".join(settings.events),
        settings.native,
        os.fsencode(_settings.first_file(settings.output)),
        _command(),
        by,
    )
    _kept["running"] = settings
    if settings.children and by == _ocular.BY_PROGRAM:
        _ocular.child_files_begin()


def _warn_of_jit():
    """Warns of CPython's JIT, once per process. If the program turns the warning into an
    error, the trace does not start."""
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
    """Returns the program and its arguments for viewers, as `script.py a` or `-m module
    a`."""
    words = list(getattr(sys, "argv", ()))
    spec = getattr(sys.modules.get("__main__"), "__spec__", None)
    # Python runs a directory or a zip archive as a module named __main__.
    if spec is not None and words and spec.name not in ("__main__", "ocular.__main__"):
        words[:1] = ["-m", spec.name.removesuffix(".__main__")]
    text = " ".join(map(str, words)) or "python"
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _say(text):
    """Writes a message to stderr. Ignores errors, because stderr may be closed."""
    with contextlib.suppress(Exception):
        sys.stderr.write(text)
        sys.stderr.flush()


def stop_tracing():
    """Stop tracing, write the timeline and print the report on stderr.

    Returns the final snapshot (a dict, see snapshot()), or None if nothing was traced.
    The interpreter's exit calls this function, too. After serve() viewers can still
    connect, and then a new trace begins.

    If writing takes more than a second, its progress is shown on stderr. If a signal
    handler raises an exception (Ctrl-C), writing ends and no timeline is left. The
    trace is stopped nevertheless, and the exception is raised.
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
    # The settings are read only here, after the stop. Another thread's start has ended by
    # now, and has stored its settings.
    if not _kept["running"].quiet:
        _say(report)
        _say_of_children(_kept["running"].children)
        _say_of_natives(_kept["running"])
    for line in (trouble or "").splitlines():
        _say(f"ocular: {line}\n")
    if interruption is not None:
        raise interruption
    return final


def _page_maker(output):
    """Returns the function that makes a flame graph of the folded stacks. Returns None
    if `output` is not a flame graph."""
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


def _say_of_natives(settings):
    timeline = settings.perfetto and not _settings.has_stacks(settings.output)
    if settings.native and timeline and not settings.serve:
        _say("ocular: a timeline has no C functions: --output x.html draws them\n")


def snapshot():
    """Return all figures as they are now, as a dict with the structure of `ocular-top
    --once --json`. Shares are fractions from 0 to 1, times are in seconds, cycles in
    ticks of the time stamp counter. A value that was not measured is None.

    Raises RuntimeError if nothing is traced.
    """
    return _ocular.snapshot()


def export(path):
    """Write the timeline to `path` now and go on tracing.

    The format is JSON, or Perfetto's own if the path ends in ".pftrace". If the path
    ends in ".folded", ".speedscope.json", ".pstats" or ".pb" (pprof), the sampled
    stacks are written instead. ".html" (a page in one file) and ".svg" are flame graphs
    of the stacks. A path that also ends in ".gz" is compressed. A file that exists is
    replaced after the new file is complete.

    Returns the file's size in bytes. Raises RuntimeError if nothing is traced, if no
    timeline is kept (perfetto=False) or if nothing is sampled, and OSError if the file
    cannot be written.
    """
    name = os.fsencode(path)
    if b"\0" in name:
        raise ValueError("path must not hold a null character")
    if _settings.page_ending(name.decode("utf-8", "surrogateescape")):
        from . import _flame_file

        return _flame_file.export(os.fsdecode(name))
    return _ocular.export(name)


def is_tracing():
    """Return True if this process is being traced. After serve() the result is True
    only while hooks are set."""
    return _ocular.is_tracing()


def serve(
    mode=None,
    perfetto=True,
    deinstrument_threshold=_settings.DEFAULT_THRESHOLD,
    exclude=None,
    include_only=None,
    overhead_budget=None,
    timeline_limit=_settings.DEFAULT_TIMELINE_LIMIT,
    timeline_spill=None,
    stall_ms=_settings.DEFAULT_STALL_MS,
    events=None,
    native=False,
):
    """Listen for ocular-top without setting any hook or starting the sampler.

    Tracing starts when the first viewer attaches. Tracing stops 5 seconds after the
    last viewer has left, without a report or a file. The arguments are those of
    start_tracing() and apply to the traces for viewers. With perfetto the viewer can
    export a timeline, which spills if timeline_spill names a directory. Another call of
    serve() changes the settings of the next trace.

    start_tracing() takes over the socket and its viewers. After stop_tracing() viewers can
    still connect, until stop_serving() or the interpreter's exit. Viewers can also connect
    to a forked child, which has its own socket. The environment variable OCULAR_SERVE=1
    acts like serve() at `import ocular`.

    Raises the errors of start_tracing(). Raises RuntimeError if the program runs a
    trace already, or if the socket cannot be made.
    """
    settings = _settings.check_serve(**locals())
    before = _kept["serving"]
    # The settings are stored before _ocular.serve(), because a viewer may connect at once.
    _kept["serving"] = settings
    try:
        _ocular.serve(_arm, _GRACE_S)
    except BaseException:
        _kept["serving"] = before
        raise


def stop_serving():
    """End what serve() has begun, and the trace that a viewer has started. Does
    nothing if serve() was not called.

    Raises RuntimeError while the program's own trace runs: call stop_tracing()
    first.
    """
    _ocular.stop_serving()
    _kept["serving"] = None


def _arm():
    """Starts a trace for a viewer. The activation thread calls this function."""
    _start(_kept["serving"], _ocular.BY_ACTIVATION)


def _end():
    """Stops tracing and serving when the interpreter exits."""
    try:
        _stop(_kept["running"].output_seconds or 0)
    except KeyboardInterrupt:
        pass  # The Ctrl-C has ended the writing, and _stop() has reported it.
    except MemoryError:
        _say("ocular: memory is out: no report\n")
    finally:
        stop_serving()


def _serve_if_asked():
    """Serves if OCULAR_SERVE=1. Prints a warning instead of making the import fail."""
    request = os.environ.get("OCULAR_SERVE", "")
    try:
        if request not in ("", "0", "1"):
            raise ValueError(f"it must be 1 or 0, not {request!r}")
        if request == "1":
            serve()
    except Exception as error:
        _say(f"ocular: warning: OCULAR_SERVE has no effect: {error}\n")


class _Shared:
    """Represents the trace that the `with tracing()` blocks of all threads share. The first
    block starts the trace, and the last block stops it."""

    lock = _thread.RLock()  # Held while a trace is started or stopped.
    running = None  # the current trace if a block has started the trace, else None

    def __init__(self):
        self.blocks = 0

    @classmethod
    def enter(cls, settings):
        """Adds a block to the shared trace. Returns the trace that the block shares, or
        None if the program runs its own trace."""
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
    """The context manager that tracing() returns. If _Block were a generator with
    contextlib, contextlib's code would run inside the trace and be listed."""

    def __init__(self, settings):
        self.settings = settings
        self.entered = []

    # contextlib calls _recreate_cm at each call of a decorated function.
    def _recreate_cm(self):
        return _Block(self.settings)

    def __enter__(self):
        self.entered.append(_Shared.enter(self.settings))

    def __exit__(self, *exception):
        shared = self.entered.pop()
        if shared is not None:
            shared.leave()


def tracing(**settings):
    """Trace a `with` block. The arguments are those of start_tracing().

    The block has no effect if the program runs a trace already. If several threads are in
    `with tracing()` blocks, the trace ends with the last block.
    """
    return _Block(settings)


def traced(function=None, /, **settings):
    """Trace every call of a function. This decorator can be used with and without the
    arguments of start_tracing(). The trace of a coroutine or a generator lasts from its
    first step to its last step."""
    if function is None:
        return functools.partial(traced, **settings)
    if not callable(function):
        raise TypeError(
            f"traced decorates a function, not {function!r}; give settings by name"
        )
    import inspect  # this import takes as long as all others together

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


def load_ipython_extension(shell):
    """Adds %ocular and %%ocular to IPython: `%load_ext ocular`."""
    from . import _notebook

    shell.register_magics(_notebook.OcularMagics)


# The path of the package must be spelled as in Ocular's code objects, including any ".." in
# the import path.
_ocular.set_package(os.path.dirname(_start.__code__.co_filename))
atexit.register(_end)


def _inherit(traces):
    """If viewers could connect to the parent, starts serving in a forked child, 100 ms
    after the fork. If the parent waits for viewers without tracing, the child does the
    same. If `traces` is true, viewers could connect to the parent's own trace, so the child
    is traced at once."""
    # A child process of multiprocessing ends without running atexit functions.
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
    """Makes a new lock in a forked child, because another thread may have held the old
    lock."""
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
