# SPDX-License-Identifier: MIT
"""Reads the opcodes of the running interpreter from its own tables.

The extension calls this module once, when the extension is imported. Ocular's sources
contain no opcode numbers, because the numbers differ between versions.
"""

import dis
import opcode
import sys

# CPython also replaces these opcodes by other forms. These forms are not specialised for
# types of values, so they do not count as specialised.
NO_TYPES = {"RESUME", "JUMP_BACKWARD", "LOAD_CONST", "LOAD_FAST", "STORE_FAST"}


# Maps the name of every base, specialised and instrumented opcode to its number.
NUMBERS = dis._all_opmap
# Maps the name of every specialised form to the name of its base opcode.
BASE_OF = {form: base for base, forms in opcode._specializations.items() for form in forms}


def _cache_units(name, number):
    """Returns the number of cache entries (2 bytes each) after a base opcode."""
    entries = opcode._inline_cache_entries
    if isinstance(entries, list):
        return entries[number]
    return entries.get(name, 0)


def _site(name):
    """Returns the kinds of site of a base opcode. An opcode that CPython cannot instrument
    has no kind."""
    if "INSTRUMENTED_" + name not in NUMBERS:
        return ()
    if name == "RESUME":
        return ("RESUME",)
    if name.startswith("RETURN_") and name != "RETURN_GENERATOR":
        return ("RETURN",)
    if name == "YIELD_VALUE":
        return ("YIELD",)
    if name == "JUMP_BACKWARD":
        return ("JUMP", "LOOP")
    if name == "JUMP_FORWARD":
        return ("JUMP",)
    if name.startswith("POP_JUMP_IF_"):
        return ("BRANCH",)
    if name == "FOR_ITER":
        return ("BRANCH", "ITER")
    return ()


CALLS = {"CALL", "CALL_KW", "CALL_FUNCTION_EX"}
# The names of specialised calls of Python functions begin with these prefixes. An opcode in
# VERSIONED has the function's version (PyFunctionObject.func_version) in its second and
# third cache unit (_PyCallCache in pycore_code.h).
VERSIONED = ("CALL_PY_", "CALL_BOUND_METHOD_", "CALL_KW_PY", "CALL_KW_BOUND_METHOD")
PUSHES = (*VERSIONED, "CALL_ALLOC_AND_ENTER_INIT", "CALL_EX_PY")


def table(bits):
    """Returns a row (number, name, base number, cache units, flags) for each opcode.

    `bits` maps the names of flags to their bits (tracer/base/opcode.h).
    """
    numbers = {name: number for name, number in NUMBERS.items() if number < 256}
    typed = opcode._specializations.keys() - NO_TYPES
    rows = []
    for name, number in numbers.items():
        base = BASE_OF.get(name, name)
        flags = list(_site(name))
        if name in typed:
            flags.append("SPECIALIZABLE")
        if base != name and base in typed:
            flags.append("SPECIALIZED")
        if base in CALLS:
            flags.append("CALL")
        if name.startswith(PUSHES):
            flags.append("PUSHES")
        if name.startswith(VERSIONED):
            flags.append("VERSIONED")
        if name == "EXTENDED_ARG":
            flags.append("EXTENDED")
        if name == "ENTER_EXECUTOR":
            flags.append("EXECUTOR")
        elif number >= opcode.MIN_INSTRUMENTED_OPCODE:
            flags.append("INSTRUMENTED")
        rows.append(
            (
                number,
                name,
                numbers[base],
                _cache_units(base, numbers[base]),
                sum(bits[flag] for flag in flags),
            )
        )
    return rows


# Gives the number of flags in the low bits of an opcode's argument. COMPARE_OP has 4 flags
# on 3.12, and 5 on later versions. _comparison_shift() finds out the number of flags.
SHIFTS = {"LOAD_GLOBAL": 1, "LOAD_ATTR": 1, "LOAD_SUPER_ATTR": 2}
# If the lowest bit of its argument is set, an opcode of this set pushes an object that will
# be called.
CALLABLES = {"LOAD_GLOBAL", "LOAD_ATTR", "LOAD_SUPER_ATTR"}


def _comparison_shift():
    code = compile("a == b", "<ocular>", "eval").co_code
    at = code[::2].index(opcode.opmap["COMPARE_OP"])
    return 5 if code[2 * at + 1] >> 5 == opcode.cmp_op.index("==") else 4


