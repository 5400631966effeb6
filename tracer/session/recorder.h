// SPDX-License-Identifier: MIT
// The session's recording (docs/recording.md), which is its timeline. If an
// output is to be written, the recording is a file beside the output from the
// session's start on, so that the data survives if the program is killed. The
// file is removed after the output was written.
#ifndef OCULAR_TRACER_SESSION_RECORDER_H
#define OCULAR_TRACER_SESSION_RECORDER_H

#include "tracer/session/session.h"

// Makes the timeline. Its recording is the file beside the output, if there is
// to be an output; otherwise it is in memory, or in a file without a name if
// that file is to take what memory has no room for. If the file beside the
// output cannot be made, session->recording_error is the -errno. Must be called
// before anything is traced. Returns 0, -ENOMEM, or the -errno of the folder
// that the user has asked for.
int Recorder_start(struct Session *session);
// Returns the milliseconds between two turns: 80 without an overhead budget.
// With a budget, turns are to use a tenth of the allowance at most, so the
// pause may be longer, up to 1 s. A turn may come late.
unsigned Recorder_pause_ms(struct Session *session);
// Gives the recording all data that it does not hold yet. May be called
// by any thread that drains and holds the mutex `draining`.
void Recorder_turn(struct Session *session);
// Writes to the file what turns have not written, unless another thread is
// writing. Must not be called with the mutex `draining` held, because other
// threads wait for that mutex.
void Recorder_flush(struct Session *session);
// Drops the session's recording, and removes the file unless Exports_keep was
// called. Must be called before the timeline is freed.
void Recorder_release(struct Session *session);

#endif
