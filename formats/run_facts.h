// SPDX-License-Identifier: MIT
// Gives the facts that a recording contains about its program and about the
// settings of the trace. A struct RecordingReader may be used by one thread
// only.
#pragma once

#include "formats/recording_reader.h"

// Fills in the process, the versions and the settings. A fact is null if the
// recording does not contain it. If memory is out, texts are null and rules of
// the filter are missing.
void RunFacts_fill(struct Snapshot *out, const struct RecordingReader *reader);
