# SPDX-License-Identifier: MIT
"""Compares what a viewer saw of a program (live.py) with what the program knows
of itself (live_child.py). Pure: no clock, no process.

Times of a snapshot: `share`, `cpu_share`, `wait_share` and `calls_per_s` are
compared with the truth over the same exponential window of 5 s; `run_share`,
`p50_cycles` and `avg_cycles` with the truth since tracing started."""

import bisect
import itertools
import math
import statistics

WINDOW = 5.0  # s, as in tracer/base/share.h
SETTLED = 10.0  # s; windows are judged from then on
STOPPED = 1.0  # s without a call
SHARE, SHARE_OFF, SIGMAS = 0.02, 0.03, 3
PAIR, TOP = 0.02, 10
CYCLES_NS, CYCLES_OFF = 200, 0.10
RATE_OFF = 0.20
PASSES = 10  # of the twins, to tell how much they spread
NEAR = 1.0  # s between a pass and calls that it says something about
DELAYED = 0.01  # a mean holds what other processes took; beyond this, too much
AGE, PAUSE = 30.0, 5.0  # s
LEADERS, LEAD = 3, 5.0  # functions, s
CHANCE = 0.01  # of all windows; by chance 0.3 % are off by more than 3 sigma


def mean(values):
    values = [each for each in values if each is not None]
    return statistics.fmean(values) if values else None


class Track:
    """A thread's log, as sums over time of what one of its kinds has done. What
    a round takes moves with the machine: costs are those of the whole run, and
    within it rounds count as much as the CPU time that they took."""

    def __init__(self, track, costs, hz):
        self.kinds = track["kinds"]
        self.waits = [name for kind in self.kinds for name in kind["waits"]]
        self.seconds = [
            {
                name: n * costs[name] / hz
                for name, n in kind["calls"].items()
                if name not in self.waits
            }
            for kind in self.kinds
        ]
        self.times = [row[0] for row in track["log"]]
        self.cpu = [row[1] - track["log"][0][1] for row in track["log"]]
        whole = [sum(each.values()) for each in self.seconds]
        width = len(self.kinds)
        done = [b - a for a, b in zip(track["log"][0], track["log"][-1])]
        usual = done[1] / sum(n * each for n, each in zip(done[3:], whole))
        self.delayed = done[2]
        self.steps = []  # per interval: rounds, weighed rounds, waits
        for old, new in itertools.pairwise(track["log"]):
            rounds, waits = (
                [b - a for a, b in zip(old[part], new[part])]
                for part in (slice(3, 3 + width), slice(3 + width, None))
            )
            own = sum(n * each for n, each in zip(rounds, whole))
            factor = (new[1] - old[1]) / own / usual if own else 0.0
            self.steps.append((rounds, [n * factor for n in rounds], waits))

    def sums(self, weigh):
        """(rounds, scaled rounds, waits), each interval weighed with
        weigh(begin, end)."""
        total = None
        for n, step in enumerate(self.steps):
            weight = weigh(self.times[n], self.times[n + 1])
            if not weight:
                continue
            scaled = [[weight * each for each in part] for part in step]
            total = (
                scaled
                if total is None
                else [[a + b for a, b in zip(x, y)] for x, y in zip(total, scaled)]
            )
        width = len(self.kinds)
        return total or [[0] * width, [0] * width, [0] * len(self.waits)]

    def add(self, found, weigh):
        rounds, scaled, waits = self.sums(weigh)
        for kind, seconds, n, longer in zip(self.kinds, self.seconds, rounds, scaled):
            if not n:
                continue
            for name, calls in kind["calls"].items():
                row = found.setdefault(name, [0.0, 0.0, 0.0])
                row[0] += longer * seconds.get(name, 0.0)
                row[1] += n * calls
        for name, waited in zip(self.waits, waits):
            found.setdefault(name, [0.0, 0.0, 0.0])[2] += waited


def cost(taken, what):
    """While traced, by twins that were not; before and after where it has none."""
    if taken["during"]:
        return taken["during"][what]
    return mean((taken["before"][what], taken["after"][what]))


