// SPDX-License-Identifier: MIT
// See pending.h.
#include "tui/model/pending.h"

#include <stddef.h>

void Pending_add(struct Pending *pending, const struct Message *request)
{
    struct PendingRequest *place = &pending->items[0];
    if (place->type == MESSAGE_EXPORT) // there is one at most
        place++;
    for (int i = 0; i < PENDING_MOST; i++)
        if (!pending->items[i].number) {
            place = &pending->items[i];
            break;
        }
    *place = (struct PendingRequest){.number = request->request,
                                     .type = request->type,
                                     .about = request->number};
}

struct PendingRequest *Pending_find(struct Pending *pending, uint32_t number)
{
    for (int i = 0; number && i < PENDING_MOST; i++)
        if (pending->items[i].number == number)
            return &pending->items[i];
    return NULL;
}

bool Pending_has(const struct Pending *pending, enum MessageType type)
{
    for (int i = 0; i < PENDING_MOST; i++)
        if (pending->items[i].number && pending->items[i].type == type)
            return true;
    return false;
}

bool Pending_is_awaited(const struct Pending *pending)
{
    for (int i = 0; i < PENDING_MOST; i++)
        if (pending->items[i].number &&
            pending->items[i].type != MESSAGE_RATE &&
            pending->items[i].type != MESSAGE_CANCEL)
            return true;
    return false;
}
