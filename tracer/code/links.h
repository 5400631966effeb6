// SPDX-License-Identifier: MIT
// The callers and callees of a code object, as far as they were seen. The
// counting lock is held.
#ifndef OCULAR_TRACER_CODE_LINKS_H
#define OCULAR_TRACER_CODE_LINKS_H

#include "tracer/code/code.h"

bool Code_has_caller(const struct Code *code, uint32_t caller);
// Notes that `caller` calls `code`. Returns 1 if the caller is new, 0 if not or
// if there are too many callers, or -ENOMEM.
int Code_add_caller(struct Code *code, uint32_t caller);
// Notes in both functions that `caller` calls `code`. If `code` is dark, the
// caller counts one more dark callee. Returns what Code_add_caller returns.
int Code_link(struct Code *caller, struct Code *code);

#endif
