// SPDX-License-Identifier: MIT
// Holds the newest events of each thread in blocks of a recording. The
// collector and the sampler add events, and so does a traced thread whose ring
// is full at threshold 0. When the limit is reached, or the file is full, the
// timeline forgets the oldest block of all threads, and counts the events of
// the forgotten block.
#ifndef OCULAR_TRACER_TIMELINE_TIMELINE_H
#define OCULAR_TRACER_TIMELINE_TIMELINE_H

#include "tracer/timeline/recording_names.h"
#include "tracer/timeline/track.h"

#include <stdbool.h>
#include <sys/types.h>

struct Timeline;
struct Track; // one thread's part of the timeline

// Makes a timeline in `recording`, and takes over the caller's reference to
// `recording`. Returns NULL if memory is out. If `grows` is true, events may
// use the whole file, and the limit applies to the list of blocks. The timeline
// may exceed the limit by data that cannot be forgotten. These data are the
// names, and the newest block and the open calls of each thread that exists.
struct Timeline *Timeline_new(struct Recording *recording, size_t limit,
                              bool grows);
void Timeline_free(struct Timeline *timeline);
// Returns the track of a new thread, or NULL if memory is out. The timeline
// owns the track.
struct Track *Timeline_begin(struct Timeline *timeline, unsigned number,
                             pid_t tid, const char *name);
// Changes the name of the thread. The thread that drains the track calls this
// function.
void Timeline_name(struct Timeline *timeline, struct Track *track,
                   const char *name);
// Closes the file in a forked child, where another thread of the parent may
// have held any lock.
void Timeline_abandon(struct Timeline *timeline);
// Moves all events of the ring into the timeline. Only one thread at a time may
// drain a track (Session.tracks). Returns the number of moved events. If memory
// is out, some events are dropped and counted as lost, and the result is
// -ENOMEM.
long Timeline_drain(struct Timeline *timeline, struct Track *track,
                    struct Ring *ring);
// Adds events to the track of our own threads. Any thread may call this
// function. Returns 0 or -ENOMEM.
int Timeline_add(struct Timeline *timeline, const struct Event *events,
                 size_t count);
// number of the track of our own threads, the last track
#define TIMELINE_OWN UINT32_MAX
// Saves the events of the track that the recording does not have yet. If
// `track` is NULL, saves the track of our own threads.
void Timeline_save(struct Timeline *timeline, struct Track *track);
// Saves the track of our own threads, the names and the head, and fills in the
// counts of the head. Only one thread at a time may call this function.
void Timeline_save_run(struct Timeline *timeline, struct RecordingHead *head,
                       const struct RecordingSource *source);
// Saves the settings of the trace, which are the data of a block. The timeline
// keeps the data, and saves it again if the file loses it. `settings` then has
// the data before, which the caller frees. Returns 0 or -ENOMEM.
int Timeline_set_settings(struct Timeline *timeline, struct Bytes *settings);
// Saves all events that were added, marks the gaps that are not marked yet, and
// lists the functions that are dark. Later events go to new blocks. Only one
// thread at a time may call this function and then Timeline_save_run.
void Timeline_cut(struct Timeline *timeline, const struct RecordingDark *dark,
                  size_t count);
// While a reader holds the timeline, no block is forgotten because of the
// limit, so the reader finds all blocks of the newest cut. The first reader
// begins with a timeline within its limit.
void Timeline_hold(struct Timeline *timeline, bool holds);
// Holds the timeline for `ns` from now on, during which another process reads
// the recording. Returns CLOCK_MONOTONIC at the end of this time.
uint64_t Timeline_lend(struct Timeline *timeline, uint64_t ns);
// Returns the result of the newest Timeline_lend, or 0 after this time.
uint64_t Timeline_lent(struct Timeline *timeline);
// If the recording is a file, wants the names of these functions in the file,
// which some functions without new events may lack.
void Timeline_want_names(struct Timeline *timeline, const uint32_t *ids,
                         size_t count);
// Begins a new block of names in a file, so that the names before do not move.
// Only the thread that may call Timeline_save_run may call this function.
void Timeline_end_names(struct Timeline *timeline);
// Returns true if the recording has events of a function but not the function's
// name.
bool Timeline_wants_names(struct Timeline *timeline);
// Ends the track of a thread that has ended, after its ring was drained. The
// caller must not use the track any more. The track is freed with its last
// block. The lost events of the track stay counted.
void Timeline_end(struct Timeline *timeline, struct Track *track);
size_t Timeline_bytes(struct Timeline *timeline);
uint64_t Timeline_forgotten(struct Timeline *timeline); // events
struct Recording *Timeline_recording(const struct Timeline *timeline);

#endif
