// SPDX-License-Identifier: MIT
#include "tracer/code/recent.h"

static void copy(struct RecentMark *to, const struct RecentMark *from)
{
    Counter_set(&to->calls, Counter_get(&from->calls));
    Counter_set(&to->cycles, Counter_get(&from->cycles));
    Counter_set(&to->waited, Counter_get(&from->waited));
}

bool Recent_note(struct Recent *recent, const struct RecentMark *now,
                 uint64_t ticks, uint64_t period)
{
    uint32_t other =
        1 - atomic_load_explicit(&recent->current, memory_order_relaxed);

    if (ticks - recent->next_ticks < period ||
        Counter_get(&now->calls) - Counter_get(&recent->next.calls) <
            RECENT_CALLS)
        return false;
    copy(&recent->marks[other], &recent->next);
    // The release pairs with the load in Recent_mark.
    atomic_store_explicit(&recent->current, other, memory_order_release);
    copy(&recent->next, now);
    recent->next_ticks = ticks;
    return true;
}

const struct RecentMark *Recent_mark(const struct Recent *recent)
{
    return &recent->marks[atomic_load_explicit(&recent->current,
                                               memory_order_acquire)];
}
