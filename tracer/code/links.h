// SPDX-License-Identifier: MIT
// The callers and callees of a code object, as far as they were seen.
// Counting lock held.
#ifndef OCULAR_TRACER_CODE_LINKS_H
#define OCULAR_TRACER_CODE_LINKS_H

#include "tracer/code/code.h"

bool Code_has_caller(const struct Code *code, uint32_t caller);
// Remembers that `caller` calls it. 1 if that is news, 0, or -ENOMEM.
int Code_add_caller(struct Code *code, uint32_t caller);
// `caller` calls it: both remember, and if it is dark the caller counts one
// more dark callee. 1 if that is news, 0, or -ENOMEM.
int Code_link(struct Code *caller, struct Code *code);

#endif
