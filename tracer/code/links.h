// SPDX-License-Identifier: MIT
// Keeps the known callers and callees of a code object. The caller holds the
// counting lock.
#pragma once

#include "tracer/code/code.h"

bool Code_has_caller(const struct Code *code, uint32_t caller);
// Adds `caller` to the callers of `code`. Returns 1 if the caller was not known
// before, or -ENOMEM. Returns 0 if the caller was known before or if there are
// too many callers.
int Code_add_caller(struct Code *code, uint32_t caller);
// Adds the call edge from `caller` to `code` to the links of both functions. If
// `code` is dark, adds 1 to the caller's number of dark callees. The return
// value is that of Code_add_caller.
int Code_link(struct Code *caller, struct Code *code);
// Notes the id of the C function that the instruction at `unit` calls, or 0 for
// none. Does nothing if memory is out. The caller holds the GIL.
void Code_set_c_function(struct Code *code, uint32_t unit, uint32_t id);
// Returns the id of the C function that the instruction with this number calls,
// or 0 if none is known. Any thread may call it in a read section of RCU.
uint32_t Code_c_function(const struct Code *code, uint16_t number);