class Truth:
    """What the program's functions did, over any time."""

    def __init__(self, result):
        self.began, self.hz = result["began"], result["hz"]
        costs = {name: cost(taken, "trimmed") for name, taken in result["costs"].items()}
        # The part of each function that is C.
        in_c = {
            name: cost(taken, "c") / costs[name]
            for name, taken in result["costs"].items()
            if taken["before"]["c"]
        }
        self.in_c = in_c
        self.tracks = [Track(track, costs, self.hz) for track in result["tracks"]]

    def over(self, weigh, whole):
        """{function: (CPU share, calls a second, waiting and CPU share)}"""
        found = {}
        for track in self.tracks:
            track.add(found, weigh)
        return {
            name: (cpu / whole, calls / whole, waited / whole if waited else None)
            for name, (cpu, calls, waited) in found.items()
        }

    def window(self, at):
        def weigh(begin, end):
            end, begin = min(end, at), max(begin, self.began)
            if end <= begin:
                return 0.0
            # The part of the interval before `at`, decayed as its middle is.
            return math.exp(((begin + end) / 2 - at) / WINDOW)

        return self.over(weigh, -WINDOW * math.expm1((self.began - at) / WINDOW))

    def between(self, start, at):
        def weigh(begin, end):
            inside = min(end, at) - max(begin, start)
            return max(0.0, inside) / (end - begin) if end > begin else 0.0

        return self.over(weigh, at - start)

    def core(self, at):
        """The share of a core that the program's rounds had until then."""
        had = sum(
            track.cpu[bisect.bisect_right(track.times, at) - 1] for track in self.tracks
        )
        return had / (at - self.began)

    def delayed(self):
        """The time that its threads waited for a CPU over that they had."""
        return sum(track.delayed for track in self.tracks) / sum(
            track.cpu[-1] for track in self.tracks
        )


class Samples:
    """How many a share rests on: those that the function had, or should have
    had of all, whichever is more."""

    def __init__(self, snapshots):
        self.snapshots = snapshots
        self.whole = [
            sum(row["samples"] or 0 for row in each["functions"].values())
            for each in snapshots
        ]

    def at_end(self, name, part):
        row = self.snapshots[-1]["functions"].get(name)
        return max(value(row, "samples"), part * self.whole[-1])

    def in_window(self, name, part, at):
        """As many as evenly weighed ones."""
        mine = [value(each["functions"].get(name), "samples") for each in self.snapshots]
        return max(self.effective(mine, at), part * self.effective(self.whole, at))

    def effective(self, counts, at):
        weighed = squared = before = 0.0
        for each, count in zip(self.snapshots, counts):
            if each["t"] > at:
                break
            weight = math.exp((each["t"] - at) / WINDOW)
            weighed += weight * (count - before)
            squared += weight * weight * (count - before)
            before = count
        return weighed * weighed / squared if squared else 0.0


def bound(share, samples):
    return max(SHARE_OFF, SIGMAS * share / math.sqrt(max(samples, 1)))


def value(row, key):
    found = row.get(key) if row else None
    return 0.0 if found is None else found


# --- One question each -----------------------------------------------------------------


def judge_shares(truth, snapshots, report):
    """Since the start at the end, and in the window at every look."""
    last, samples = snapshots[-1], Samples(snapshots)
    whole = truth.between(truth.began, last["t"])
    known = sum(share for share, _, _ in whole.values())
    rows = report["functions"]
    for name, (share, rate, waited) in whole.items():
        row = last["functions"].get(name)
        off = value(row, "run_share") - share
        allowed = bound(share, samples.at_end(name, share / known))
        rows[name] = {
            "share": share,
            "calls_per_s": rate,
            "waited": waited,
            "samples": value(row, "samples"),
            "run_off": off,
            "judged": share > SHARE,
            "window_worst": 0.0,
            "windows": 0,
            "windows_off": 0,
            "run_miss": share > SHARE and abs(off) > allowed,
        }
    for each in settled(truth, snapshots):
        for name, (share, _, waited) in truth.window(each["t"]).items():
            row, at, part = each["functions"].get(name), each["t"], share / known
            seen = value(row, "cpu_share")
            if waited:
                share, seen, part = waited, seen + value(row, "wait_share"), 0.0
            if share > SHARE:
                allowed = bound(share, samples.in_window(name, part, at))
                count_window(rows[name], seen - share, allowed)
                if name in truth.in_c:
                    share *= truth.in_c[name]
                    count_in_c(rows[name], value(row, "c_share") - share, allowed)
    return whole


