// SPDX-License-Identifier: MIT
// Keeps the session's recording (docs/recording.md), which contains the
// timeline. If the session has an output file, the recording is a file beside
// it, so that the data survives if the program is killed. The recording's file
// is removed after the output was written.
#pragma once

#include "tracer/session/session.h"

// Makes the timeline and its recording. If the session has an output file, the
// recording is a file beside it. Without an output file, the recording is in
// memory, or in a file without a name if it may grow beyond the memory. If the
// file beside the output cannot be made, session->recording_error is the
// -errno. Recorder_start must be called before anything is traced. Returns 0,
// -ENOMEM, or the -errno of the folder that the user has asked for.
int Recorder_start(struct Session *session);
// Fills in the head of a recording, with the present time. Any thread may call
// Recorder_describe.
void Recorder_describe(struct Session *session, struct RecordingHead *head);
// Returns the milliseconds between two turns of the recorder, which is 80
// without an overhead budget. With a budget the pause is up to 1000 ms, so that
// the turns use at most a tenth of the allowed overhead. A turn of the recorder
// may come late.
unsigned Recorder_pause_ms(struct Session *session);
// Saves the session's totals (Builder_totals) in the recording, where they
// replace older totals. The caller holds the mutex `draining`.
void Recorder_save_totals(struct Session *session);
// Recorder_totals also saves the totals, if the recording is a file and it is
// time for new totals. New totals are written every 5 s, or less often if the
// budget does not allow it. If the program is killed, the file has these
// totals. Only the collector's thread calls Recorder_totals, and does not hold
// the mutex `draining`.
void Recorder_totals(struct Session *session);
// Recorder_save_last saves the newest snapshot with all functions, when the
// trace was stopped.
void Recorder_save_last(struct Session *session);
// Adds all new data of the session to the recording. The caller has emptied the
// rings and holds the mutex `draining`.
void Recorder_turn(struct Session *session);
// Writes to the recording's file the data that Recorder_turn has not written,
// unless another thread is writing. The caller must not hold the mutex
// `draining`, because other threads wait for it.
void Recorder_flush(struct Session *session);
// Releases the session's recording, and removes its file unless Exports_keep
// was called. Recorder_release must be called before the timeline is freed.
void Recorder_release(struct Session *session);
