// SPDX-License-Identifier: MIT
// Which functions are dark at the end of a recording, by its events. The
// reader's.
#ifndef OCULAR_FORMATS_DARKNESS_H
#define OCULAR_FORMATS_DARKNESS_H

#include "ipc/base/bytes.h"
#include "tracer/timeline/trace.h"

#include <stdbool.h>

// A function went dark, or ceased to be.
struct Darkness {
    uint64_t ticks;
    uint32_t id;
    bool dark;
};

// Notes what these events say, of any thread and in any order.
void Darkness_see(struct Bytes *seen, const struct Event *events, size_t count);
// Those whose newest event says so. NULL: memory is out.
struct DarkFunction *Darkness_list(struct Bytes *seen, size_t *count);

// When a function had its hooks in, in a stretch.
struct ArmedTime {
    bool was_dark; // at some time of the stretch
    bool is_dark;  // at its end
    bool rearmed;  // at some time of the recording
};
// After Darkness_list, which sorts what was seen. That of one function, from
// the oldest on.
const struct Darkness *Darkness_of(const struct Bytes *seen, uint32_t id,
                                   size_t *count);
struct ArmedTime Darkness_between(const struct Bytes *seen, uint32_t id,
                                  uint64_t from, uint64_t to);

#endif
