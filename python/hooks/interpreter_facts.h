// SPDX-License-Identifier: MIT
// Reads the opcodes, the layout of frames, the version and the switch interval
// of the running interpreter for the engine. module.c, tracing.c and the
// governor call these functions with the GIL held.
#pragma once

#include "python/hooks/state.h"

// The number of code units whose byte offset is a small integer. CPython keeps
// the objects of small integers. For any other offset CPython makes an object
// and frees the object after the event, which takes time.
#if PY_VERSION_HEX >= 0x030F0000
#define HOOK_NEAR_UNITS (1024 / 2 + 1)
#else
#define HOOK_NEAR_UNITS (256 / 2 + 1)
#endif

// Reads the tables of ocular._opcodes. Returns 0, or -1 with an exception.
int InterpreterFacts_opcodes(struct State *state);
void InterpreterFacts_layout(struct FrameLayout *layout);
// Writes a text such as "CPython 3.13.0".
void InterpreterFacts_version(char *out, size_t size);
int InterpreterFacts_switch_interval(struct State *state);
