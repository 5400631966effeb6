// SPDX-License-Identifier: MIT
// The session's recording (docs/recording.md). From the session's start on, a
// file holds what the timeline in memory holds, so that the data survives if
// the program is killed. The file is removed after the output was written.
#ifndef OCULAR_TRACER_SESSION_RECORDER_H
#define OCULAR_TRACER_SESSION_RECORDER_H

#include "tracer/session/session.h"

// Creates the file. If that fails, the session goes on without a recording, and
// session->recording_error is the -errno. Must be called before anything is
// traced.
void Recorder_start(struct Session *session);
// Returns the milliseconds between two turns: 80 without an overhead budget.
// With a budget, turns are to use a tenth of the allowance at most, so the
// pause may be longer, up to 1 s. A turn may come late.
unsigned Recorder_pause_ms(struct Session *session);
// Gives the recording all data that the file does not hold yet. May be called
// by any thread that drains and holds the mutex `draining`.
void Recorder_turn(struct Session *session);
// Writes to the file what turns have not written, unless another thread is
// writing. Must not be called with the mutex `draining` held, because other
// threads wait for that mutex.
void Recorder_flush(struct Session *session);
// Completes the file and renames it to the name of the output. If a file of
// that name exists, the recording keeps its old name. Sets `path` to the
// recording's name and *bytes to its size. Returns 0 or -errno. Must be called
// after Session_finish.
int Recorder_keep(struct Session *session, char path[PATH_MAX],
                  uint64_t *bytes);
// Drops the session's recording, and removes the file unless Recorder_keep was
// called. Must be called before the timeline is freed.
void Recorder_release(struct Session *session);

#endif
