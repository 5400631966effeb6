// SPDX-License-Identifier: MIT
// The flight recorder: the newest events of every thread, in chunks, within a
// byte limit. The collector adds, the sampler, and a traced thread whose ring
// is full at threshold 0; any thread may freeze a view and read it while
// recording goes on. When the limit is reached the oldest chunk of all threads
// goes to a file, if one was named, or is forgotten, and the timeline says so.
#ifndef OCULAR_TRACER_TIMELINE_TIMELINE_H
#define OCULAR_TRACER_TIMELINE_TIMELINE_H

#include "tracer/timeline/recording_names.h"
#include "tracer/timeline/view_builder.h"

#include <stdbool.h>
#include <sys/types.h>

struct Timeline;
struct Track; // a thread's part of it

// NULL: memory. The limit may be passed by what cannot be forgotten: the
// threads that have not ended, with the chunk that is being added to and the
// open calls; and the newest chunk of our own track.
struct Timeline *Timeline_new(size_t limit_bytes);
void Timeline_free(struct Timeline *timeline);
// What the limit has no room for goes to a file without a name in this folder,
// while its file system has room; instead of Timeline_record_to. 0 or -errno.
int Timeline_spill_to(struct Timeline *timeline, const char *folder);
// All that is added is written to this file as well, whose reference is the
// timeline's from now on. `spills`: it takes what the limit has no room for,
// too. Before anything is added.
void Timeline_record_to(struct Timeline *timeline, struct Recording *recording,
                        bool spills);
// A new thread's track, which is the timeline's. NULL: memory.
struct Track *Timeline_begin(struct Timeline *timeline, unsigned number,
                             pid_t tid, const char *name);
// The thread is called that from now on. Whoever drains it.
void Timeline_name(struct Timeline *timeline, struct Track *track,
                   const char *name);
// In a forked child, where its locks may be held for good: closes the file.
void Timeline_abandon(struct Timeline *timeline);
// Moves all that is in the ring into the log. One thread at a time for each
// track and ring (Session.tracks). Events moved, or -ENOMEM (what did not fit
// counts as lost).
long Timeline_drain(struct Timeline *timeline, struct Track *track,
                    struct Ring *ring);
// Adds what our own threads have to say, to a track that is theirs. Any thread.
// 0 or -ENOMEM.
int Timeline_add(struct Timeline *timeline, const struct Event *events,
                 size_t count);
#define TIMELINE_OWN UINT32_MAX // that track's number; it is the last one
// Leaves for the file what it has not yet of the track; NULL: of our own one.
void Timeline_save(struct Timeline *timeline, struct Track *track);
// The same of our own track, and what the file says of the run; the counts of
// the head are filled in. One thread at a time.
void Timeline_save_run(struct Timeline *timeline, struct RecordingHead *head,
                       const struct RecordingSource *source);
// Writes what was left for the file, without a lock that who adds waits for
// (Recording_flush).
void Timeline_flush(struct Timeline *timeline, bool waits);
size_t Timeline_waiting(const struct Timeline *timeline); // bytes of that
// The thread has ended and its ring is drained: the track is not the caller's
// to use any more. It goes with its last chunk, and what it lost stays counted.
void Timeline_end(struct Timeline *timeline, struct Track *track);
size_t Timeline_bytes(struct Timeline *timeline);
// Events. `*why`: -errno of the newest that the file had no room for; 0: none.
uint64_t Timeline_forgotten(struct Timeline *timeline, int *why);
// A view of all that has been drained, with the gap that is not marked yet, if
// the ring was full when last drained; it holds its chunks until it is freed.
// Any thread. NULL when memory is out.
struct TimelineView *Timeline_freeze(struct Timeline *timeline);
#endif
