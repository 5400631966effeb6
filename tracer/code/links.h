// SPDX-License-Identifier: MIT
// Keeps the known callers and callees of a code object. The caller holds the
// counting lock.
#pragma once

#include "tracer/code/code.h"

bool Code_has_caller(const struct Code *code, uint32_t caller);
// Adds the call edge from `caller` to `code`, which is not known yet, to the
// links of both functions. If `code` has no hooks (is dark), adds 1 to the
// caller's number of dark callees. Adds nothing if there are too many callers
// or memory is out.
void Code_link(struct Code *caller, struct Code *code);
