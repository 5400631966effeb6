// SPDX-License-Identifier: MIT
#include "ipc/file_kind.h"

#include <string.h>

// Returns true if a name of `length` bytes ends in `ending` and is longer than
// `ending`.
static bool ends_in(const char *name, size_t length, const char *ending)
{
    size_t size = strlen(ending);

    return length > size && !memcmp(name + length - size, ending, size);
}

struct FileKind FileKind_of(const char *path)
{
    static const struct {
        const char *ending;
        enum FileContent content;
    } all[] = {
        // ".speedscope.json" comes before ".json" in the list, because it also
        // ends in ".json".
        {".speedscope.json", FILE_SPEEDSCOPE},
        {".json", FILE_JSON},
        {".pftrace", FILE_PFTRACE},
        {".wall.folded", FILE_WALL_FOLDED},
        {".folded", FILE_FOLDED},
        {".pstats", FILE_PSTATS},
        {".pb", FILE_PPROF},
        {".html", FILE_PAGE},
        {".svg", FILE_PAGE},
        {".ocular", FILE_RECORDING},
    };
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    size_t length = strlen(name), i;
    struct FileKind kind = {.content = FILE_JSON};

    kind.gzipped = ends_in(name, length, ".gz");
    if (kind.gzipped)
        length -= 3;
    for (i = 0; i < sizeof all / sizeof *all; i++) {
        if (!ends_in(name, length, all[i].ending))
            continue;
        kind.content = all[i].content;
        length -= strlen(all[i].ending);
        break;
    }
    kind.stem = (size_t)(name - path) + length;
    return kind;
}

bool FileKind_is_profile(const char *path)
{
    enum FileContent content = FileKind_of(path).content;

    return content != FILE_JSON && content != FILE_PFTRACE &&
           content != FILE_RECORDING;
}
