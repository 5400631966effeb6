// SPDX-License-Identifier: MIT
// Writes the names of the functions that have events in a recording. The name
// of a function is written once, after the function's first event. Names are
// stored in two halves, both of limited size. When the newer half is full, the
// older half is dropped. A dropped name is written again at the function's next
// event. The timeline's mutex guards the list of the ids whose names must still
// be written. The thread that writes names holds no lock for which other
// threads wait.
#pragma once

#include "ipc/base/bytes.h"
#include "tracer/timeline/recording.h"
#include "tracer/timeline/ring.h"
#include "tracer/timeline/trace.h"

#include <stdbool.h>

struct RecordingNames {
    // Number of blocks of 64 KiB in each half, set by the creator of the
    // struct.
    size_t blocks;
    // One bit for each id, which is 1 if the name is written, or if the id is
    // in `wanted`.
    uint8_t *known;
    size_t known_bytes; // Size of `known` in bytes.
    // Ids of the functions whose names must still be written.
    uint32_t *wanted;
    size_t wanted_count, wanted_room;
    // Only the thread that writes names uses the fields from `text` on.
    struct Bytes text; // Names in the block that is being filled.
    // The places of the blocks of the older half and of the newer half.
    struct RecordingSlot *half[2];
    size_t count[2];
    bool opcodes; // True if the names of opcodes are written.
    // True if the older half was dropped, so that its names must be written
    // again.
    bool restarts;
};

struct RecordingWanted {
    uint32_t *ids;
    size_t count;
};

// Provides the names of functions (trace.h) and of opcodes to the writer.
struct RecordingSource {
    void *context;
    bool (*name)(void *context, uint32_t id, struct PerfettoName *name);
    const struct Opcodes *opcodes;
};

void RecordingNames_release(struct RecordingNames *names);
// Adds an id to the list of ids whose names must be written. The file lacks the
// name of the function if memory is out.
void RecordingNames_want(struct RecordingNames *names, uint32_t id);
// RecordingNames_restart is called if the names in the file are lost, so that
// all names are written again.
void RecordingNames_restart(struct RecordingNames *names);
// Returns the ids whose names must be written now. The caller owns the ids
// until it calls RecordingNames_give_back.
struct RecordingWanted RecordingNames_take(struct RecordingNames *names);
// Writes the names of the functions with the wanted ids. If a name is not known
// yet, its id stays wanted. Returns 0 or -errno.
int RecordingNames_write(struct RecordingNames *names,
                         struct Recording *recording,
                         const struct RecordingSource *source,
                         struct RecordingWanted *wanted);
// Begins a new block of names, so that the block with the names so far does not
// move any more. Does nothing if the newer half is full. The thread that writes
// names calls RecordingNames_end.
void RecordingNames_end(struct RecordingNames *names,
                        struct Recording *recording);
void RecordingNames_give_back(struct RecordingNames *names,
                              struct RecordingWanted *wanted);

static inline void RecordingNames_see_id(struct RecordingNames *names,
                                         uint32_t id)
{
    if (id / 8 >= names->known_bytes || !(names->known[id / 8] >> id % 8 & 1))
        RecordingNames_want(names, id);
}

static inline void RecordingNames_see(struct RecordingNames *names,
                                      const struct Event *event)
{
    enum EventKind kind = Event_kind(event);
    bool has_id = EventKind_opens(kind) || kind == EVENT_FRAME ||
                  kind == EVENT_CHANGE || kind == EVENT_REARMED ||
                  kind == EVENT_DARK;

    if (has_id && Event_id(event))
        RecordingNames_see_id(names, Event_id(event));
}
