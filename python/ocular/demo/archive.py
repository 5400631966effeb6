# SPDX-License-Identifier: MIT
"""Does work that runs mostly in C, such as json, regular expressions, sorting and zlib."""

import json
import re
import zlib

WORD = re.compile(r"[a-z]{3,}")


def by_value(result):
    return result["value"], result["text"]


def pack(results):
    """Sorts results and packs them into compressed JSON."""
    ordered = sorted(results, key=by_value)
    text = json.dumps(ordered, sort_keys=True)
    return zlib.compress(text.encode(), 6)


def unpack(packed):
    return json.loads(zlib.decompress(packed))


def words(texts):
    """Counts how often each word occurs."""
    counts = {}
    for word in WORD.findall(" ".join(texts)):
        counts[word] = counts.get(word, 0) + 1
    return counts


def shuffle_and_sort(noise, count):
    """Sorts numbers twice, first entirely in C, and then with a key function in Python."""
    numbers = [noise.number(1 << 20) for _ in range(count)]
    numbers.sort()
    return sorted(numbers, key=lambda number: number & 0xFF)[0]
