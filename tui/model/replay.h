// SPDX-License-Identifier: MIT
// Plays a recording (recording.h) as if it were a process: what it sent comes
// again in its order, either at its time or one snapshot a step, and what it
// was asked for is answered from the file. One thread; nothing blocks.
#ifndef OCULAR_TUI_MODEL_REPLAY_H
#define OCULAR_TUI_MODEL_REPLAY_H

#include "ipc/wire.h"

#include <stdbool.h>

struct Replay;

// `paced`: at the time that it was recorded. 0, or -errno with `why` in words.
int Replay_open(struct Replay **replay, const char *path, bool paced, char *why,
                size_t why_size);
void Replay_close(struct Replay *replay); // NULL is fine
int Replay_fd(struct Replay *replay);     // to poll: something is due
// As Client_next. After the end of the recording it goes on to answer: 1 or
// -EPIPE; -EPROTO: it is damaged, and nothing beyond that is played.
int Replay_next(struct Replay *replay, struct Message *message);
// As Client_request; -ENOTSUP: only a live program can do that. What is not in
// the recording is answered with an error.
int Replay_request(struct Replay *replay, struct Message *request);
// One snapshot more may come, where it is not paced.
void Replay_step(struct Replay *replay);
void Replay_pause(struct Replay *replay, bool paused);
void Replay_speed(struct Replay *replay, double speed); // 1 = as recorded

#endif
