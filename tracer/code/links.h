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
// `code` has no hooks (is dark), adds 1 to the caller's number of dark callees.
// Returns the result of Code_add_caller.
int Code_link(struct Code *caller, struct Code *code);
