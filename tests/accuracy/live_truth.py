# SPDX-License-Identifier: MIT
"""What the functions of the live part of `make accuracy` cost untraced: twins
of them, of a file that Ocular leaves alone, between two readings of the CPU's
counter, less what the reading and their callees take."""

import gc
import inspect
import itertools
import statistics
import time
import types

import extensions
import live_programs
import outside

timing = extensions.load("accuracy", "timing")

TWIN = "<untraced>"
PASSES = 5  # before and after
WARM = 60  # calls after which everything is specialised
MOST, TAKEN_MS = 100, 5.0  # calls and ms of a line in a pass


def twin_of(function, names):
    """The same code, which Ocular is told to leave alone."""
    code = function.__code__.replace(co_filename=TWIN)
    return types.FunctionType(
        code, names, function.__name__, function.__defaults__, function.__closure__
    )


def stub_of(function):
    """Takes what the other takes and returns at once."""
    code, names = function.__code__, {}
    takes = ", ".join(code.co_varnames[: code.co_argcount])
    exec(compile(f"def stub({takes}): return 1", TWIN, "exec"), names)
    return names["stub"]


def twins(stubs=()):
    """What the programs' lines can name, untraced."""
    names = dict(vars(live_programs), mark=timing.mark)
    for name, function in vars(live_programs).items():
        if isinstance(function, types.FunctionType):
            names[name] = twin_of(function, names)
    names["empty"] = twin_of(outside.empty, {})
    for name in stubs:
        names[name] = stub_of(names[name])
    return names


def marked_twin_of(function, names):
    """A twin that marks when it begins. What calls itself calls that."""
    head, _, body = inspect.getsource(function).partition(":\n")
    names = dict(names)
    exec(compile(f"{head}:\n    mark()\n{body}", TWIN, "exec"), names)
    return names[function.__name__]


