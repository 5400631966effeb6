// SPDX-License-Identifier: MIT
// Searches sorted arrays, and enlarges arrays that are full.
#pragma once

#include "ipc/base/heap.h"

// Returns the number of entries at the beginning of a sorted array for which
// `before` is true. `before` is an expression with the index `middle`. The
// array has `count` entries.
#define ARRAY_BOUND(count, before)                                             \
    ({                                                                         \
        size_t low_ = 0, high_ = (count);                                      \
                                                                               \
        while (low_ < high_) {                                                 \
            size_t middle = low_ + (high_ - low_) / 2;                         \
                                                                               \
            if (before)                                                        \
                low_ = middle + 1;                                             \
            else                                                               \
                high_ = middle;                                                \
        }                                                                      \
        low_;                                                                  \
    })

// If the array has no room for one more entry, doubles the room, which is
// `least` at first. Returns false if memory is out.
#define ARRAY_GROW(items, count, room, least)                                  \
    ({                                                                         \
        void *more_ = (items);                                                 \
                                                                               \
        if ((count) == (room)) {                                               \
            size_t wanted_ = (room) ? 2 * (size_t)(room) : (least);            \
                                                                               \
            more_ = Heap_resize(items, wanted_ * sizeof *(items));             \
            (items) = more_ ? more_ : (items);                                 \
            (room) = more_ ? (typeof(room))wanted_ : (room);                   \
        }                                                                      \
        more_ != NULL;                                                         \
    })