def count_in_c(row, off, allowed):
    """`c_share` is a part of `cpu_share`, and no surer."""
    row["c_windows"] = row.get("c_windows", 0) + 1
    row["c_windows_off"] = row.get("c_windows_off", 0) + (abs(off) > allowed)
    row["c_worst"] = max(row.get("c_worst", 0.0), off, key=abs)


def settled(truth, snapshots):
    late = [each for each in snapshots if each["t"] - truth.began >= SETTLED]
    return late or snapshots[-1:]


def count_window(row, off, allowed):
    row["windows"] += 1
    row["windows_off"] += abs(off) > allowed
    if abs(off) > abs(row["window_worst"]):
        row["window_worst"] = off


def wrong_pairs(true, seen):
    """(those in the wrong order, all that differ by 2 points)"""
    top = sorted(true, key=true.get, reverse=True)[:TOP]
    pairs = [(a, b) for a, b in itertools.combinations(top, 2) if true[a] - true[b] >= PAIR]
    wrong = [(a, b) for a, b in pairs if seen(a) <= seen(b)]
    return wrong, len(pairs)


def judge_order(truth, snapshots, whole, report):
    last = snapshots[-1]["functions"]
    wrong, count = wrong_pairs(
        {name: each[0] for name, each in whole.items()},
        lambda name: value(last.get(name), "run_share"),
    )
    report["pairs"], report["pairs_wrong"] = count, wrong
    report["window_pairs"] = report["window_pairs_wrong"] = 0
    for each in settled(truth, snapshots):
        wrong, count = wrong_pairs(
            {name: row[0] for name, row in truth.window(each["t"]).items()},
            lambda name: value(each["functions"].get(name), "cpu_share"),
        )
        report["window_pairs"] += count
        report["window_pairs_wrong"] += len(wrong)


def taken_then(name, taken, snapshots):
    """[(weight, p50, mean)]: the twins' passes, each with the calls that Ocular has
    timed about then, since a machine may be half as fast a second later."""
    passes = (taken["during"] or {}).get("passes") or [
        each for when in ("before", "after") for each in taken[when]["passes"]
    ]
    weights = [0.0] * len(passes)
    before, since = 0, -math.inf
    for each in snapshots:
        calls = value(each["functions"].get(name), "calls")
        if calls > before:
            near = [
                n
                for n, one in enumerate(passes)
                if since - NEAR <= one[0] <= each["t"] + NEAR
            ] or [min(range(len(passes)), key=lambda n: abs(passes[n][0] - each["t"]))]
            for n in near:
                weights[n] += (calls - before) / len(near)
        before, since = calls, each["t"]
    return [(weight, *one[1:]) for weight, one in zip(weights, passes) if weight]


def spread(weighed):
    """(median, half of the middle four fifths over it) of [(weight, value)]"""
    weighed = sorted(weighed, key=lambda each: each[1])
    whole, found = sum(weight for weight, _ in weighed), []
    for part in (0.1, 0.5, 0.9):
        so_far = 0.0
        for weight, each in weighed:
            so_far += weight
            if so_far >= part * whole:
                break
        found.append(each)
    low, middle, high = found
    return middle, (high - low) / 2 / middle if middle > 0 else math.inf


