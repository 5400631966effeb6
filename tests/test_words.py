# SPDX-License-Identifier: MIT
"""Each thing has one name. The names in this list were replaced by other names, and must
not come back in the files that the list gives."""

import re
import subprocess
from pathlib import Path

import pytest
from tracked import tracked

pytestmark = pytest.mark.once
ROOT = Path(__file__).resolve().parent.parent
KINDS = (".c", ".h", ".def", ".py", ".pyi", ".md", "Makefile")
# These files have no usual suffix. For example, the names of manual pages end with the
# number of their section.
FOLDERS = ("docs/man/", "docs/completion/", ".ci/", "python/setup/")

# Each entry has the name to use, a pattern of the files in which the replaced name is not
# allowed, and a pattern of the replaced name.
REPLACED = (
    # These words are about the budget.
    ("credit", "tracer/", r"\bpurse|\bPURSE"),
    ("available", "", r"Budget_grant|->grant\b"),
    ("reserve", "", r"Budget_promise"),
    ("refill rate", "tracer/|python/", r"\bpace\b"),
    ("throttled", "", r"Budget_is_tight"),
    ("throttled", "tracer/", r"\btight\b"),
    ("surplus", "tracer/budget/", r"\bspare\b|\bSPARE"),
    ("minimum rate", "", r"\btrickle\b|\bTRICKLE\b"),
    ("read denied", "", r"(is|are)_blind|\bblind\b"),
    ("tool ids lost", "", r"\b(is_)?robbed\b|_robbed\b"),
    ("preempted", "tracer/|python/|ipc/", r"\bforced\b"),
    ("breakdown", "tracer/|tests/tracer/", r"\bsplit\b(?! up)|\bSplit_|struct Split"),
    ("samples per instruction", "tracer/", r"\bspots?\b|_spots?\b|struct Spot\b"),
    ("sampled thread", "tracer/|tests/tracer/", r"(?i)subject"),
    ("accounting", "", r"(?i)\bledger"),
    ("observation", "tracer/sample/", r"\blooks?\b(?! at (its|CPU))|\b[lL]ooks_|\bLooks\b"),
    ("discovery tool", "", r"\b[sS]cout\b|_scout\b|\bscout_"),
    ("activation thread", "", r"[dD]oorman"),
    ("child starter", "python/|docs/", r"(?i)\bheirs?(\b|_)|_heir\b"),
    ("persistent server", "ipc/|tracer/|python/", r"(?i)\bdoors?(\b|_)"),
    ("wake-up socket", "ipc/|tracer/", r"(?i)\bbells?(\b|_)"),
    ("clients", "", r"(?i)\baudience"),
    ("dispatch", "ipc/", r"struct House|\b[rR]eception"),
    ("eviction heap", "tracer/", r"\bAges_|struct Ages|\bages->"),
    ("thread-id reuse guard", "tracer/", r"\bEnds_|struct Ends?\b"),
    ("wake", "tracer/|python/", r"\burged?\b|_urge\b|\burge_"),
    ("specialisation history", "tracer/|tests/tracer/", r"\bStory_|struct Story|_story\b"),
    ("operand text", "tracer/|python/", r"\bWords_|struct Words|\bWORDS_|CodeWords"),
    ("listing builder", "", r"\bLister_|struct Lister|\blister\b"),
    ("reported", "tracer/sample/", r"->told\b|\bbool told\b"),
    ("reported", "tests/bench/budget", r"\"told\"|MISS told"),
    ("cumulative", "tracer/|tests/tracer/", r"(share->|share\.)under\b|\bUNDER_PART"),
    ("waiting to run", "tracer/", r"(->|\.)queued\b"),
    ("active", "tracer/|ipc/", r"(?i)\bcrowd|_crowd\b"),
    ("re-arm window", "", r"\bVisit_|struct Visit\b"),
    ("re-arm window", "tracer/budget/", r"(?<!->)\bvisits?\b(?!\.)"),
    ("re-arm window", "tracer/budget/", r"\bA session\b|\bsessions differ"),
    ("thread record", "tracer/|python/|ipc/|docs/|tests/", r"(?i)\blanes?(\b|_)|_lanes?\b"),
    ("thread record", "", r"\bOwnLane_|own_lane\b|(Timeline|Replay_)[lL]ane\b"),
    ("overhead", "tracer/hook/|python/hooks/", r"\bdebt\b|_debt\b"),
    ("stolen ticks", "tracer/hook/|python/hooks/", r"(->|\.|_t )kept\b"),
    ("counter", "tracer/|python/|tests/tracer/", r"(?i)\bcell(s?_|s\b|\.h)|struct cell\b"),
    ("fast path", "tracer/|python/|tests/tracer/", r"(?i)\bcourse\b|COURSE_|plain_epoch"),
    ("fast path", "tracer/hook/|python/hooks/", r"HOOK_PLAIN|\bon_\w+_plain\b|_plain_\w+"),
    ("slow path", "tracer/hook/|python/hooks/", r"HOOK_WHOLE|_whole\b|_TURN\b"),
    ("observed, sampled", "tracer/", r"\b[mM]et\b|_met\b"),
    ("check, measure", "tracer/", r"_doubt\b|Preemption_take\b"),
    ("fast path", "tracer/hook/", r"\bplain\b"),
    ("unaccounted", "", r"\buntold\b"),
    ("update costs", "", r"RearmExecutor_price"),
    ("choose name", "", r"Export_free_name"),
    ("re-arm window", "tracer/code/|python/service/|docs/", r"\b[Vv]isits?\b"),
    ("uncontended, skipped", "tracer/hook/|python/hooks/", r"\bcalm\b|\bspared\b"),
    ("sampled", "tracer/", r"(?i)\bunmet"),
    ("sample, observation", "docs/architecture", r"\bit looks\b"),
    ("warm-up", "tracer/|python/|ipc/|docs/", r"first descent"),
    ("event", "python/", r"silenced_met|\bmet\b"),
    ("reported", "tests/|python/", r"\btold( [-=+/]|\[|\.[a-z]|\()|\btold_|\.told\b"),
    ("reported", "", r"[Ww]hat is told( -|\.|,| there|$)|\btold of\b|\btold less\b"),
    ("cut threshold", "tracer/|python/|ipc/|docs/", r"(?i)\btrim"),
    ("code-load burst", "tracer/|python/|ipc/|docs/", r"(?i)\brush(es)?\b|_rush\b"),
    ("cold-cache penalty", "tracer/budget/|tracer/sample/", r"\bcold_ns|_cold\b"),
    ("token bucket", "", r"Bucket_|struct Bucket\b"),
    ("cost", "tracer/|python/|ipc/|tests/tracer/", r"(?i)\bpriced?\b|\bprices\b"),
    ("unattributed", "tracer/|python/|ipc/", r"\bowed\b"),
    ("call edges", "tracer/|python/", r"\bEdges?_|struct Edges?\b"),
    ("contended", "tracer/|python/|ipc/|tui/", r"(?i)\bcrowd"),
    ("typical", "tracer/hook/|python/hooks/", r"\busual_|_usual\b|\bUNUSUAL\b"),
)


def grep(patterns, *options, **more):
    """Python's `re` takes seconds for all patterns, and grep a tenth of a second."""
    command = ["grep", "-P", "-e", "|".join(f"(?:{each})" for each in patterns), *options]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, **more)
    assert done.returncode < 2, done.stderr
    return done.stdout.splitlines()


def uses(names):
    """Returns the lines and the paths that contain a replaced name, each with the new
    names."""
    found = []
    for where in {where for _, where, _ in REPLACED}:
        patterns = [pattern for _, place, pattern in REPLACED if place == where]
        files = [name for name in names if re.match(where, name)]
        lines = grep(patterns, "-Hn", "--", *files) + grep(patterns, input="\n".join(files))
        say = ", ".join(word for word, place, _ in REPLACED if place == where)
        found += [f"{line}: say one of: {say}" for line in lines]
    return found


def test_replaced_names_stay_away():
    names = [name for name in tracked() if name.endswith(KINDS) or name.startswith(FOLDERS)]
    assert len(names) > 300
    found = uses([name for name in names if name != "tests/test_words.py"])
    assert not found, "\n".join(found)
