# SPDX-License-Identifier: MIT
"""Shows the trace of a notebook's cell as a table and a flame graph, in HTML or as text."""

import html
import math
import os
import sysconfig

from ocular import _flame_file, _flame_page, _settings, _stacks

HEAD = "CALLS", "SHARE", "AVG", "P50", "RAISED", "FUNCTION"
LEAST, MOST = 260, 640  # height of the flame graph in pixels
SMALL = 1e-3  # A function of a library with a smaller part of the time is not in the table.
STYLE = "text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums"


def _time(seconds):
    if seconds is None:
        return ""
    for least, unit, factor in (1, "s", 1), (1e-3, "ms", 1e3), (1e-6, "µs", 1e6):
        if seconds >= least:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _calls(row):
    if row["calls_exact"]:
        return f"{row['calls']:,}"
    error = row["calls_error"]
    if error is None or error > 0.5:
        return f">={row['calls']:,}"
    return f"~{row['calls_estimated']:,.0f} ±{100 * error:.0f}%"


def is_library(file):
    """Returns True for the standard library and the script of the kernel."""
    place = file.startswith((sysconfig.get_path("stdlib"), "<frozen "))
    return place or file.endswith("ipykernel_launcher.py")


class Result:
    """Holds the trace of a cell.

    snapshot    the final snapshot (see ocular.snapshot()).
    functions   the rows of the table, in its order.
    stacks      the sampled stacks, as folded lines.
    seconds     how long the cell ran.
    is_exact    says whether all calls were counted.
    """

    def __init__(self, snapshot, stacks, title, seconds, rows):
        self.snapshot, self.stacks = snapshot, stacks
        self.title, self.seconds = title, seconds
        self.is_exact = snapshot["threshold"] == 0
        self.functions = sorted(
            filter(self._matters, snapshot["functions"]),
            key=lambda row: [-weight for weight in self._weights(row)],
        )
        self._rows = rows

    def _matters(self, row):
        """Returns False for functions that did not run, and for small library functions,
        most of which the notebook's own threads have called."""
        if row["run_samples"] or not is_library(row["file"]):
            return row["run_samples"] or row["calls"]
        seconds = (row["self_cycles"] or 0) / self.snapshot["tsc_hz"]
        return row["calls"] and seconds >= SMALL * self.seconds

    def _weights(self, row):
        """Returns what the table is sorted by. SHARE is made of the first number."""
        counted, sampled = row["self_cycles"] or 0, row["run_samples"] or 0
        return (counted, sampled) if self.is_exact else (sampled, counted)

    def _share(self, row, total):
        part = self._weights(row)[0] / total if total else 0
        if self.is_exact:
            return f"{100 * part:.1f}%"
        error = math.sqrt(part * (1 - part) / total) if total else 0
        return f"{100 * part:.1f}% ±{100 * error:.1f}" if part else ""

    def _table(self):
        """Yields the texts of each row. The last one is (function, place)."""
        hz = self.snapshot["tsc_hz"]
        total = sum(self._weights(row)[0] for row in self.functions)
        for row in self.functions[: self._rows]:
            average = row["avg_cycles"]
            mean = _time(None if average is None else average / hz)
            raised = f"{row['raised']:,}" if row["raised"] else ""
            place = f"{os.path.basename(row['file'])}:{row['line']}" if row["file"] else ""
            yield (
                _calls(row),
                self._share(row, total),
                "~" * bool(mean and row["avg_estimated"]) + mean,
                _time(row["wall_p50_s"]),
                "~" * bool(raised and row["raised_estimated"]) + raised,
                (row["name"], place),
            )

    def _sentences(self):
        samples = (self.snapshot["sampler"] or {}).get("samples") or 0
        yield f"{self.title}: {_time(self.seconds)}, {samples} samples."
        if self.is_exact:
            yield "All calls are counted. SHARE is a function's part of their time."
        else:
            yield "SHARE is sampled CPU time, ± its standard error. The rest is counted;"
            yield "~ is an estimate, and >= a lower bound of a function without hooks."
        if self._rows < len(self.functions):
            yield f"{self._rows} of {len(self.functions)} functions."

    def __repr__(self):
        rows = [HEAD, *((*row[:-1], "  ".join(row[-1])) for row in self._table())]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [
            "  ".join([*map(str.rjust, row[:-1], widths), row[-1]]).rstrip() for row in rows
        ]
        return "\n".join([*self._sentences(), *lines])

    def _repr_html_(self):
        rows = "".join(
            "<tr>"
            + "".join(f'<td style="{STYLE}">{html.escape(text)}</td>' for text in texts)
            + f'<td style="text-align: left">{html.escape(name)} '
            f'<span style="opacity: 0.6">{html.escape(place)}</span></td></tr>'
            for *texts, (name, place) in self._table()
        )
        head = "".join(f"<th>{text}</th>" for text in HEAD[:-1])
        head += f'<th style="text-align: left">{HEAD[-1]}</th>'
        return (
            f"<p>{html.escape(' '.join(self._sentences()))}</p>"
            f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            + self._frame()
        )

    def _frame(self):
        """Returns the flame graph as an element that needs no file and no network."""
        if not self.stacks:
            return "<p>There is no flame graph, because there are no samples.</p>"
        cpu, wall = _stacks.read_times(self.stacks)
        deepest = max((wall or cpu).depths)
        height = min(max(170 + 20 * deepest, LEAST), MOST)
        page = html.escape(_flame_page.page(cpu, self._facts(), wall))
        return (
            f'<iframe srcdoc="{page}" title="flame graph" '
            f'style="width: 100%; height: {height}px; border: 0"></iframe>'
        )

    def _facts(self):
        facts = _flame_file.facts_of(self.snapshot, self.title)
        # The notebook's command and KERNEL are not about the cell.
        facts.sentences = [
            each for each in facts.sentences[1:] if not each.startswith("excluded: ")
        ]
        return facts

    def save(self, path):
        """Writes the flame graph to a .html or .svg file. Replaces the file."""
        if not _settings.page_ending(path):
            raise ValueError(f"the name must end in .html or .svg, not {path!r}")
        flames = _stacks.read_times(self.stacks)
        _flame_file.write(path, _flame_file.text_of(flames, self._facts(), path), True)
