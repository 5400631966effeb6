// SPDX-License-Identifier: MIT
#include "formats/live_export.h"
#include "formats/conversion.h"
#include "ipc/base/opened.h"

#include <stdio.h>

int LiveExport_run(struct LiveExport *export)
{
    struct Opened opened;
    struct Conversion conversion = {
        .output = {.path = export->name,
                   .descriptor = export->output,
                   .opened = &opened},
        .names = &export->names,
        .progress = export->progress,
        .context = export->context,
    };
    int error;

    Opened_note(&opened, export->output);
    conversion.recording = Recording_adopt(export->recording, &error);
    if (!error)
        error = Conversion_run(&conversion);
    if (conversion.recording)
        Recording_put(conversion.recording);
    NativeNames_release(&export->names);
    export->bytes = conversion.bytes;
    // If there was another error, `why` is empty, because a text in `why` is
    // shown instead of the error.
    snprintf(export->why, sizeof export->why, "%.*s",
             (int)sizeof export->why - 1,
             error && !conversion.unreadable ? "" : conversion.why);
    return error;
}
