// SPDX-License-Identifier: MIT
// Writes the events in the track of Ocular's own threads. The events are
// counters, changes of specialisation, times in which a function was dark,
// waits, and samples. Also writes the stalls of event loops. These events
// concern the process or other threads than Ocular's, and each event has its
// own time.
#pragma once

#include "formats/trace_writer.h"

// Writes the events of the view's chunks from writer->chunk on. `written` says
// which threads of the view are in the file. Counters of threads that are not
// in the file are left out. Returns 0 or -errno.
int OwnEvents_write(struct TraceWriter *writer,
                    const struct TraceFormat *format, const bool *written);
