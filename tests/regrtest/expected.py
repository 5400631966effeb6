# SPDX-License-Identifier: MIT
"""Reads expected.toml, the list of differences that Ocular does not cause."""

import fnmatch
import re
import tomllib
from dataclasses import dataclass, field


@dataclass
class Entry:
    """An entry says why Ocular does not cause a difference of one kind, either in one test
    or in all tests of a module ("test.test_x.*")."""

    test: str
    kind: str
    shows: str  # a pattern that matches the text of the difference
    reason: str
    control: str  # a program, or the event of a tool, with the same failure without Ocular
    # versions such as "3.12" or "3.13.12"; empty for all versions
    versions: list = field(default_factory=list)
    modes: list = field(default_factory=list)  # modes; Empty for all modes.
    met: bool = False  # True if the difference has occurred in this run

    def __post_init__(self):
        if self.kind in ("crash", "hang"):
            raise ValueError(f"{self.test}: a {self.kind} is never expected")
        if re.search(self.shows, "") is not None:
            raise ValueError(f"{self.test}: `shows` fits anything")

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
            fnmatch.fnmatchcase(difference.test, self.test)
            and difference.kind == self.kind
            and (not self.modes or mode in self.modes)
            and re.search(self.shows, difference.detail) is not None
        )


def _numbers(version):
    return tuple(int(number) for number in version.split("."))


class Expected:
    """The entries of a file that are valid for one version of CPython ("3.13.0")."""

    def __init__(self, path, version):
        found = tomllib.loads(path.read_text())["difference"]
        entries = [Entry(name, **each) for each in found for name in each.pop("tests")]
        self.entries = [entry for entry in entries if entry.fits(version)]

    def unmet(self, modules, modes):
        """Returns the entries whose differences should have occurred in a run of these
        modules and modes, but did not."""
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
