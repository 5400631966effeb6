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

// A C function on a line of the listing.
struct Found {
    uint32_t line, id;
    uint64_t ns;
};

struct FoundList {
    struct Found all[LISTING_NATIVES]; // The largest time comes first.
    size_t count;
};

// Inserts a C function into the list. If the list is full, the smallest time is
// dropped.
static void add(void *context, uint32_t line, uint32_t id, uint64_t ns)
{
    struct FoundList *list = context;
    bool full = list->count == LISTING_NATIVES;
    size_t at = list->count - full;

    if (full && list->all[at].ns >= ns)
        return;
    list->count += !full;
    for (; at && list->all[at - 1].ns < ns; at--)
        list->all[at] = list->all[at - 1];
    list->all[at] = (struct Found){line, id, ns};
}

void NativeStacks_list(struct Session *session, struct Listing *listing)
{
    struct FoundList found = {.count = 0};
    struct ListingNative *natives;

    if (!session->sampler || !Sampler_has_natives(session->sampler))
        return;
    Sampler_natives_of(session->sampler, (uint32_t)listing->id, add, &found);
    natives = Arena_alloc(&listing->arena, (found.count + 1) * sizeof *natives);
    if (!natives)
        return;
    for (size_t i = 0; i < found.count; i++) {
        const struct Found *from = &found.all[i];
        struct FlameFunction function = {.id = from->id, .address = NULL_U64};

        Sampler_describe_native(session->sampler, &function, &listing->arena);
        natives[i] = (struct ListingNative){
            .line = from->line ? from->line : NULL_U64,
            .ns = from->ns,
            .file = function.file,
            .address = function.address,
            .build = function.build,
        };
    }
    listing->natives = natives;
    listing->native_count = found.count;
}
