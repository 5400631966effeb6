// SPDX-License-Identifier: MIT
// Gives the facts that a recording has about its program and about the settings
// of the trace. One thread uses a reader.
#ifndef OCULAR_FORMATS_RUN_FACTS_H
#define OCULAR_FORMATS_RUN_FACTS_H

#include "formats/recording_reader.h"

// Fills in the process, the versions and the settings. A fact that the
// recording lacks is null. If memory is out, texts are null or rules are
// missing.
void RunFacts_fill(struct Snapshot *out, const struct RecordingReader *reader);

#endif
