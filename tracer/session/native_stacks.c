// SPDX-License-Identifier: MIT
#include "tracer/session/native_stacks.h"

#include "tracer/timeline/formats.h"

#include <errno.h>

int NativeStacks_read(const char *path, uint64_t inode, uint64_t offset,
                      struct NativeRows *rows)
{
    const struct Formats *formats = Formats_load();

    return formats && formats->native_rows
               ? formats->native_rows(path, inode, offset, rows)
               : -ELIBACC;
}

const char *NativeStacks_trouble(void)
{
    const struct Formats *formats = Formats_load();
    struct NativeRows rows = {.ends = NULL};

#if !defined(__x86_64__)
    return "native stacks: only x86-64 has them";
#endif
    if (!formats)
        return "native stacks: Ocular's library of formats cannot be loaded";
    if (!formats->native_rows)
        return "native stacks need elfutils: install it (Debian: apt-get "
               "install libdw-dev) and build Ocular again";
    return formats->native_rows("", 0, 0, &rows) == -ELIBACC
               ? "native stacks need elfutils: install it (Debian: apt-get "
                 "install libdw1)"
               : NULL;
}

struct Found {
    struct ListingNative *natives;
    uint32_t ids[LISTING_NATIVES];
    size_t count;
};

static void swap(struct Found *found, size_t i, size_t j)
{
    struct ListingNative native = found->natives[i];
    uint32_t id = found->ids[i];

    found->natives[i] = found->natives[j];
    found->ids[i] = found->ids[j];
    found->natives[j] = native;
    found->ids[j] = id;
}

// Inserts a C function into the list, which begins with the largest time. If
// the list is full, the smallest time is dropped.
static void add(void *context, uint32_t line, uint32_t id, uint64_t ns)
{
    struct Found *found = context;
    size_t at = found->count;

    if (at == LISTING_NATIVES && found->natives[at - 1].ns >= ns)
        return;
    if (at == LISTING_NATIVES)
        at--;
    else
        found->count++;
    found->natives[at] = (struct ListingNative){
        .line = line ? line : NULL_U64, .ns = ns, .address = NULL_U64};
    found->ids[at] = id;
    for (; at && found->natives[at - 1].ns < ns; at--)
        swap(found, at, at - 1);
}

void NativeStacks_list(struct Session *session, struct Listing *listing)
{
    struct Arena *arena = &listing->arena;
    struct Found found = {.count = 0};

    if (!session->sampler || !Sampler_has_natives(session->sampler))
        return;
    found.natives = Arena_alloc(arena, LISTING_NATIVES * sizeof *found.natives);
    if (!found.natives)
        return;
    Sampler_natives_of(session->sampler, (uint32_t)listing->id, add, &found);
    for (size_t i = 0; i < found.count; i++) {
        struct FlameFunction function = {.id = found.ids[i],
                                         .address = NULL_U64};

        Sampler_describe_native(session->sampler, &function, arena);
        found.natives[i].file = function.file;
        found.natives[i].address = function.address;
        found.natives[i].build = function.build;
    }
    listing->natives = found.natives;
    listing->native_count = found.count;
}
