// SPDX-License-Identifier: MIT
// Makes the snapshot's rows of threads, from the sampler and from thread
// records. A thread record begins at the thread's first accepted function and
// ends with the thread. The collector's thread or the stopping thread calls
// this code.
#ifndef OCULAR_TRACER_SESSION_THREADS_H
#define OCULAR_TRACER_SESSION_THREADS_H

#include "ipc/snapshot.h"
#include "tracer/hook/thread_traces.h"
#include "tracer/sample/sampler.h"

// Fills the rows of threads, with the living threads first. If `sampler` is
// NULL, shares are unknown. Returns false if memory is out.
bool Threads_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct ThreadTraces *traces);

#endif
