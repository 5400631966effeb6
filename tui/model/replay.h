// SPDX-License-Identifier: MIT
// Plays a recording (recording.h) as if it were a process. Messages come in
// their order, either at their time or one snapshot a step, and requests are
// answered from the file. Used by feed_link.c. One thread; nothing blocks.
#ifndef OCULAR_TUI_MODEL_REPLAY_H
#define OCULAR_TUI_MODEL_REPLAY_H

#include "ipc/wire.h"

#include <stdbool.h>

struct Replay;

// `paced`: messages come at their recorded times. 0, or -errno with `why` in
// words.
int Replay_open(struct Replay **replay, const char *path, bool paced, char *why,
                size_t why_size);
void Replay_close(struct Replay *replay); // NULL is fine
int Replay_fd(struct Replay *replay);     // to poll; readable: a message is due
// As Client_next. After the end of the recording it still answers: 1 or -EPIPE.
// -EPROTO: the file is damaged, and nothing beyond that place is played.
int Replay_next(struct Replay *replay, struct Message *message);
// As Client_request; -ENOTSUP: only a live program can do that. If the
// recording has no answer, it answers with an error.
int Replay_request(struct Replay *replay, struct Message *request);
// Lets one more snapshot come, if it is not paced.
void Replay_step(struct Replay *replay);
void Replay_pause(struct Replay *replay, bool paused);
void Replay_speed(struct Replay *replay, double speed); // 1 = as recorded

#endif
