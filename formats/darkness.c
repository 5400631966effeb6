// SPDX-License-Identifier: MIT
#include "formats/darkness.h"
#include "ipc/base/array.h"

#include <stdlib.h>

void Darkness_see(struct Bytes *seen, const struct Event *events, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        enum EventKind kind = Event_kind(&events[i]);
        struct Darkness *darkness;

        if (kind != EVENT_DARK && kind != EVENT_REARMED)
            continue;
        darkness = (struct Darkness *)Bytes_extend(seen, sizeof *darkness);
        if (darkness)
            *darkness =
                (struct Darkness){Event_ticks(&events[i]), Event_id(&events[i]),
                                  kind == EVENT_DARK};
    }
}

static int compare_darkness(const void *a, const void *b)
{
    const struct Darkness *left = a, *right = b;
    int by = (left->id > right->id) - (left->id < right->id);

    if (!by)
        by = (left->ticks > right->ticks) - (left->ticks < right->ticks);
    return by ? by : left->dark - right->dark;
}

void Darkness_sort(struct Bytes *seen)
{
    if (seen->size)
        qsort(seen->data, seen->size / sizeof(struct Darkness),
              sizeof(struct Darkness), compare_darkness);
}

struct RecordingDark *Darkness_list(const struct Bytes *seen, size_t *count)
{
    const struct Darkness *all = (const struct Darkness *)seen->data;
    size_t i, all_count = seen->size / sizeof *all;
    struct RecordingDark *dark = Heap_alloc((all_count + 1) * sizeof *dark);

    *count = 0;
    for (i = 0; dark && i < all_count; i++)
        if (all[i].dark && (i + 1 == all_count || all[i + 1].id != all[i].id))
            dark[(*count)++] =
                (struct RecordingDark){.ticks = all[i].ticks, .id = all[i].id};
    return dark;
}

void Darkness_update(const struct Bytes *seen, uint64_t until,
                     struct RecordingDark *dark, size_t *count)
{
    size_t i, j, changes, kept = 0;

    for (i = 0; i < *count; i++) {
        struct RecordingDark function = dark[i];
        const struct Darkness *all = Darkness_of(seen, function.id, &changes);
        bool is_dark = true;

        for (j = 0; j < changes && all[j].ticks <= until; j++) {
            if (all[j].ticks <= function.ticks)
                continue;
            is_dark = all[j].dark;
            function.ticks = all[j].ticks;
        }
        if (is_dark)
            dark[kept++] = function;
    }
    *count = kept;
}

const struct Darkness *Darkness_of(const struct Bytes *seen, uint32_t id,
                                   size_t *count)
{
    const struct Darkness *all = (const struct Darkness *)seen->data;
    size_t all_count = seen->size / sizeof *all;
    size_t begin = ARRAY_BOUND(all_count, all[middle].id < id);

    *count = ARRAY_BOUND(all_count, all[middle].id <= id) - begin;
    return *count ? all + begin : NULL;
}

struct ArmedTime Darkness_between(const struct Bytes *seen, uint32_t id,
                                  uint64_t from, uint64_t to)
{
    size_t i, count;
    const struct Darkness *all = Darkness_of(seen, id, &count);
    // The function was dark at the beginning if its oldest change is a
    // re-arming.
    struct ArmedTime time = {.is_dark = count && !all[0].dark};

    for (i = 0; i < count; i++) {
        time.rearmed |= !all[i].dark;
        if (all[i].ticks >= to)
            continue;
        if (all[i].ticks >= from)
            time.was_dark |= time.is_dark || all[i].dark;
        time.is_dark = all[i].dark;
    }
    time.was_dark |= time.is_dark;
    return time;
}
