// SPDX-License-Identifier: MIT
// Writes the events of Ocular's own threads. The events are counters, changes
// of specialisation, times in which a function was dark, waits, and samples.
// Also writes the stalls of event loops. Events in the track of Ocular's own
// threads concern the process or its other threads, and each event has its own
// time.
#pragma once

#include "formats/trace_writer.h"

// Writes the events of the view's chunks, from the chunk with the number
// writer->chunk on. A counter of a thread is not written if the thread is not
// in the file (writer->written). Returns 0 or -errno.
int OwnEvents_write(struct TraceWriter *writer);
