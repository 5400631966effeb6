// SPDX-License-Identifier: MIT
// Plays a recording (recording.h) as if it were a process. Messages come in
// their order, either at their time or one snapshot a step, and requests are
// answered from the file. Used by feed_link.c. One thread; nothing blocks.
#ifndef OCULAR_TUI_MODEL_PLAYBACK_H
#define OCULAR_TUI_MODEL_PLAYBACK_H

#include "ipc/wire.h"

#include <stdbool.h>

struct Playback;

// `paced`: messages come at their recorded times. 0, or -errno with `why` in
// words.
int Playback_open(struct Playback **replay, const char *path, bool paced,
                  char *why, size_t why_size);
void Playback_close(struct Playback *replay); // NULL is fine
int Playback_fd(struct Playback *replay); // to poll; readable: a message is due
// As Client_next. After the end of the recording it still answers: 1 or -EPIPE.
// -EPROTO: the file is damaged, and nothing beyond that place is played.
int Playback_next(struct Playback *replay, struct Message *message);
// As Client_request; -ENOTSUP: only a live program can do that. If the
// recording has no answer, it answers with an error.
int Playback_request(struct Playback *replay, struct Message *request);
// Lets one more snapshot come, if it is not paced.
void Playback_step(struct Playback *replay);
void Playback_pause(struct Playback *replay, bool paused);
void Playback_speed(struct Playback *replay, double speed); // 1 = as recorded

#endif
