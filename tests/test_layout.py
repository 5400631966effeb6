# SPDX-License-Identifier: MIT
"""Tests the architecture. The rules say which folder may include which other folder, and
which files may include a foreign header (docs/hacking.md). The tests only read the sources,
so nothing needs to be built."""

import re
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("ipc", "tracer", "formats", "python", "tui")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)

# Maps a folder to the other folders whose headers it may include.
MAY_INCLUDE = {
    "ipc": set(),
    "tracer": {"ipc"},
    "formats": {"ipc", "tracer"},
    "python": {"ipc", "tracer"},
    "tui": {"ipc", "formats"},
}

# Maps two folders to the only headers of the second one that the first one may include.
ALONE = {
    ("tui", "formats"): {
        f"formats/{n}.h" for n in "summary live_export native_names".split()
    }
}

# Maps each room of a folder to the other rooms whose headers it may include. A room is a
# subfolder, or "" for files outside of the subfolders. Each file must be in a room.
ROOMS = {
    "ipc": {"base": set(), "": {"base"}},
    "tracer": {
        "base": set(),
        "code": {"base"},
        "timeline": {"base", "code"},
        "budget": {"base", "code"},
        "sample": {"base", "code"},
        "hook": {"base", "code", "timeline"},
        "session": {"base", "code", "timeline", "budget", "sample", "hook"},
    },
    "python": {"hooks": set(), "service": {"hooks"}, "module": {"hooks", "service"}},
    "tui": {
        "text": set(),
        "screen": {"text"},
        "model": {"text"},
        "attach": {"model"},
        "views": {"text", "screen", "model"},
        "app": {"text", "screen", "model", "attach", "views"},
    },
}

FUNCTION_LINES = 60

# Maps a pattern of other libraries' headers to the files that may include them. All other
# headers in <> must belong to the C library.
HOMES = {
    r"n?curses(w/.*)?\.h|ncurses.*|term\.h": {"tui/screen/terminal.c"},
    r"json-c/.*|json\.h|json_.*": {"formats/json_tree.h", "tui/model/json.c"},
    r"elfutils/.*|gelf\.h|dwarf\.h": {"formats/elfutils.h", "formats/native_rows.c"},
    r"urcu.*|sanitizer/.*": {"tracer/base/rcu.c"},
    r"sys/socket\.h|sys/un\.h": {"ipc/socket.c"},
    # these headers take long to compile, and __builtin_ia32_... works without them
    r".*intrin\.h": set(),
    r"cpuid\.h": {"tracer/base/clock.c", "tui/attach/sigframe.c"},
    r"sys/user\.h": {"tui/attach/sigframe.c"},
    r"zlib\.h": {"formats/output.c", "tui/model/archive.c"},
    r"Python\.h|structmember\.h|cpython/.*": {"python/*"},
    r"internal/.*": {
        "python/hooks/gil_facts.c",
        "python/hooks/await_chain.c",
        "python/service/missed_signals.c",
    },
}

# These headers belong to the C library, POSIX and Linux.
LIBC = re.compile(
    r"assert|ctype|dirent|dlfcn|elf|endian|errno|fcntl|fenv|float|fnmatch|glob|grp|inttypes|"
    r"langinfo|limits|link|locale|math|poll|pthread|pwd|sched|semaphore|setjmp|"
    r"signal|stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|"
    r"stdnoreturn|string|strings|syscall|termios|threads|time|ucontext|unistd|"
    r"wchar|wctype|getopt|"
    r"linux/\w+|sys/(auxv|epoll|eventfd|file|fsuid|inotify|ioctl|mman|param|prctl|ptrace|"
    r"random|resource|sendfile|signalfd|stat|statvfs|syscall|time|timerfd|types|uio|un|utsname|"
    r"vfs|wait|xattr)"
)


def sources():
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.[ch]"))


def includes(text):
    """Returns the names of (Ocular's headers, foreign headers) that a source text
    includes."""
    ours, foreign = [], []
    for quote, name in INCLUDE.findall(text):
        (ours if quote == '"' else foreign).append(name)
    return ours, foreign


