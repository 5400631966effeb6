// SPDX-License-Identifier: MIT
// Facts of the running interpreter that the engine gets once: its opcodes,
// where a running frame is found, its version. Interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_INTERPRETER_FACTS_H
#define OCULAR_PYTHON_HOOKS_INTERPRETER_FACTS_H

#include "python/hooks/state.h"

// CPython keeps the small integers; of any other offset it makes an object, and
// frees it after the event. These are the units whose offsets are small.
#if PY_VERSION_HEX >= 0x030F0000
#define HOOK_NEAR_UNITS (1024 / 2 + 1)
#else
#define HOOK_NEAR_UNITS (256 / 2 + 1)
#endif

// Reads ocular._opcodes.table(). 0, or -1 with an exception.
int InterpreterFacts_opcodes(struct State *state);
void InterpreterFacts_layout(struct FrameLayout *layout);
void InterpreterFacts_version(char *out, size_t size); // "CPython 3.13.0"
int InterpreterFacts_switch_interval(struct State *state);

#endif
