// SPDX-License-Identifier: MIT
// The flight recorder: the newest events of every thread, in chunks, within a
// byte limit. The collector adds, the sampler, and a traced thread whose ring
// is full at threshold 0; any thread may freeze a view and read it while
// recording goes on. When the limit is reached the oldest chunk of all threads
// goes to a file, if one was named, or is forgotten, and the timeline says so.
#ifndef OCULAR_TRACER_TIMELINE_TIMELINE_H
#define OCULAR_TRACER_TIMELINE_TIMELINE_H

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
// while its file system has room. Before anything is added. 0 or -errno.
int Timeline_spill_to(struct Timeline *timeline, const char *folder);
// A new thread's track, which is the timeline's. NULL: memory.
struct Track *Timeline_begin(struct Timeline *timeline, unsigned number,
                             pid_t tid, const char *name);
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
// The thread has ended and its ring is drained: the track is not the caller's
// to use any more. It goes with its last chunk, and what it lost stays counted.
void Timeline_end(struct Timeline *timeline, struct Track *track);
size_t Timeline_bytes(struct Timeline *timeline);
// Events. `*why`: -errno of the file that was to take them; 0: none was.
uint64_t Timeline_forgotten(struct Timeline *timeline, int *why);
// A view of all that has been drained, with the gap that is not marked yet, if
// the ring was full when last drained; it holds its chunks until it is freed.
// Any thread. NULL when memory is out.
struct TimelineView *Timeline_freeze(struct Timeline *timeline);
#endif