def judge_cycles(result, snapshots, report):
    last = snapshots[-1]["functions"]
    for name, taken in result["costs"].items():
        row, mine = last.get(name), report["functions"].get(name)
        if mine is None:
            continue
        mine["ns"] = cost(taken, "p50") / result["hz"] * 1e9
        mine["cycles_judged"] = mine["ns"] >= CYCLES_NS
        then = taken_then(name, taken, snapshots)
        for place, what, key in ((1, "p50", "p50_cycles"), (2, "mean", "avg_cycles")):
            true, noise = (
                spread([(each[0], each[place]) for each in then])
                if then
                else (0.0, math.inf)
            )
            if len(then) < PASSES:
                noise = max(noise, moved(taken, what))
            mine[what + "_noise"] = noise
            seen = row.get(key) if row else None
            mine[what + "_off"] = off = (
                None if seen is None or true <= 0 else seen / true - 1
            )
            mine[what] = verdict(off, noise)


def moved(taken, what):
    """Between before, during and after."""
    found = sorted(each[what] for each in taken.values() if each)
    return found[-1] / found[0] - 1 if found[0] > 0 else math.inf


def verdict(off, noise):
    """noise: it is off by more than 10 %, but the truth itself has moved so much
    that this says nothing."""
    if off is None or abs(off) > CYCLES_OFF + noise:
        return "MISS"
    return "ok" if abs(off) <= CYCLES_OFF else "noise"


def judge_rates(truth, snapshots, report):
    """The mean over all looks beside that of the truth. A function that has
    stopped, and is reported so, has no rate to report: armed code is counted,
    and knows at once what is in the window for some seconds yet."""
    seen, true = {}, {}
    for each in settled(truth, snapshots):
        lately = truth.between(each["t"] - STOPPED, each["t"])
        for name, (_, rate, _) in truth.window(each["t"]).items():
            reported = value(each["functions"].get(name), "calls_per_s")
            if reported or (name in lately and lately[name][1]):
                true[name] = true.get(name, 0.0) + rate
                seen[name] = seen.get(name, 0.0) + reported
    for name, mine in report["functions"].items():
        mine["rate_off"] = seen.get(name, 0.0) / true[name] - 1 if true.get(name) else None
        mine["rate_miss"] = mine["judged"] and (
            mine["rate_off"] is None or abs(mine["rate_off"]) > RATE_OFF
        )


class Age:
    """How long a function's cycles have stood still while it ran. Time in which
    it did not run for long does not count: nobody could have measured it."""

    def __init__(self):
        self.cycles, self.stale, self.worst = 0, 0.0, 0.0
        self.ran_at, self.calls = -math.inf, 0.0

    def look(self, begin, end, calls, cycles):
        if calls:
            self.ran_at = end
        if cycles > self.cycles:
            self.cycles, self.stale, self.calls = cycles, 0.0, 0.0
        elif end - self.ran_at <= PAUSE:
            self.stale += end - begin
            self.calls += calls
            if self.calls >= self.stale:  # once a second or more
                self.worst = max(self.worst, self.stale)


def judge_ages(truth, snapshots, report):
    """As seen from outside, in snapshot after snapshot."""
    ages = {name: Age() for name in report["functions"]}
    previous = truth.began
    for each in snapshots:
        ran, span = truth.between(previous, each["t"]), each["t"] - previous
        for name, age in ages.items():
            row, mine = each["functions"].get(name), report["functions"][name]
            calls = ran[name][1] * span if name in ran else 0
            age.look(previous, each["t"], calls, value(row, "self_cycles"))
            mine["stale"] = age.worst
            if calls >= span:
                mine["age"] = max(mine.get("age", 0.0), value(row, "age_s"))
        previous = each["t"]


