// SPDX-License-Identifier: MIT
// Makes the snapshot's rows of threads, from the sampler's list and the thread
// records. A thread has a thread record from its first traced function to its
// end. Threads_fill is called by the collector's thread, or by the thread that
// stops the session.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/hook/thread_traces.h"
#include "tracer/sample/sampler.h"

// Fills in a snapshot's rows of threads, the living threads first. If `sampler`
// is NULL, the threads' shares are not known.
void Threads_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct ThreadTraces *traces);
