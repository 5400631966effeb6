// SPDX-License-Identifier: MIT
// Writes the track of our own threads: counters, changes, dark stretches
// and samples. They are
// of the process and of other threads, in times of their own. perfetto.c calls
// it, on the writing thread.
#ifndef OCULAR_FORMATS_OWN_EVENTS_H
#define OCULAR_FORMATS_OWN_EVENTS_H

#include "formats/trace_writer.h"

// The chunks of the view from writer->chunk on are that track's. `written`:
// which of the view's threads are in the file; a counter of another is left
// out. 0 or -errno.
int OwnEvents_write(struct TraceWriter *writer,
                    const struct TraceFormat *format, const bool *written);

#endif
