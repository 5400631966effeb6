// SPDX-License-Identifier: MIT
// Finds out from a recording's events when each function was dark. The reader
// of the recording collects the events and owns the result.
#ifndef OCULAR_FORMATS_DARKNESS_H
#define OCULAR_FORMATS_DARKNESS_H

#include "ipc/base/bytes.h"
#include "tracer/timeline/trace.h"

#include <stdbool.h>

// Records that a function went dark or was armed again.
struct Darkness {
    uint64_t ticks;
    uint32_t id; // the function's
    bool dark;   // true: it went dark; false: it was armed again
};

// Appends to `seen` the changes that `events` report. The events may come from
// any thread and in any order.
void Darkness_see(struct Bytes *seen, const struct Event *events, size_t count);
// Sorts `seen` by function and time. The next functions need this order.
void Darkness_sort(struct Bytes *seen);
// Lists the functions that are dark after their newest change, and sets *count
// to their number. Returns NULL if memory is out. The caller frees the list.
struct RecordingDark *Darkness_list(const struct Bytes *seen, size_t *count);
// Applies the changes up to `until` ticks to a list that was made a moment
// earlier. A function may have been armed again since then.
void Darkness_update(const struct Bytes *seen, uint64_t until,
                     struct RecordingDark *dark, size_t *count);

// Says whether one function was dark in a stretch.
struct ArmedTime {
    bool was_dark; // the function was dark at some time of the stretch
    bool is_dark;  // the function was dark at the end of the stretch
    bool rearmed;  // the function was re-armed at some time of the recording
};
// Returns the changes of one function, oldest first, and sets *count to the
// number of changes. Returns NULL if the function has no changes.
const struct Darkness *Darkness_of(const struct Bytes *seen, uint32_t id,
                                   size_t *count);
// Examines the stretch from `from` (included) to `to` (excluded), in ticks.
struct ArmedTime Darkness_between(const struct Bytes *seen, uint32_t id,
                                  uint64_t from, uint64_t to);

#endif
