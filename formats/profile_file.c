// SPDX-License-Identifier: MIT
#include "formats/profile_file.h"
#include "formats/pprof.h"
#include "formats/pstats.h"
#include "formats/speedscope.h"
#include "tracer/base/harmless.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LABEL 1024 // Largest number of bytes of a function's label.

static void put(struct Bytes *out, const char *text)
{
    Bytes_put(out, text, strlen(text));
}

// Writes a text without those characters that would end the label.
static void put_clean(struct Bytes *out, const char *text)
{
    char clean[LABEL], *at;

    Harmless_clean(clean, sizeof clean, text, true);
    for (at = clean; (at = strchr(at, ';')); at++)
        *at = ':';
    put(out, clean);
}

// Writes the label of a function as py-spy does: `name (file:line)`.
static void put_label(struct Bytes *out, const struct ProfileFunction *function)
{
    const char *slash = strrchr(function->file, '/');
    char place[LABEL];

    put_clean(out, function->name);
    if (!*function->file)
        return;
    snprintf(place, sizeof place, "%s:%" PRIu64,
             slash ? slash + 1 : function->file, function->line);
    put(out, " (");
    put_clean(out, place);
    put(out, ")");
}

// Writes one line with a stack, the name of a wait or "", and a time. The
// number at the end of the line is the time in us.
static void put_line(const struct Profile *profile, struct Bytes *out,
                     size_t row, const char *wait, uint64_t ns)
{
    uint32_t stack[PROFILE_DEPTH];
    size_t i;
    char number[32];

    if (ns < 1000)
        return;
    for (i = Profile_stack(profile, row, stack); i-- > 0;) {
        put_label(out, &profile->functions[stack[i]]);
        put(out, i ? ";" : "");
    }
    put(out, *wait ? ";" : "");
    put(out, wait);
    snprintf(number, sizeof number, " %" PRIu64 "\n", ns / 1000);
    put(out, number);
}

// Writes the stacks as text for flame graph scripts ("folded" stacks), and the
// waits if `wall` is true. Each line has a stack and its time in us.
static void write_folded(const struct Profile *profile, struct Bytes *out,
                         bool wall)
{
    size_t i;

    for (i = 0; i < profile->row_count; i++)
        put_line(profile, out, i, "", profile->rows[i].ns);
    for (i = 0; wall && i < profile->wait_count; i++)
        put_line(profile, out, profile->waits[i].parent,
                 Profile_wait_name(WaitKind_of(profile->waits[i].kind)),
                 profile->waits[i].ns);
}

int ProfileFile_write(const struct Profile *profile, enum FileContent content,
                      struct Bytes *out)
{
    switch (content) {
    case FILE_FOLDED:
    case FILE_WALL_FOLDED:
        write_folded(profile, out, content == FILE_WALL_FOLDED);
        break;
    case FILE_SPEEDSCOPE:
        Speedscope_write(profile, out);
        break;
    case FILE_PSTATS:
        Pstats_write(profile, out);
        break;
    case FILE_PPROF:
        Pprof_write(profile, out);
        break;
    case FILE_JSON:
    case FILE_PFTRACE:
    case FILE_PAGE:
    case FILE_RECORDING:
        return -EINVAL;
    }
    return out->error;
}
