// SPDX-License-Identifier: MIT
// Plays a recording (capture.h) like a process. Messages come in their order,
// either at their recorded times or one snapshot for each step. Requests are
// answered from the file. Used by feed_link.c. One thread; no function blocks.
#ifndef OCULAR_TUI_MODEL_PLAYBACK_H
#define OCULAR_TUI_MODEL_PLAYBACK_H

#include "ipc/wire.h"

#include <stdbool.h>

struct Playback;

// Opens a recording. If `paced`, messages come at their recorded times. Returns
// 0, or -errno with the reason in `why`.
int Playback_open(struct Playback **replay, const char *path, bool paced,
                  char *why, size_t why_size);
void Playback_close(struct Playback *replay); // `replay` may be NULL
// Returns the descriptor for poll(), which is readable if a message is due.
int Playback_fd(struct Playback *replay);
// Returns the same as Client_next. After the end of the recording it returns 1
// for each answer to a request, and else -EPIPE. Returns -EPROTO if the file is
// damaged; messages after the damage are not played.
int Playback_next(struct Playback *replay, struct Message *message);
// Returns the same as Client_request, or -ENOTSUP if only a live program can do
// this. If the recording has no answer, the answer is an error.
int Playback_request(struct Playback *replay, struct Message *request);
// Plays one more snapshot if the replay is not paced.
void Playback_step(struct Playback *replay);
void Playback_pause(struct Playback *replay, bool paused);
// Sets the speed; 1 is the recorded speed.
void Playback_speed(struct Playback *replay, double speed);

#endif
