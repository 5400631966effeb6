// SPDX-License-Identifier: MIT
// See header_since.h.
#include "tui/views/header_since.h"

#include "tui/text/number.h"
#include "tui/views/header_line.h"

void HeaderSince_add(struct Strip *strip, const struct Model *model)
{
    char number[NUMBER_MAX];
    if (model->reset)
        HeaderLine_label(strip, 2, "since reset",
                         Number_uptime(number, model->snapshot->uptime_s -
                                                   model->base_uptime));
    if (model->baseline) {
        Strip_item(strip, 0);
        Strip_add(strip, STYLE_PROMPT, "change in %s",
                  Number_uptime(number, model->snapshot->uptime_s -
                                            model->baseline_uptime));
        Strip_add(strip, STYLE_FAINT, " (b)");
    }
}
