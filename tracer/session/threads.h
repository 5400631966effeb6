// SPDX-License-Identifier: MIT
// The snapshot's rows of threads: from the sampler and from their thread
// records, which see a thread from its first accepted function to its very end.
// The collector's thread, or the stopping one.
#ifndef OCULAR_TRACER_SESSION_THREADS_H
#define OCULAR_TRACER_SESSION_THREADS_H

#include "ipc/snapshot.h"
#include "tracer/hook/thread_traces.h"
#include "tracer/sample/sampler.h"

// Those that live first. sampler: NULL = none, shares are unknown. false when
// memory is out.
bool Threads_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct ThreadTraces *traces);

#endif