def complaints(name, text):
    """Returns the includes of a file that are not allowed. `name` is relative to the
    root."""
    folder = name.split("/")[0]
    ours, foreign = includes(text)
    found = []
    for header in ours:
        other = header.split("/")[0]
        if "/" not in header or other not in FOLDERS:
            found.append(f'{name}: "{header}" is not written from the root')
        elif (other != folder and other not in MAY_INCLUDE[folder]) or (
            header not in ALONE.get((folder, other), {header})
        ):
            found.append(f"{name}: {folder}/ must not include {header}")
        elif other == folder and folder in ROOMS:
            found += wall_complaints(name, header)
    for header in foreign:
        homes = home_of(header)
        if homes is None:
            if not LIBC.fullmatch(header.removesuffix(".h")):
                found.append(f"{name}: <{header}> is nobody's (see HOMES)")
        elif name not in homes and f"{folder}/*" not in homes:
            found.append(f"{name}: <{header}> lives in {', '.join(homes) or 'no file'}")
    return found


def room_of(name):
    """Returns the room of a file, or "" if the file is not in a subfolder."""
    return "/".join(name.split("/")[1:-1])


def wall_complaints(name, header):
    """Returns a text if the file may not include this header of another room."""
    folder = name.split("/")[0]
    room, other = room_of(name), room_of(header)
    rooms = ROOMS[folder]
    if room not in rooms or other not in rooms:
        return [f"{name}: {header} crosses no known wall (see ROOMS)"]
    if other != room and other not in rooms[room]:
        where = f"{folder}/{room}/" if room else f"{folder}/"
        return [f"{name}: {where} must not include {header}"]
    return []


def home_of(header):
    for pattern, homes in HOMES.items():
        if re.fullmatch(pattern, header):
            return homes
    return None


@pytest.mark.parametrize("folder", FOLDERS)
def test_includes(folder):
    found = []
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(f"{folder}/"):
            found += complaints(name, path.read_text())
    assert not found, "\n".join(found)


def module_of(name):
    """Returns a file's module. A header and the source with the same name are one
    module."""
    return name.rsplit(".", 1)[0]


def module_graph(folder):
    """Returns the modules that each module of a folder includes, by the module's name."""
    graph = {}
    for path in sorted((ROOT / folder).rglob("*.[ch]")):
        module = module_of(path.relative_to(ROOT).as_posix())
        ours = {module_of(header) for header in includes(path.read_text())[0]}
        graph.setdefault(module, set()).update(ours - {module})
    return {module: others & graph.keys() for module, others in graph.items()}


# Each callback in python/hooks/hook.c is one line.
CALLBACK = re.compile(r"CALLBACK\((\w+), .*\)$")
FUNCTION = re.compile(r"(?!CALLBACK)(?=[A-Za-z])(?:[^(]*\b)?(\w+)\(")


def functions_of(text):
    """Yields (name, lines) of each function, from its name in column 1 to its closing
    brace."""
    lines = text.splitlines()
    begin = name = None
    for at, line in enumerate(lines):
        if match := FUNCTION.match(line):
            begin, name = at, match[1]
        elif line == "}" and begin is not None:
            yield name, lines[begin : at + 1]
            begin = None
        elif line.startswith("}"):
            begin = None
        elif match := CALLBACK.match(line):
            yield match[1], [line]


@pytest.mark.parametrize("folder", FOLDERS)
def test_functions_are_short(folder):
    long = []
    for path in sorted((ROOT / folder).rglob("*.c")):
        text, name = path.read_text(), path.relative_to(ROOT).as_posix()
        long += [
            f"{name}: {function}() has {len(lines)} lines"
            for function, lines in functions_of(text)
            if len(lines) > FUNCTION_LINES
        ]
    assert not long, "\n".join(long)


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_modules_include_each_other(folder):
    try:
        TopologicalSorter(module_graph(folder)).prepare()
    except CycleError as error:
        pytest.fail(" <-> ".join(error.args[1]))