class Line:
    """A line between two marks, and what it took, pass by pass. What it returns
    is kept beyond the second: freeing it is not the function's."""

    MOST = MOST

    def __init__(self, text, names):
        names = dict(names)
        exec(
            compile(
                "def drive(count):\n for _ in range(count):\n"
                f"  mark()\n  kept = {text}\n  mark()\n  kept = None\n",
                TWIN,
                "exec",
            ),
            names,
        )
        self.drive, self.taken = names["drive"], []
        self.calls = 1  # that share what it takes

    def prepare(self, ticks_a_ms):
        """Is specialised, and knows how often it fits into a pass."""
        self.times = 3
        self.run()
        ticks = self.taken.pop()["p50"] * self.calls
        self.times = int(min(self.MOST, max(5, TAKEN_MS * ticks_a_ms / ticks)))
        if ticks < ticks_a_ms:
            self.drive(WARM)

    def run(self):
        timing.reset(2 * self.times)
        self.drive(self.times)
        spans = sorted(timing.spans()[::2])
        kept = spans[: max(1, len(spans) * 98 // 100)]
        self.taken.append(
            {
                "at": time.monotonic(),
                "p50": statistics.median(spans),
                "mean": statistics.fmean(spans),
                "trimmed": statistics.fmean(kept),
            }
        )

    def cost(self, what):
        # Shares are of all the time, also of that in which the machine was slow;
        # one pass that was interrupted says nothing about a mean.
        middle = statistics.fmean if what == "trimmed" else statistics.median
        return middle(each[what] for each in self.taken)


class Levels(Line):
    """A line that calls one function so many times, each from within the one before:
    what each of the calls takes, up to the next, and its part of what all returns
    take. Their median is not the mean: the deep ones run on a stack that is new."""

    MOST = 12  # of the line in a pass: each has hundreds of spans to sort

    def __init__(self, part, names):
        twin = marked_twin_of(getattr(live_programs, part.name), names)
        super().__init__(part.call, {**names, part.name: twin})
        self.calls = part.calls

    def run(self):
        timing.reset(self.times * (self.calls + 2))
        self.drive(self.times)
        spans, width = timing.spans(), self.calls + 2
        lines = [spans[at + 1 : at + width - 1] for at in range(0, len(spans), width)]
        levels = [span for line in lines for span in line[:-1]]
        back = statistics.median(line[-1] for line in lines) / self.calls
        self.taken.append({"at": time.monotonic(), "p50": statistics.median(levels) + back})


class Truth:
    """The untraced cost of each part's function, in ticks: before, after, and
    a little at a time while the program runs traced, for a machine that others
    use is not always the same."""

    def __init__(self, parts, ticks_a_ms):
        self.parts, self.ticks_a_ms = parts, ticks_a_ms
        names = twins()
        self.nothing, self.empty = Line("None", names), Line("empty()", names)
        self.lines = {part.name: self.lines_of(part, names) for part in parts}
        for line in self.all_lines():
            line.prepare(ticks_a_ms)
        quick = [part for part in parts if not part.waits]
        self.turns = itertools.cycle(
            [self.nothing, self.empty]
            + [line for part in quick for line in self.lines[part.name].values()]
        )

    @staticmethod
    def lines_of(part, names):
        lines = {"line": Line(part.timed, names)}
        if part.stubs:
            lines["alone"] = Line(part.timed, twins(part.stubs))
        if part.around != "None":
            lines["around"] = Line(part.around, names)
        if part.levels:
            lines["levels"] = Levels(part, names)
        if part.in_c:
            lines["c"] = Line(part.in_c, names)
        return lines

    def all_lines(self):
        yield from (self.nothing, self.empty)
        for lines in self.lines.values():
            yield from lines.values()

    def take(self):
        """Costs as they are now."""
        self.forget()
        gc.disable()
        for _ in range(PASSES):
            for line in self.all_lines():
                line.run()
        gc.enable()
        return self.costs()

    def take_some(self, seconds):
        """A few lines more."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            next(self.turns).run()

    def forget(self):
        for line in self.all_lines():
            line.taken.clear()

    def costs(self):
        """{function: {"p50", "mean", "trimmed", "c", "passes"}}, of those that
        have been run since forget()."""
        found = {}
        for part in self.parts:
            if all(line.taken for line in self.lines[part.name].values()):
                found[part.name] = self.cost_of(part)
        for part in self.parts:
            if part.name in found:
                self.add_callees(part, found)
        return found

    def cost_of(self, part):
        lines = self.lines[part.name]
        cost = {what: self.own(part, what) for what in ("p50", "mean", "trimmed")}
        # Each pass: when, and what the function itself took by it.
        whole = {what: lines["line"].cost(what) for what in ("p50", "mean")}
        cost["passes"] = [
            [
                each["at"],
                *(cost[what] * each[what] / whole[what] for what in ("p50", "mean")),
            ]
            for each in lines["line"].taken
        ]
        cost["c"] = (
            0.0
            if not part.in_c
            else lines["c"].cost("trimmed") - self.nothing.cost("trimmed")
        )
        return cost

    def own(self, part, what):
        lines = self.lines[part.name]
        if part.levels and what == "p50":
            return lines["levels"].cost(what) - self.nothing.cost(what)
        around = lines.get("around")
        call = self.empty.cost(what) - self.nothing.cost(what)
        alone = lines.get("alone", lines["line"]).cost(what)
        alone -= (around or self.nothing).cost(what)
        alone -= sum(part.stubs.values()) * call
        if around:
            alone += part.calls * call
        return alone / part.calls

    def add_callees(self, part, found):
        """Of those that no line calls directly: by what is missing with empty
        ones in their place."""
        lines = self.lines[part.name]
        known = {one.name for one in self.parts}
        for name, times in part.stubs.items():
            if name in known:
                continue
            cost = {"c": 0.0}
            for what in ("p50", "mean", "trimmed"):
                call = self.empty.cost(what) - self.nothing.cost(what)
                both = lines["line"].cost(what) - lines["alone"].cost(what)
                cost[what] = max(0.0, both / times + call)
            found[name] = {
                **cost,
                "passes": [
                    [
                        at,
                        cost["p50"] * p50 / found[part.name]["p50"],
                        cost["mean"] * mean / found[part.name]["mean"],
                    ]
                    for at, p50, mean in found[part.name]["passes"]
                ],
            }

    def whole(self, part):
        """Ticks of the line with all that it calls."""
        return self.lines[part.name]["line"].cost("trimmed")


def ticks_a_ms():
    timing.reset(2)
    begin = time.perf_counter()
    timing.mark()
    time.sleep(0.1)
    timing.mark()
    return timing.spans()[0] / (time.perf_counter() - begin) / 1e3
