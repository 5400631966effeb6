# SPDX-License-Identifier: MIT
"""Reads folded stacks, and adds them up to the frames of a flame graph. _flame_page.py
draws the flame graph. This module runs in the traced program, and the program may have a
module of any name. To get no module of the program by mistake, this module imports no other
module."""

CONTROL = dict.fromkeys((*range(32), 127), "\ufffd")
# Largest sum of samples, because a browser represents whole numbers exactly up to here.
MOST = 1 << 53
ALL, NAMELESS = "all", "<no name>"
SHOWN = 60  # Number of characters of a bad line that an error message shows.
WAIT = ";(waiting"  # In Ocular's files the label of a wait begins with this text.


class BadStacks(ValueError):
    """Holds an error message for the user."""


class Flame:
    """Holds the frames of a flame graph. A caller comes before its callees, and a larger
    callee before a smaller callee. Frame 0 is the sum of all stacks. A label is a
    function's name as the file spells it. The next lists have one value for each frame.

    depths, labels, totals, selfs   `labels` has the numbers of labels

    The next lists have one value for each number of a label.

    names                           the label
    own                             the label's own time
    whole                           the time of all stacks with the label, each stack
                                    counted once
    """

    def __init__(self):
        self.depths, self.labels, self.totals, self.selfs = [], [], [], []
        self.names, self.own, self.whole = [], [], []

    @property
    def total(self):
        return self.totals[0]

    def by_self(self):
        """Returns the labels' numbers, sorted by the labels' own time. The largest time
        comes first."""
        own, whole, names = self.own, self.whole, self.names
        return sorted(range(1, len(names)), key=lambda n: (-own[n], -whole[n], names[n]))


def split(name):
    """Splits a label of Ocular or py-spy, `name (file:line)`, into (function, file,
    line). A missing part of a label is ""."""
    function, found, rest = name.rpartition(" (")
    if not found or not rest.endswith(")"):
        return name, "", ""
    file, found, line = rest[:-1].rpartition(":")
    return (
        (function, file, line) if found and line.isdecimal() else (function, rest[:-1], "")
    )


# --- Reading ------------------------------------------------------------------


def _number(text):
    """Returns the text as a number, or None if the text is not a number."""
    if not text.isascii():
        return None
    if text.isdecimal() and len(text) < 20:
        return int(text)
    whole, _, part = text.partition(".")
    if whole.isdecimal() and (not part or part.isdecimal()) and len(text) < 40:
        return float(text)
    return None


def _shown(line):
    text = repr(line)
    return text if len(text) <= SHOWN else text[:SHOWN] + "..."


def _parsed(lines):
    """Yields (stack, number) for each line. Each line is a bytes object."""
    for at, line in enumerate(lines, 1):
        line = line.decode("utf-8", "replace").rstrip("\r\n \t")
        if at == 1:
            line = line.removeprefix("\ufeff")
        if not line or line.startswith("#"):
            continue
        stack, _, end = line.rpartition(" ")
        number = _number(end)
        if number is None or not stack:
            raise BadStacks(
                f"line {at} is no folded stack: it has to end in a blank and a number, "
                f"as in 'main;work 12', and is {_shown(line)}"
            )
        if number > 0:
            yield stack, number


class _Tree:
    """Holds a tree of calls. Two stacks with the same outer frames share the nodes of these
    frames."""

    def __init__(self):
        self.parents, self.names, self.selfs, self.callees = [0], [None], [0], [{}]

    def _add(self, parent, name):
        node = len(self.parents)
        self.callees[parent][name] = node
        self.parents.append(parent)
        self.names.append(name)
        self.selfs.append(0)
        self.callees.append({})
        return node

    def add(self, stack, number):
        node, callees = 0, self.callees
        for name in stack.split(";"):
            callee = callees[node].get(name)
            node = self._add(node, name) if callee is None else callee
        self.selfs[node] += number

    def totals(self):
        totals = self.selfs.copy()
        for node in range(len(totals) - 1, 0, -1):  # a callee's index is above its caller's
            totals[self.parents[node]] += totals[node]
        return totals


def _clean(name):
    return name.strip().translate(CONTROL) or NAMELESS


def _lay_out(tree):
    """Returns the tree as a Flame. Does not use recursion, because stacks may be very
    deep."""
    flame, totals = Flame(), tree.totals()
    numbers = {}  # Maps a label to its number.
    # Labels of the frame's callers, and how often each label is in `path`
    path, on_path = [], []
    waiting = [(0, 0)]
    while waiting:
        node, depth = waiting.pop()
        name = tree.names[node]
        number = numbers.get(name)
        if number is None:
            number = numbers[name] = len(flame.names)
            flame.names.append(ALL if name is None else _clean(name))
            for each in flame.own, flame.whole, on_path:
                each.append(0)
        while len(path) > depth:
            on_path[path.pop()] -= 1
        path.append(number)
        on_path[number] += 1
        flame.own[number] += tree.selfs[node]
        if on_path[number] == 1:
            flame.whole[number] += totals[node]
        flame.depths.append(depth)
        flame.labels.append(number)
        flame.totals.append(totals[node])
        flame.selfs.append(tree.selfs[node])
        callees = sorted(
            tree.callees[node].items(), key=lambda item: (-totals[item[1]], item[0])
        )
        waiting += [(callee, depth + 1) for _, callee in reversed(callees)]
    return flame


def _flame_of(tree):
    flame = _lay_out(tree)
    if flame.total > MOST:
        raise BadStacks("the numbers are too large: together they are more than 2 ** 53")
    return flame


def read(lines):
    """Returns the Flame of a file's lines, which are bytes objects. Raises BadStacks,
    whose text describes the fault."""
    tree = _Tree()
    for stack, number in _parsed(lines):
        tree.add(stack, number)
    return _flame_of(tree)


def read_times(lines):
    """Returns the Flame of the CPU time, and the Flame of the wall time. The Flame of the
    wall time is None if no stack is that of a wait. Keeps no lines, because a file may be
    much larger than its tree."""
    ran, wall, waits = _Tree(), _Tree(), False
    for stack, number in _parsed(lines):
        wall.add(stack, number)
        if WAIT in stack:
            waits = True
        else:
            ran.add(stack, number)
    return _flame_of(ran), _flame_of(wall) if waits else None
