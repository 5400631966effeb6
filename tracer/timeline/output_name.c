// SPDX-License-Identifier: MIT
// See output_name.h.
#include "tracer/timeline/output_name.h"
#include "tracer/base/output.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

// Where the ending that says what the file is begins: "a.b.json.gz" ->
// ".json.gz". Any other dot belongs to the name.
static const char *ending(const char *path)
{
    static const char *const KNOWN[] = {
        ".speedscope.json.gz",
        ".speedscope.json",
        ".json.gz",
        ".json",
        ".pftrace.gz",
        ".pftrace",
        ".folded.gz",
        ".folded",
        ".pstats.gz",
        ".pstats",
        ".pb.gz",
        ".pb",
        ".gz",
    };
    const char *slash = strrchr(path, '/');
    const char *file = slash ? slash + 1 : path;
    size_t length = strlen(file), i;

    for (i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++) {
        size_t size = strlen(KNOWN[i]);

        if (length > size && !strcmp(file + length - size, KNOWN[i]))
            return file + length - size;
    }
    return file + length;
}

static void number_name(const char *output, unsigned number,
                        char path[PATH_MAX])
{
    const char *end = ending(output);
    char tag[16] = "";

    if (number > 1)
        snprintf(tag, sizeof tag, ".%u", number);
    snprintf(path, PATH_MAX, "%.*s.%d%s%s", (int)(end - output), output,
             (int)getpid(), tag, end);
}

void OutputName_own(const char *output, char path[PATH_MAX])
{
    if (Output_is_device(output))
        snprintf(path, PATH_MAX, "%s", output);
    else
        number_name(output, 1, path);
}

void OutputName_choose(const char *output, char path[PATH_MAX])
{
    unsigned number;

    snprintf(path, PATH_MAX, "%s", output);
    for (number = 1; Output_is_taken(path) && number < 10000; number++)
        number_name(output, number, path);
}
