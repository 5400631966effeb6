// SPDX-License-Identifier: MIT
// Since when counts are, as an item of a line: the main screen's third, and
// those of other views. One thread.
#ifndef OCULAR_TUI_VIEWS_HEADER_SINCE_H
#define OCULAR_TUI_VIEWS_HEADER_SINCE_H

#include "tui/model/model.h"
#include "tui/screen/strip.h"

// Adds the time since the reset and since the baseline, if there is one. The
// model must have a snapshot.
void HeaderSince_add(struct Strip *strip, const struct Model *model);

#endif
