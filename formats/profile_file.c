// SPDX-License-Identifier: MIT
#include "formats/profile_file.h"
#include "formats/folded.h"
#include "formats/pprof.h"
#include "formats/pstats.h"
#include "formats/speedscope.h"

#include <errno.h>

int ProfileFile_write(const struct Profile *profile, enum FileContent content,
                      struct Bytes *out)
{
    switch (content) {
    case FILE_FOLDED:
    case FILE_WALL_FOLDED:
        Folded_write(profile, out, content == FILE_WALL_FOLDED);
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
