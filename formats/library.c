// SPDX-License-Identifier: MIT
// The library does not contain ipc/base/heap.c. The library calls the allocator
// of the program that has loaded it (the host). The library and the host can
// therefore free each other's memory, and no fork happens while the library
// holds a lock of its own allocator.
#include "formats/conversion.h"
#include "ipc/base/heap.h"

#include <string.h>

static struct FormatsHost bound;

// Formats_load calls ocular_formats, which is the only symbol that the library
// exports. Returns NULL if the library is of another build than the host.
__attribute__((visibility("default"))) const struct Formats *
ocular_formats(const struct FormatsHost *host);

const struct Formats *ocular_formats(const struct FormatsHost *host)
{
    static const size_t sizes[] = FORMATS_SIZES;

    if (strcmp(host->version, OCULAR_VERSION) != 0 ||
        memcmp(host->sizes, sizes, sizeof sizes) != 0)
        return NULL;
    bound = *host;
    return &Conversion_formats;
}

void *Heap_alloc(size_t size)
{
    return bound.alloc(size);
}

void *Heap_zeroed(size_t count, size_t size)
{
    return bound.zeroed(count, size);
}

void *Heap_resize(void *memory, size_t size)
{
    return bound.resize(memory, size);
}

char *Heap_text(const char *text)
{
    return bound.text(text);
}

void Heap_free(void *memory)
{
    bound.free(memory);
}