def _texts():
    """Returns a dict from an opcode to the texts of its arguments 0, 1, 2..., if these have
    the same meaning in all code."""

    def names(attribute):
        found = getattr(opcode, attribute, None) or getattr(dis, attribute, None)
        return [
            str(getattr(name, "__name__", name))
            .removeprefix("INTRINSIC_1_")
            .removeprefix("INTRINSIC_2_")
            .removeprefix("INTRINSIC_")
            .lower()
            for name in found or ()
        ]

    return {
        "COMPARE_OP": list(opcode.cmp_op),
        "BINARY_OP": [text for _, text in getattr(opcode, "_nb_ops", ())],
        "IS_OP": ["is", "is not"],
        "CONTAINS_OP": ["in", "not in"],
        "CALL_INTRINSIC_1": names("_intrinsic_1_descs"),
        "CALL_INTRINSIC_2": names("_intrinsic_2_descs"),
        "LOAD_SPECIAL": names("_special_method_names"),
    }


def operands():
    """Returns (rows, texts, null_first) for struct Operand. A row is (number, kind, shift,
    first text, number of texts, callable)."""
    kinds = [
        ("CONST", opcode.hasconst),
        ("NAME", opcode.hasname),
        ("LOCAL", opcode.haslocal),
        ("LOCAL", opcode.hasfree),
        ("JUMP", opcode.hasjrel),
    ]
    special, texts, rows = _texts(), [], []
    pairs = {
        "LOAD_FAST_LOAD_FAST",
        "STORE_FAST_LOAD_FAST",
        "STORE_FAST_STORE_FAST",
        "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
    }
    for name, number in NUMBERS.items():
        if number not in opcode.hasarg or number > 255:
            continue
        kind, first, count = "NUMBER", 0, 0
        shift = SHIFTS.get(name, 0)
        for which, members in kinds:
            if number in members:
                kind = which
        if name in pairs:
            kind = "LOCALS"
        if special.get(name):
            kind, first, count = "TEXT", len(texts), len(special[name])
            texts += special[name]
        if name == "COMPARE_OP":
            shift = _comparison_shift()
        rows.append((number, kind, shift, first, count, name in CALLABLES))
    code = compile("f()", "<ocular>", "eval").co_code[::2]
    null = code.find(opcode.opmap.get("PUSH_NULL", 0))
    return rows, texts, 0 <= null < code.index(opcode.opmap["LOAD_NAME"])


def fusion():
    """Returns the superinstructions for tracer/code/fusion.h, as (rows, pairs). A row is
    (number, length in units, part, plain). A pair is (first part, second part, number of
    the superinstruction).

    If instrumentation removes no superinstructions, both lists are empty. In a debug build
    the lists are also empty, because CPython's assertions would fail at restored
    superinstructions.
    """
    if sys.version_info >= (3, 13) or hasattr(sys, "gettotalrefcount"):
        return [], []
    fused = {name: name.split("__") for name in NUMBERS if "__" in name}
    parts = {
        part: index
        for index, part in enumerate(
            sorted({part for each in fused.values() for part in each}), 1
        )
    }
    rows = []
    for name, number in NUMBERS.items():
        plain = name.removeprefix("INSTRUMENTED_")
        plain = BASE_OF.get(plain, plain)
        # INSTRUMENTED_LINE and INSTRUMENTED_INSTRUCTION hide the original opcode.
        if plain in NUMBERS and number < 256 and plain != "CACHE":
            rows.append(
                (
                    number,
                    1 + _cache_units(plain, NUMBERS[plain]),
                    parts.get(plain, 0) if plain == name or name in fused else 0,
                    plain == name,
                )
            )
    pairs = [
        (parts[first], parts[second], NUMBERS[name])
        for name, (first, second) in fused.items()
    ]
    return rows, pairs


def birth_counter():
    """Returns the counter (the first cache entry) of a specialisable instruction in
    code that has never run. Instrumentation sets the counter to this value again when
    it restores the base opcode. CPython tries to specialise the instruction when the
    counter has run down."""
    code = compile("a + b", "<ocular>", "eval")
    number = opcode.opmap["BINARY_OP"]
    at = 2 * code.co_code[::2].index(number)
    return int.from_bytes(code._co_code_adaptive[at + 2 : at + 4], sys.byteorder)
