// SPDX-License-Identifier: MIT
// Provides the session's timeline and the description of the process to the
// session's export.
#pragma once

#include "tracer/session/session.h"

void Exports_init(struct Session *session);
// Returns the timeline from which an output file can be made, or NULL.
struct Timeline *Exports_timeline(const struct Session *session);
// Adds all events until now to the recording. Any thread may call Exports_cut.
void Exports_cut(struct Session *session);
// Completes the recording's file and renames it to the name of the output. If a
// file of that name exists, the recording keeps its old name. Stores the
// recording's name in `path` and its size in *bytes. Returns 0 or -errno. Must
// be called after Session_finish.
int Exports_keep(struct Session *session, char path[PATH_MAX], uint64_t *bytes);
