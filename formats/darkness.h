// SPDX-License-Identifier: MIT
// Finds out from the events of a recording when each function was dark. The
// reader of the recording collects the functions' changes and owns their list.
#pragma once

#include "ipc/base/bytes.h"
#include "tracer/timeline/trace.h"

#include <stdbool.h>

// A change of a function, which either went dark or was armed again.
struct Darkness {
    uint64_t ticks;
    uint32_t id; // Id of the function.
    // True if the function went dark (lost its hooks), false if it was armed
    // again.
    bool dark;
};

// Appends the changes of functions in `events` to `seen`. The events can be
// from any thread and in any order.
void Darkness_see(struct Bytes *seen, const struct Event *events, size_t count);
// Sorts `seen` by function, and for each function by time. All functions below
// Darkness_sort need `seen` in this order.
void Darkness_sort(struct Bytes *seen);
// Lists the functions that are dark after their newest change, and sets *count
// to the number of these functions. Returns NULL if memory is out. The caller
// frees the list.
struct RecordingDark *Darkness_list(const struct Bytes *seen, size_t *count);
// Updates the list `dark` by the changes up to the time `until`. The list
// `dark` was made shortly before `until`. A function in the list may have been
// armed again after the list was made.
void Darkness_update(const struct Bytes *seen, uint64_t until,
                     struct RecordingDark *dark, size_t *count);

// Tells how one function's state changed in a stretch of the recording.
struct ArmedTime {
    // True if the function was dark at some time in the stretch of the
    // recording.
    bool was_dark;
    // True if the function was dark at the end of the stretch of the recording.
    bool is_dark;
    // True if the function was armed again anywhere in the recording.
    bool rearmed;
};
// Returns the changes of the function `id`, oldest first, and sets *count to
// the number of changes. Returns NULL if the function has no changes.
const struct Darkness *Darkness_of(const struct Bytes *seen, uint32_t id,
                                   size_t *count);
// Says whether the function was dark in the stretch of the recording from
// `from` (included) to `to` (excluded), both in ticks.
struct ArmedTime Darkness_between(const struct Bytes *seen, uint32_t id,
                                  uint64_t from, uint64_t to);
