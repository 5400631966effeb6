// SPDX-License-Identifier: MIT
// See folded.h.
#include "formats/folded.h"
#include "tracer/base/harmless.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LABEL 1024 // Largest number of bytes of a function's label.

static void put(struct Bytes *out, const char *text)
{
    Bytes_put(out, text, strlen(text));
}

// Writes the label of a function as py-spy does: `name (file:line)`. Replaces
// those characters of the name and the file that would end the label.
static void put_label(struct Bytes *out, const struct ProfileFunction *function)
{
    char text[LABEL], place[LABEL];
    const char *slash = strrchr(function->file, '/');
    char *at;

    Harmless_clean(text, sizeof text, function->name, true);
    for (at = text; (at = strchr(at, ';')); at++)
        *at = ':';
    put(out, text);
    if (!*function->file)
        return;
    snprintf(place, sizeof place, "%s:%" PRIu64,
             slash ? slash + 1 : function->file, function->line);
    Harmless_clean(text, sizeof text, place, true);
    for (at = text; (at = strchr(at, ';')); at++)
        *at = ':';
    put(out, " (");
    put(out, text);
    put(out, ")");
}

// The number at the end of a line is the CPU time of the line's stack in us.
void Folded_write(const struct Profile *profile, struct Bytes *out)
{
    uint32_t stack[PROFILE_DEPTH];
    size_t row, depth, i;
    char number[32];

    for (row = 0; row < profile->row_count; row++) {
        uint64_t us = profile->rows[row].ns / 1000;

        if (!us)
            continue;
        depth = Profile_stack(profile, row, stack);
        for (i = depth; i-- > 0;) {
            put_label(out, &profile->functions[stack[i]]);
            put(out, i ? ";" : " ");
        }
        snprintf(number, sizeof number, "%" PRIu64 "\n", us);
        put(out, number);
    }
}
