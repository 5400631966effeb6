// SPDX-License-Identifier: MIT
#include "formats/instant.h"

#include <stddef.h>

static const struct Instant instants[INSTANT_KINDS] = {
    [EVENT_DARK] = {.word = "dark",
                    .note = "from here on its calls are not recorded"},
    [EVENT_WAIT] = {.word = "waited",
                    .note = "other threads ran in the time from here on",
                    .lasts = true},
};

const struct Instant *Instant_of(unsigned kind)
{
    return kind < INSTANT_KINDS && instants[kind].word ? &instants[kind] : NULL;
}
