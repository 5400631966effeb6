// SPDX-License-Identifier: MIT
// The calling thread's lane, which every hook begins with. Made at first sight
// of a thread, by a hook; ends with its thread. Interpreter's lock held.
#ifndef OCULAR_PYTHON_HOOKS_OWN_LANE_H
#define OCULAR_PYTHON_HOOKS_OWN_LANE_H

#include "python/hooks/state.h"

// glibc keeps a surplus of static TLS for libraries loaded later, and one
// pointer fits; elsewhere the default model is safe.
#ifdef __GLIBC__
#define LANE_TLS __attribute__((tls_model("initial-exec")))
#else
#define LANE_TLS
#endif

// NULL: it has none. Where hooks are being timed on it, the calibration's.
extern _Thread_local struct Lane *own_lane LANE_TLS;

// Made if it has none; NULL when memory is out.
struct Lane *OwnLane_get(struct State *state, uint64_t ticks);
// Where hooks are being timed on the calling thread, that is off: it has its
// own lane again, and what the program says that runs is void.
void OwnLane_take_back(void);
// Ticks of CPU time that the timing of hooks has taken on that lane.
uint64_t OwnLane_lent_ticks(const struct Lane *lane);
// The calling thread's goes, as when the thread ends.
void OwnLane_end(void);

#endif
