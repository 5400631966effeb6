// SPDX-License-Identifier: MIT
#include "tracer/code/specialisation.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void Specialisation_release(struct Specialisation *history)
{
    Heap_free(history->known);
    memset(history, 0, sizeof *history);
}

int Specialisation_copy(struct Specialisation *copy,
                        const struct Specialisation *history)
{
    *copy = *history;
    copy->room = history->count;
    if (!history->count) {
        copy->known = NULL;
        return 0;
    }
    copy->known = Heap_alloc(history->count * sizeof *copy->known);
    if (!copy->known)
        return -ENOMEM;
    memcpy(copy->known, history->known, history->count * sizeof *copy->known);
    return 0;
}

static int compare_unit(const void *unit, const void *entry)
{
    uint32_t a = *(const uint32_t *)unit;
    uint32_t b = ((const struct KnownOpcode *)entry)->unit;

    return (a > b) - (a < b);
}

static const struct KnownOpcode *
find_known(const struct Specialisation *history, uint32_t unit)
{
    return history->count ? bsearch(&unit, history->known, history->count,
                                    sizeof *history->known, compare_unit)
                          : NULL;
}

uint8_t Specialisation_opcode(const struct Specialisation *history,
                              uint32_t unit, uint8_t base)
{
    const struct KnownOpcode *entry = find_known(history, unit);

    return entry ? entry->opcode : base;
}

bool Specialisation_has(const struct Specialisation *history, uint32_t unit)
{
    return find_known(history, unit) != NULL;
}
