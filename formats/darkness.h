// SPDX-License-Identifier: MIT
// Which functions are dark at the end of a recording, by its events. The
// reader's.
#ifndef OCULAR_FORMATS_DARKNESS_H
#define OCULAR_FORMATS_DARKNESS_H

#include "ipc/base/bytes.h"
#include "tracer/timeline/trace.h"

// Notes what these events say, of any thread and in any order.
void Darkness_see(struct Bytes *seen, const struct Event *events, size_t count);
// Those whose newest event says so. NULL: memory is out.
struct DarkFunction *Darkness_list(struct Bytes *seen, size_t *count);

#endif
