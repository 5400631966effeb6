// SPDX-License-Identifier: MIT
// Ticks that a hook takes for what only few events need: they are kept off the
// traced program's time, and are our cost. What a record had been charged
// before, and what is added. A hook on the traced thread, interpreter's lock
// held.
#ifndef OCULAR_PYTHON_HOOKS_PAID_H
#define OCULAR_PYTHON_HOOKS_PAID_H

#include "python/hooks/state.h"

// What had been paid, and armed, before something is done.
struct Paid {
    uint64_t overhead, stolen;
    struct Armed armed;
};

// The record may be NULL: it has paid nothing.
struct Paid Paid_by(const struct ThreadTrace *trace);
// Ticks that were taken for what only few events need. They are no time of the
// program's. Nor are they a cost of ours, where that never takes so long: then
// others had the CPU.
void Paid_add(struct ThreadTrace *trace, const struct Paid *before,
              uint64_t taken);
// The same of all that was done since the event came, at `ticks`: what the
// record has booked meanwhile is in it, and it may have asked the kernel.
void Paid_since(struct ThreadTrace *trace, const struct Paid *before,
                uint64_t ticks, uint64_t taken);

#endif
