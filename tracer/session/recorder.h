// SPDX-License-Identifier: MIT
// The session's recording (docs/recording.md): what the timeline has is in a
// file beside the output as well, from the beginning on, so that a program that
// is killed leaves it. Once the output is written that file goes.
#ifndef OCULAR_TRACER_SESSION_RECORDER_H
#define OCULAR_TRACER_SESSION_RECORDER_H

#include "tracer/session/session.h"

// Makes the file. Without one the session goes on: session->recording_error
// says why. Before anything is traced.
void Recorder_start(struct Session *session);
// Milliseconds between two turns, which may come late: 80, or within a budget
// as many as a tenth of the allowance pays for, up to a second.
unsigned Recorder_pause_ms(struct Session *session);
// Writes what the file has not yet. Any thread that drains, under `draining`.
void Recorder_turn(struct Session *session);
// Has the file written what turns have left, unless another thread writes. Not
// under `draining`, for which others wait.
void Recorder_flush(struct Session *session);
// Keeps the file, whole, as the output, or by the name that it has if something
// has that one's; `path` says which. 0 or -errno. After Session_finish.
int Recorder_keep(struct Session *session, char path[PATH_MAX],
                  uint64_t *bytes);
// Lets go of it, before the timeline goes.
void Recorder_release(struct Session *session);

#endif
