// SPDX-License-Identifier: MIT
// The names of the functions that a recording has events of: each is written
// once, after the first of these events. They have a bound, too: once the newer
// half of it is full the older one is dropped, and its functions are written
// again when they have events again. The ids that are wanted are the
// timeline's, under its mutex. The writer holds no lock that others wait for.
#ifndef OCULAR_TRACER_TIMELINE_RECORDING_NAMES_H
#define OCULAR_TRACER_TIMELINE_RECORDING_NAMES_H

#include "ipc/base/bytes.h"
#include "tracer/timeline/recording.h"
#include "tracer/timeline/ring.h"
#include "tracer/timeline/trace.h"

#include <stdbool.h>

struct RecordingNames {
    size_t blocks;      // of 64 KiB, in each half; whoever makes it sets it
    uint8_t *known;     // a bit an id: it is written, or among `wanted`
    size_t known_bytes; // that there are
    uint32_t *wanted;   // ids whose names are still to be written
    size_t wanted_count, wanted_room;
    // The writer's.
    struct Bytes text;             // of the block that is being filled
    struct RecordingSlot *half[2]; // of the blocks: older, newer
    size_t count[2];
    bool opcodes;  // are written
    bool restarts; // the older half went: its names are wanted again
};

struct RecordingWanted {
    uint32_t *ids;
    size_t count;
};

// Answers what a function is called (trace.h), and has the opcodes.
struct RecordingSource {
    void *context;
    bool (*name)(void *context, uint32_t id, struct PerfettoName *name);
    const struct Opcodes *opcodes;
};

void RecordingNames_release(struct RecordingNames *names);
// If memory is out the function has no name in the file.
void RecordingNames_want(struct RecordingNames *names, uint32_t id);
// All names are wanted again, because the written ones are lost.
void RecordingNames_restart(struct RecordingNames *names);
// Takes the ids that are wanted by now. They are the caller's until it gives
// them back.
struct RecordingWanted RecordingNames_take(struct RecordingNames *names);
// 0 or -errno. Names that are not known yet stay wanted.
int RecordingNames_write(struct RecordingNames *names,
                         struct Recording *recording,
                         const struct RecordingSource *source,
                         struct RecordingWanted *wanted);
void RecordingNames_give_back(struct RecordingNames *names,
                              struct RecordingWanted *wanted);

// Is the event of a kind that names a function?
static inline bool RecordingNames_has_id(enum EventKind kind)
{
    return EventKind_opens(kind) || kind == EVENT_FRAME ||
           kind == EVENT_CHANGE || kind == EVENT_REARMED || kind == EVENT_DARK;
}

static inline void RecordingNames_see_id(struct RecordingNames *names,
                                         uint32_t id)
{
    if (id / 8 >= names->known_bytes || !(names->known[id / 8] >> id % 8 & 1))
        RecordingNames_want(names, id);
}

static inline void RecordingNames_see(struct RecordingNames *names,
                                      const struct Event *event)
{
    if (RecordingNames_has_id(Event_kind(event)) && Event_id(event))
        RecordingNames_see_id(names, Event_id(event));
}

#endif
