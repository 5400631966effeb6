// SPDX-License-Identifier: MIT
// Keeps the session's recording (docs/recording.md), which contains the
// timeline. If there is to be an output file, the recording is a file beside
// it. So the data survives if the program is killed. This file is removed after
// the output was written.
#ifndef OCULAR_TRACER_SESSION_RECORDER_H
#define OCULAR_TRACER_SESSION_RECORDER_H

#include "tracer/session/session.h"

// Makes the timeline. If there is to be an output file, the recording is a file
// beside it. Otherwise the recording is in memory. If events may exceed the
// memory, the recording is a file without a name. If the file beside the output
// cannot be made, session->recording_error is the -errno. Must be called before
// anything is traced. Returns 0, -ENOMEM, or the -errno of the folder that the
// user has asked for.
int Recorder_start(struct Session *session);
// Fills in the head of a recording that is made now. Any thread may call this
// function.
void Recorder_describe(struct Session *session, struct RecordingHead *head);
// Returns the milliseconds between two turns of the recorder, which is 80
// without an overhead budget. With a budget it is up to 1000, so that the turns
// use at most a tenth of the allowance. A turn may come late.
unsigned Recorder_pause_ms(struct Session *session);
// Adds all new data to the recording. The caller has emptied the rings and
// holds the mutex `draining`.
void Recorder_turn(struct Session *session);
// Writes to the file the data that turns have left, unless another thread is
// writing. Must not be called with the mutex `draining` held, because other
// threads wait for it.
void Recorder_flush(struct Session *session);
// Drops the session's recording, and removes its file unless Exports_keep was
// called. Must be called before the timeline is freed.
void Recorder_release(struct Session *session);

#endif
