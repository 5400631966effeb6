// SPDX-License-Identifier: MIT
#include "tracer/timeline/formats.h"
#include "ipc/base/heap.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

// `loaded` is global, because a process loads the library only once. Two
// threads that load the library at the same time get the same pointer.
static const struct Formats *_Atomic loaded;

static const struct FormatsHost host = {
    .version = OCULAR_VERSION,
    .sizes = FORMATS_SIZES,
    .alloc = Heap_alloc,
    .zeroed = Heap_zeroed,
    .resize = Heap_resize,
    .text = Heap_text,
    .free = Heap_free,
};

// Opens the library of formats/. The library is in the same folder as the file
// that contains open_library.
static void *open_library(void)
{
    char path[PATH_MAX];
    Dl_info info;
    const char *slash;
    int folder;

    if (!dladdr(&host, &info) || !info.dli_fname)
        return NULL;
    slash = strrchr(info.dli_fname, '/');
    folder = slash ? (int)(slash - info.dli_fname) + 1 : 0;
    if (snprintf(path, sizeof path, "%.*s" FORMATS_LIBRARY, folder,
                 info.dli_fname) >= (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

const struct Formats *Formats_load(void)
{
    const struct Formats *(*bind)(const struct FormatsHost *);
    void *library, *symbol;

    if (atomic_load(&loaded))
        return atomic_load(&loaded);
    library = open_library();
    symbol = library ? dlsym(library, "ocular_formats") : NULL;
    if (!symbol)
        return NULL;
    memcpy(&bind, &symbol, sizeof bind);
    Formats_use(bind(&host));
    return atomic_load(&loaded);
}

void Formats_use(const struct Formats *formats)
{
    atomic_store(&loaded, formats);
}
