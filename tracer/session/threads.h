// SPDX-License-Identifier: MIT
// Makes the snapshot's rows of threads, from the sampler's list and the thread
// records. A thread record begins at the thread's first traced function and
// ends with the thread. The collector's thread calls Threads_fill, or the
// thread that stops the session.
#pragma once

#include "ipc/snapshot.h"
#include "tracer/hook/thread_traces.h"
#include "tracer/sample/sampler.h"

// Fills a snapshot's rows of threads, the living threads first. If `sampler` is
// NULL, the threads' shares are not known. Returns false if there is no memory.
bool Threads_fill(struct Snapshot *snapshot, struct Sampler *sampler,
                  struct ThreadTraces *traces);