def reachable(path):
    """Returns Ocular's headers that a file includes, directly or indirectly."""
    seen, todo = set(), [path]
    while todo:
        for header in includes(todo.pop().read_text())[0]:
            if header not in seen and (ROOT / header).exists():
                seen.add(header)
                todo.append(ROOT / header)
    return seen


def test_the_viewer_sees_nothing_of_the_engine():
    """formats/ has few headers for the viewer. These headers do not include the engine."""
    for name in ALONE["tui", "formats"]:
        seen = reachable(ROOT / name) - set(ALONE["tui", "formats"])
        assert {header.split("/")[0] for header in seen} <= {"ipc"}


def test_what_decides_knows_only_what_it_is_told():
    """The modules of the budget, the slices and the control use no clock, no lock, no file
    and no Python."""
    names = "errno math stdbool stddef stdint stdlib string".split()
    for unit, known in {
        "budget": {"budget/budget.h"},
        "slices": {"budget/slices.h", "base/random.h"},
        "control": {"budget/control.h", "budget/budget.h"},
    }.items():
        path = ROOT / "tracer" / "budget" / f"{unit}.c"
        text = path.read_text() + path.with_suffix(".h").read_text()
        assert set(includes(text)[1]) <= {f"{name}.h" for name in names}
        assert reachable(path) == {f"tracer/{header}" for header in known}


# Calls that only some files make, by what they do. The heap of the traced program is left
# alone, so only these files use malloc: some belong only to viewers, others get strings
# from the C library, elfutils or the C++ library, and rcu.c checks that malloc has memory
# for the C library. Every descriptor goes through Opened_above() (ipc/base/opened.h),
# except those of the viewer and of program.c, which opens the program's script for CPython.
# Only threads in the last files take the GIL. The governor takes it throughout a trace. The
# activation thread and the child starter take it when a trace begins or ends. A thread that
# stops a trace takes it to handle signals. A thread that forks takes it again.
# thread_state.c makes a thread state only to find its offset in the list.
ONLY = {
    r"(malloc|calloc|realloc|reallocarray|aligned_alloc|posix_memalign|strn?dup|"
    r"v?asprintf|free|PyMem_(Raw)?[CM]alloc|PyObject_[CM]alloc)": """ipc/base/heap.c
        ipc/address.c ipc/client.c ipc/process.c tracer/base/rcu.c formats/native_names.c
        formats/native_rows.c formats/output.c python/module/watched.c""",
    r"(open|openat|socket|accept4?|eventfd|epoll_create1|inotify_init1|timerfd_create|"
    r"memfd_create|dup|fopen|opendir|gzopen|gzdopen|pipe2?)": """ipc/base/opened.c
        ipc/socket.c python/module/program.c""",
    r"(PyThreadState_New|WorkerState_start|PyGILState_Ensure|"
    r"PyEval_(Acquire|Restore)Thread)": """python/service/worker_state.c
        python/service/activation.c python/module/final_timeline.c
        python/service/governor.c python/service/child_starter.c python/service/fork.c
        python/hooks/thread_state.c""",
}


@pytest.mark.parametrize("calls", ONLY, ids=("malloc", "descriptors", "GIL"))
def test_only_these_files_call(calls):
    found = set()
    for path in sources():
        if path.suffix == ".c" and path.relative_to(ROOT).parts[0] != "tui":
            text = re.sub(r"//.*|Opened_above\(\s*\w+\(", "", path.read_text())
            if re.search(rf"(?<![\w.>]){calls}\(", text):
                found.add(path.relative_to(ROOT).as_posix())
    assert found == set(ONLY[calls].split())


# --- Documents ----------------------------------------------------------------------

DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
README_LINES = 160
PATH = re.compile(r"`((?:tracer|ipc|tui|python|tests|docs|screenshots)/[\w./-]+)`")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_a_document_names_files_that_are_there(path):
    text = path.read_text()
    assert not [name for name in PATH.findall(text) if not (ROOT / name).exists()]
    assert path.name != "README.md" or len(text.splitlines()) <= README_LINES
    if path.parent != ROOT:
        assert text.startswith("For "), "its first line says for whom it is"
