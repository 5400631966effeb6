# SPDX-License-Identifier: MIT
"""Reads expected.toml, the list of differences that Ocular does not cause."""

import re
import tomllib
from dataclasses import dataclass, field

KEYS = {"kind", "shows", "reason", "control", "versions", "modes"}
VAGUE = re.compile(r"[*?]")


@dataclass
class Entry:
    """An entry for a single test. An entry has the kind of the difference, and the reason
    why Ocular does not cause it."""

    test: str
    kind: str
    shows: str  # a pattern that matches the text of the difference
    reason: str
    control: str  # a program that has the same failure without Ocular
    # versions such as "3.12" or "3.13.12"; empty for all versions
    versions: list = field(default_factory=list)
    modes: list = field(default_factory=list)  # modes; empty for all modes
    met: bool = False  # True if the difference has occurred in this run

    def fits(self, version):
        """Returns True if the entry is valid for this version. In an entry, a version of
        three numbers stands also for the later versions of the same minor version."""
        this = _numbers(version)
        return not self.versions or any(
            this[:2] == listed[:2] and this >= listed
            for listed in map(_numbers, self.versions)
        )

    def explains(self, difference, mode):
        return (
            difference.test == self.test
            and difference.kind == self.kind
            and (not self.modes or mode in self.modes)
            and re.search(self.shows, difference.detail) is not None
        )


def _numbers(version):
    return tuple(int(number) for number in version.split("."))


class Expected:
    """The entries that are valid for one version of CPython ("3.13.0")."""

    def __init__(self, entries, version):
        self.entries = [entry for entry in entries if entry.fits(version)]

    def unmet(self, modules, modes):
        """Returns the entries whose differences should have occurred in a run of these
        modules and modes."""
        return [
            entry
            for entry in self.entries
            if not entry.met
            and (not entry.modes or set(entry.modes) & set(modes))
            and any(
                entry.test.removeprefix("test.").startswith(module) for module in modules
            )
        ]

    def find(self, difference, mode):
        for entry in self.entries:
            if entry.explains(difference, mode):
                entry.met = True
                return entry
        return None


def load(path):
    """Checks all entries of a file, and returns them. If an entry is wrong, a ValueError
    says why."""
    with open(path, "rb") as file:
        found = tomllib.load(file).get("difference", [])
    return [entry for values in found for entry in _entries(values)]


def _entries(values):
    """Yields an Entry for each test that a [[difference]] names."""
    values = dict(values)
    for name in (tests := values.pop("tests", [])):
        yield _entry(name, values)
    if not tests:
        raise ValueError(f"a difference without tests: {values}")


def _entry(name, values):
    if unknown := values.keys() - KEYS:
        raise ValueError(f"{name}: there is no {', '.join(unknown)}")
    if lacking := {"kind", "shows", "reason", "control"} - values.keys():
        raise ValueError(f"{name}: {', '.join(sorted(lacking))} is missing")
    if values["kind"] in ("crash", "hang"):
        raise ValueError(f"{name}: a {values['kind']} is never expected")
    # Differences of these two kinds belong to the process, so their entries need not name a
    # test.
    if values["kind"] not in ("output", "crash at exit") and (
        name.count(".") < 3 or VAGUE.search(name)
    ):
        raise ValueError(f"{name}: name a single test, as in test.test_x.Class.test_y")
    if not values["shows"] or re.search(values["shows"], "") is not None:
        raise ValueError(
            f"{name}: `shows` fits anything; it must be what this very difference shows"
        )
    if len(values["reason"].split()) < 5:
        raise ValueError(f"{name}: give a reason that can be checked")
    return Entry(test=name, **values)