def judge_phases(result, truth, snapshots, report):
    """[seconds until the new leaders lead for good, or None]"""
    changes = result["phases"]
    report["leads"] = []
    for number, change in enumerate(changes):
        begin = truth.began + change
        end = truth.began + (changes + [result["seconds"]])[number + 1]
        leading, lead = True, None
        for each in [s for s in snapshots if begin <= s["t"] < end][::-1]:
            shares = (
                truth.between(max(begin, each["t"] - WINDOW), each["t"])
                if each["t"] > begin
                else {}
            )
            true = sorted(shares, key=lambda name: -shares[name][0])[:LEADERS]
            leading = leading and set(each["top"][:LEADERS]) == set(true)
            if leading:
                lead = each["t"] - begin
        report["leads"].append(lead)
    report["lead_miss"] = any(lead is None or lead > LEAD for lead in report["leads"])


# --- All of them --------------------------------------------------------------------------


def judge(result, snapshots):
    truth = Truth(result)
    report = {
        "program": result["program"],
        "hook_cost": result["hook_cost"],
        "functions": {},
        "delayed": truth.delayed(),
        "snapshots": len(snapshots),
        "contends": result["contends"] or truth.delayed() > DELAYED,
        "core": truth.core(snapshots[-1]["t"]),
        "known": 0.0,
        "overhead": mean(
            each["overhead"]["measured"] for each in settled(truth, snapshots)
        ),
        "hz": mean(each["sampler"]["hz"] for each in settled(truth, snapshots)),
    }
    whole = judge_shares(truth, snapshots, report)
    report["known"] = sum(share for share, _, _ in whole.values())
    judge_order(truth, snapshots, whole, report)
    judge_cycles(result, snapshots, report)
    judge_rates(truth, snapshots, report)
    judge_ages(truth, snapshots, report)
    judge_phases(result, truth, snapshots, report)
    report["misses"] = misses(report)
    return report


def misses(report):
    """In words, one a target that is missed."""
    rows = report["functions"]
    shares = {name: row for name, row in rows.items() if row["judged"]}
    cycles = {name: row for name, row in rows.items() if row["cycles_judged"]}
    found = []

    def add(what, names):
        names = list(names)
        if names:
            more = f" and {len(names) - 5} more" if len(names) > 5 else ""
            found.append(f"{what}: {', '.join(map(str, names[:5]))}{more}")

    add(
        "share",
        (
            f"{name} {100 * row['run_off']:+.1f}"
            for name, row in shares.items()
            if row["run_miss"]
        ),
    )
    windows = sum(row["windows"] for row in rows.values())
    off = sum(row["windows_off"] for row in rows.values())
    if off > CHANCE * windows:
        worst = sorted(
            (row for row in rows.items() if row[1]["windows_off"]),
            key=lambda item: -abs(item[1]["window_worst"]),
        )
        add(
            f"{off} of {windows} windows",
            (f"{name} {100 * row['window_worst']:+.1f}" for name, row in worst),
        )
    windows = sum(row.get("c_windows", 0) for row in rows.values())
    off = sum(row.get("c_windows_off", 0) for row in rows.values())
    if off > CHANCE * windows:
        add(
            f"{off} of {windows} windows of time in C",
            (
                f"{name} {100 * row['c_worst']:+.1f}"
                for name, row in rows.items()
                if row.get("c_windows_off")
            ),
        )
    add("order", (f"{a}/{b}" for a, b in report["pairs_wrong"]))
    for what in ("p50",) if report["contends"] else ("p50", "mean"):
        add(
            what,
            (
                f"{name} "
                + (
                    "none"
                    if row[what + "_off"] is None
                    else f"{100 * row[what + '_off']:+.0f} %"
                )
                for name, row in cycles.items()
                if row[what] == "MISS"
            ),
        )
    add(
        "calls/s",
        (
            f"{name} "
            + ("none" if row["rate_off"] is None else f"{100 * row['rate_off']:+.0f} %")
            for name, row in shares.items()
            if row["rate_miss"]
        ),
    )
    add(
        "age",
        (
            f"{name} {row['stale']:.0f} s"
            for name, row in rows.items()
            if row.get("stale", 0) > AGE
        ),
    )
    if report["lead_miss"]:
        add(
            "lead",
            ("never" if lead is None else f"{lead:.1f} s" for lead in report["leads"]),
        )
    return found
