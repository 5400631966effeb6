// SPDX-License-Identifier: MIT
// Writes the names of the functions that have events in a recording. A name is
// written once, after the function's first event. Names are stored in two
// halves of limited size. When the newer half is full, the older half is
// dropped, and a dropped name is written again at the function's next event.
// The timeline's mutex guards the ids that wait for their names. The writer
// holds no lock for which other threads wait.
#ifndef OCULAR_TRACER_TIMELINE_RECORDING_NAMES_H
#define OCULAR_TRACER_TIMELINE_RECORDING_NAMES_H

#include "ipc/base/bytes.h"
#include "tracer/timeline/recording.h"
#include "tracer/timeline/ring.h"
#include "tracer/timeline/trace.h"

#include <stdbool.h>

struct RecordingNames {
    // Number of blocks of 64 KiB in each half; set by the creator.
    size_t blocks;
    uint8_t *known; // one bit for each id; 1 if the name is written, or the id
                    // is in `wanted`
    size_t known_bytes; // size of `known`
    uint32_t *wanted;   // ids whose names must still be written
    size_t wanted_count, wanted_room;
    // Only the writer uses the next fields.
    struct Bytes text; // names of the block that is being filled
    // Places of the blocks of the older and of the newer half.
    struct RecordingSlot *half[2];
    size_t count[2];
    bool opcodes;  // true if the opcodes are written
    bool restarts; // true if the older half was dropped and its names are
                   // wanted again
};

struct RecordingWanted {
    uint32_t *ids;
    size_t count;
};

// Gives the names of functions (trace.h) and the opcodes.
struct RecordingSource {
    void *context;
    bool (*name)(void *context, uint32_t id, struct PerfettoName *name);
    const struct Opcodes *opcodes;
};

void RecordingNames_release(struct RecordingNames *names);
// Adds the id to the wanted ids. If memory is out, the file has no name for the
// function.
void RecordingNames_want(struct RecordingNames *names, uint32_t id);
// Makes all names wanted again, because the written names are lost.
void RecordingNames_restart(struct RecordingNames *names);
// Takes the ids that are wanted now. The caller owns the ids until
// RecordingNames_give_back.
struct RecordingWanted RecordingNames_take(struct RecordingNames *names);
// Writes the names of the wanted ids. A name that is not known yet stays
// wanted. Returns 0 or -errno.
int RecordingNames_write(struct RecordingNames *names,
                         struct Recording *recording,
                         const struct RecordingSource *source,
                         struct RecordingWanted *wanted);
// Begins a new block, so that the block of the names that were written does not
// move any more, unless the newer half is full. The writer calls this function.
void RecordingNames_end(struct RecordingNames *names,
                        struct Recording *recording);
void RecordingNames_give_back(struct RecordingNames *names,
                              struct RecordingWanted *wanted);

// Returns true if events of this kind contain a function's id.
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
