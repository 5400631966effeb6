// SPDX-License-Identifier: MIT
// Plays a recording (capture.h) in the place of a process. Messages come in the
// order in which they were recorded. Messages come either at their recorded
// times, or up to the next snapshot with each step. Requests of the viewer are
// answered from the file. feed_link.c calls these functions on the viewer's
// main thread, and none of them blocks.
#pragma once

#include "ipc/wire.h"

#include <stdbool.h>

struct Playback;

// Opens a recording. If `paced` is true, messages come at their recorded times.
// Returns 0, or -errno with the reason in `why`.
int Playback_open(struct Playback **replay, const char *path, bool paced,
                  char *why, size_t why_size);
void Playback_close(struct Playback *replay); // `replay` may be NULL.
// Returns the descriptor for poll(), which is readable if a message is due.
int Playback_fd(struct Playback *replay);
// Like Client_next, returns 1 with a message, 0 if none is due, or -errno.
// After the end of the recording, returns 1 as long as there are answers to
// requests, and then -EPIPE. Returns -EPROTO if the file is damaged. Messages
// after the damaged part are not played.
int Playback_next(struct Playback *replay, struct Message *message);
// Returns what Client_request returns, or -ENOTSUP if only a live process can
// serve the request. If the recording does not contain the answer, the answer
// is an ERROR.
int Playback_request(struct Playback *replay, struct Message *request);
// Plays one more snapshot if the replay is not paced.
void Playback_step(struct Playback *replay);
void Playback_pause(struct Playback *replay, bool paused);
// Sets the speed of the replay (1 = the recorded speed).
void Playback_speed(struct Playback *replay, double speed);
