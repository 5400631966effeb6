// SPDX-License-Identifier: MIT
// Writes the events that Ocular's own threads have recorded. The events are
// counters, specialisation changes, dark periods and samples. These events
// concern the process or other threads, and each event has its own time.
// perfetto.c calls this code on the writing thread.
#ifndef OCULAR_FORMATS_OWN_EVENTS_H
#define OCULAR_FORMATS_OWN_EVENTS_H

#include "formats/trace_writer.h"

// Writes the chunks of the view from writer->chunk on. `written` says which
// threads of the view are in the file. The counters of all other threads are
// left out. Returns 0 or -errno.
int OwnEvents_write(struct TraceWriter *writer,
                    const struct TraceFormat *format, const bool *written);

#endif
