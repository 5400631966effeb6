// SPDX-License-Identifier: MIT
// See profile_file.h.
#include "tracer/timeline/profile_file.h"
#include "tracer/timeline/folded.h"
#include "tracer/timeline/pprof.h"
#include "tracer/timeline/pstats.h"
#include "tracer/timeline/speedscope.h"

#include <stdbool.h>
#include <string.h>

static bool ends_in(const char *path, size_t length, const char *ending)
{
    size_t size = strlen(ending);

    return length > size && !strncmp(path + length - size, ending, size);
}

enum ProfileFormat ProfileFile_format(const char *path)
{
    static const struct {
        const char *ending;
        enum ProfileFormat format;
    } all[] = {
        {".folded", PROFILE_FOLDED},
        {".speedscope.json", PROFILE_SPEEDSCOPE},
        {".pstats", PROFILE_PSTATS},
        {".pb", PROFILE_PPROF},
    };
    size_t length = strlen(path), i;

    if (ends_in(path, length, ".gz"))
        length -= 3;
    for (i = 0; i < sizeof all / sizeof *all; i++)
        if (ends_in(path, length, all[i].ending))
            return all[i].format;
    return PROFILE_NONE;
}

int ProfileFile_write(const struct Profile *profile, enum ProfileFormat format,
                      struct Bytes *out)
{
    switch (format) {
    case PROFILE_FOLDED:
        Folded_write(profile, out);
        break;
    case PROFILE_SPEEDSCOPE:
        Speedscope_write(profile, out);
        break;
    case PROFILE_PSTATS:
        Pstats_write(profile, out);
        break;
    case PROFILE_PPROF:
        Pprof_write(profile, out);
        break;
    case PROFILE_NONE:
        break;
    }
    return out->error;
}
