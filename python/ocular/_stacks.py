# SPDX-License-Identifier: MIT
"""Folded stacks as a flame graph: what is read, and what it adds up to. Nothing here
knows how that is drawn, and nothing is imported: a program may have a module of any
name, and this runs in it."""

CONTROL = dict.fromkeys((*range(32), 127), "\ufffd")
MOST = 1 << 53  # of all numbers: the largest that a browser adds up exactly
ALL, NAMELESS = "all", "<no name>"
SHOWN = 60  # characters of a bad line


class BadStacks(ValueError):
    """Its text is for the user."""


class Flame:
    """Frames as they are drawn, a caller before its callees, and the larger of two
    callees first. Frame 0 is all of it. A label is a function as the file names it.

    depths, labels, totals, selfs   of each frame; `labels` holds numbers
    names                           the labels, by number
    own, whole                      of each label: its own time, and that of all stacks
                                    with it, each counted once
    """

    def __init__(self):
        self.depths, self.labels, self.totals, self.selfs = [], [], [], []
        self.names, self.own, self.whole = [], [], []

    @property
    def total(self):
        return self.totals[0]

    def by_self(self):
        """The numbers of the labels, those that took most themselves first."""
        own, whole, names = self.own, self.whole, self.names
        return sorted(range(1, len(names)), key=lambda n: (-own[n], -whole[n], names[n]))


def split(name):
    """(function, file, line) of a label, as Ocular and py-spy have it: name (file:line);
    "" is what it does not say."""
    function, found, rest = name.rpartition(" (")
    if not found or not rest.endswith(")"):
        return name, "", ""
    file, found, line = rest[:-1].rpartition(":")
    return (
        (function, file, line) if found and line.isdecimal() else (function, rest[:-1], "")
    )


# --- Reading ------------------------------------------------------------------


def _number(text):
    """The number at the end of a line; None: there is none."""
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
    """(stack, number) of each line, which is bytes."""
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
    """Stacks that begin alike are one up to where they differ."""

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
        for node in range(len(totals) - 1, 0, -1):  # a callee came after its caller
            totals[self.parents[node]] += totals[node]
        return totals


def _clean(name):
    return name.strip().translate(CONTROL) or NAMELESS


def _lay_out(tree):
    """The tree as a Flame. No recursion: stacks are as deep as they like."""
    flame, totals = Flame(), tree.totals()
    numbers = {}  # of labels
    path, on_path = [], []  # the labels above the frame, and how often each is there
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


def read(lines):
    """The Flame of a file's lines, in bytes. BadStacks names the fault in them."""
    tree = _Tree()
    for stack, number in _parsed(lines):
        tree.add(stack, number)
    flame = _lay_out(tree)
    if flame.total > MOST:
        raise BadStacks("the numbers are too large: together they are more than 2 ** 53")
    return flame
