# SPDX-License-Identifier: MIT
"""The running interpreter's opcodes, out of its own tables.

Called once, by the extension, when it is imported. No opcode number is written
down anywhere in Ocular: they differ between versions.
"""

import dis
import opcode
import sys

# Opcodes whose variants are not specialisations to a type: CPython replaces
# them by itself, whatever the values are.
NO_TYPES = {"RESUME", "JUMP_BACKWARD", "LOAD_CONST", "LOAD_FAST", "STORE_FAST"}


def _numbers():
    """Name -> number of every opcode: base, specialised, instrumented."""
    if sys.version_info >= (3, 13):
        import _opcode_metadata as metadata

        return {**metadata._specialized_opmap, **metadata.opmap}
    names = {name: number for number, name in enumerate(opcode.opname)
             if not name.startswith("<")}
    return {**names, **dis._all_opmap}


def _specializations():
    """Base name -> names it specialises to."""
    if sys.version_info >= (3, 13):
        import _opcode_metadata as metadata

        return metadata._specializations
    return opcode._specializations


def _cache_units(name, number):
    """Inline cache entries (2 bytes each) that follow a base opcode."""
    entries = opcode._inline_cache_entries
    if isinstance(entries, list):
        return entries[number]
    return entries.get(name, 0)


def _site(name, numbers):
    """The kinds of site a base opcode is; only what CPython can instrument."""
    if "INSTRUMENTED_" + name not in numbers:
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
# Of their specialisations, those that are for Python functions.
PUSHES = ("CALL_PY_", "CALL_BOUND_METHOD_", "CALL_KW_PY", "CALL_KW_BOUND_METHOD",
          "CALL_ALLOC_AND_ENTER_INIT", "CALL_EX_PY")


def table(bits):
    """Rows (number, name, base number, cache units, flags), one an opcode.

    `bits` maps the flags' names to their bits (tracer/opcode.h).
    """
    numbers = {name: number for name, number in _numbers().items()
               if number < 256}
    base_of, typed = {}, set()
    for base, variants in _specializations().items():
        for variant in variants:
            if variant in numbers:
                base_of[variant] = base
        if base not in NO_TYPES:
            typed.add(base)
    first_instrumented = getattr(opcode, "MIN_INSTRUMENTED_OPCODE", None)
    if first_instrumented is None:
        import _opcode_metadata as metadata

        first_instrumented = metadata.MIN_INSTRUMENTED_OPCODE
    rows = []
    for name, number in numbers.items():
        base = base_of.get(name, name)
        flags = list(_site(name, numbers))
        if name in typed:
            flags.append("SPECIALIZABLE")
        if base != name and base in typed:
            flags.append("SPECIALIZED")
        if base in CALLS:
            flags.append("CALL")
        if name.startswith(PUSHES):
            flags.append("PUSHES")
        if name == "EXTENDED_ARG":
            flags.append("EXTENDED")
        if name == "ENTER_EXECUTOR":
            flags.append("EXECUTOR")
        elif number >= first_instrumented:
            flags.append("INSTRUMENTED")
        rows.append((number, name, numbers[base],
                     _cache_units(base, numbers[base]),
                     sum(bits[flag] for flag in flags)))
    return rows


def birth_counter():
    """What the first cache entry of a specialisable instruction holds in code
    that has never run, and again where instrumentation has put the base opcode
    back: the specialiser tries once it has counted down from there."""
    code = compile("a + b", "<ocular>", "eval")
    number = opcode.opmap["BINARY_OP"]
    at = 2 * code.co_code[::2].index(number)
    return int.from_bytes(code._co_code_adaptive[at + 2:at + 4], sys.byteorder)
