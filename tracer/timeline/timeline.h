// SPDX-License-Identifier: MIT
// Holds the newest events of each thread in blocks of a recording. Events are
// added by the collector's thread, by the sampler, and at threshold 0 also by a
// traced thread whose ring is full. When the limit is reached or the file is
// full, the timeline forgets the oldest block of all threads and counts the
// forgotten events.
#pragma once

#include "tracer/timeline/recording_names.h"
#include "tracer/timeline/track.h"

#include <stdbool.h>
#include <sys/types.h>

struct Timeline;
struct Track; // The timeline's events of one thread.

// Makes a timeline that is stored in `recording`, and takes over the caller's
// reference to `recording`. Returns NULL if memory is out. If `grows` is true,
// events may use the whole file, and the limit applies only to the list of
// blocks. The timeline can exceed the limit by the data that cannot be
// forgotten. The names, and the newest block and the open calls of each living
// thread, cannot be forgotten.
struct Timeline *Timeline_new(struct Recording *recording, size_t limit,
                              bool grows);
void Timeline_free(struct Timeline *timeline);
// Returns the track for a new thread, or NULL if memory is out. The timeline
// owns the track.
struct Track *Timeline_begin(struct Timeline *timeline, unsigned number,
                             pid_t tid, const char *name);
// Changes the name of the track's thread. The thread that drains the track
// calls Timeline_name.
void Timeline_name(struct Timeline *timeline, struct Track *track,
                   const char *name);
// Closes the recording's file in a forked child, without using locks. Threads
// of the parent can have held any lock at the fork.
void Timeline_abandon(struct Timeline *timeline);
// Moves all events from the ring into the timeline. Only one thread at a time
// may drain a track (Session.tracks). Returns the number of moved events. If
// memory is out, some events are dropped and counted as lost, and the result is
// -ENOMEM.
long Timeline_drain(struct Timeline *timeline, struct Track *track,
                    struct Ring *ring);
// Adds events to the track of Ocular's own threads. Any thread may call
// Timeline_add. Returns 0 or -ENOMEM.
int Timeline_add(struct Timeline *timeline, const struct Event *events,
                 size_t count);
// Number of the track (row) of Ocular's own threads, which is the last track.
#define TIMELINE_OWN UINT32_MAX
// Saves a track's events that are not in the recording yet. If `track` is NULL,
// saves the track of Ocular's own threads.
void Timeline_save(struct Timeline *timeline, struct Track *track);
// Saves the track of Ocular's own threads, the names and the head, and fills in
// the counts in the head. Only one thread at a time may call Timeline_save_run.
void Timeline_save_run(struct Timeline *timeline, struct RecordingHead *head,
                       const struct RecordingSource *source);
// Saves a snapshot of the program, encoded as for the socket, in place of the
// snapshot before the newest one. The newest snapshot is kept until the next
// one, because the disk may refuse the bytes of this one. `last` is true if the
// trace was stopped.
void Timeline_save_snapshot(struct Timeline *timeline, struct Bytes *snapshot,
                            bool last);
// Saves all events that were added so far, marks the gaps that are not marked
// yet, and lists the functions without hooks (dark functions). Later events go
// to new blocks. Timeline_cut is followed by Timeline_save_run, and only one
// thread at a time may call them.
void Timeline_cut(struct Timeline *timeline, const struct RecordingDark *dark,
                  size_t count);
// While a reader holds the timeline, no block is forgotten because of the
// limit. A reader that holds the timeline finds all blocks of the newest
// Timeline_cut. Before a first reader holds the timeline, the timeline is
// shortened to its limit.
void Timeline_hold(struct Timeline *timeline, bool holds);
// Holds the timeline for `ns` ns, so that another process can read the
// recording. Returns CLOCK_MONOTONIC in ns at the end of this time.
uint64_t Timeline_hold_for(struct Timeline *timeline, uint64_t ns);
// Returns the result of the newest Timeline_hold_for, or 0 if this time has
// passed.
uint64_t Timeline_held_until(struct Timeline *timeline);
// If the recording is a file, has the names of the functions `ids` written to
// the file, because names of functions without new events can be missing.
void Timeline_want_names(struct Timeline *timeline, const uint32_t *ids,
                         size_t count);
// If the recording is a file, begins a new block of names, so that the names so
// far do not move. Only the thread that may call Timeline_save_run may call
// Timeline_end_names.
void Timeline_end_names(struct Timeline *timeline);
// Returns true if the recording lacks the name of a function of which it has
// events.
bool Timeline_wants_names(struct Timeline *timeline);
// Timeline_end is called when a thread has ended and its ring was drained. The
// caller must not use the track afterwards. The track is freed when its last
// block is forgotten. The lost events of a freed track stay counted.
void Timeline_end(struct Timeline *timeline, struct Track *track);
size_t Timeline_bytes(struct Timeline *timeline);
// Returns the number of forgotten events.
uint64_t Timeline_forgotten(struct Timeline *timeline);
struct Recording *Timeline_recording(const struct Timeline *timeline);
