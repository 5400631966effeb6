# SPDX-License-Identifier: MIT
"""The last program of `make coverage`. Adds up the lines that gcov and coverage.py have
counted. Prints a table by folder, and lists the files of which less than 70 % of the lines
have run.
    report.py DIRECTORY...      folders with the .gcda files
"""

import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import coverage

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("ipc/", "tracer/", "formats/", "python/", "tui/")
LOW = 70  # percentage


def c_lines(directories):
    """Returns a dict of files. For each file, a dict says which lines have run. If an
    object has no .gcda file, its lines have not run."""
    found = defaultdict(lambda: defaultdict(bool))
    notes = [note for where in directories for note in Path(where).rglob("*.gcno")]
    for note in notes:
        ran = note.with_suffix(".gcda")
        said = subprocess.run(
            ["gcov", "--json-format", "--stdout", ran if ran.exists() else note],
            check=True,
            capture_output=True,
            cwd=ROOT,
        ).stdout
        for file in json.loads(said)["files"] if said else ():
            name = os.path.relpath(ROOT / file["file"], ROOT)
            if name.startswith(FOLDERS):
                for line in file["lines"]:
                    found[name][line["line_number"]] |= line["count"] > 0
    return found


def python_lines():
    """Returns the lines of the Python package in the same form as c_lines(). The demo is
    left out, because it is only a program for tracing."""
    measured = coverage.Coverage(config_file=os.environ["COVERAGE_PROCESS_START"])
    measured.combine()
    found = {}
    for path in sorted((ROOT / "python" / "ocular").glob("*.py")):
        _, statements, _, missing, _ = measured.analysis2(str(path))
        name = path.relative_to(ROOT).as_posix()
        found[name] = {line: line not in missing for line in statements}
    return found


def share(lines):
    return f"{100 * sum(lines) / len(lines):6.1f} %" if lines else "      -"


def main():
    files = {**c_lines(sys.argv[1:]), **python_lines()}
    rooms = defaultdict(list)
    for name in files:
        rooms[os.path.dirname(name)].append(name)
    print(f"{'room':18} {'files':>5} {'lines':>6} {'run':>6}")
    everything = []
    for room in sorted(rooms):
        lines = [ran for name in rooms[room] for ran in files[name].values()]
        everything += lines
        print(f"{room:18} {len(rooms[room]):5} {len(lines):6} {share(lines)}")
    print(f"{'all':18} {len(files):5} {len(everything):6} {share(everything)}")
    print(f"\nless than {LOW} % of these has run:")
    for name, lines in sorted(files.items()):
        if 100 * sum(lines.values()) < LOW * len(lines):
            not_run = ", ".join(spans(sorted(n for n, ran in lines.items() if not ran)))
            print(f"  {name:36} {share(list(lines.values()))}  lines {not_run}")


def spans(numbers):
    """Returns line numbers as ranges. For example, 1 2 3 7 becomes "1-3", "7". A range may
    contain lines without code."""
    begin = before = None
    for number in [*numbers, None]:
        if begin is not None and (number is None or number > before + 1):
            yield f"{begin}-{before}" if before > begin else f"{begin}"
            begin = None
        if begin is None:
            begin = number
        before = number


if __name__ == "__main__":
    main()
