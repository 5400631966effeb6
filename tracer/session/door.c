// SPDX-License-Identifier: MIT
// What viewers find where nothing is traced; see the header.
#include "tracer/session/door.h"

#include <errno.h>

#include "ipc/version.h"

#define GOODBYE_MS 200

static void want(void *context, bool first)
{
    (void)context, (void)first;
}

static const struct Snapshot *get(void *context)
{
    (void)context;
    return NULL;
}

static void put(void *context, const struct Snapshot *snapshot)
{
    (void)context, (void)snapshot;
}

static void request(void *context, uint64_t viewer,
                    const struct Message *message)
{
    struct Door *door = context;
    char text[] = "nothing is traced yet: ask again when there are numbers";
    struct Message answer = {.type = MESSAGE_ERROR,
                             .request = message->request,
                             .number = EAGAIN,
                             .text = text};

    Server_answer(door->server, viewer, &answer);
}

static void viewers(void *context, unsigned count)
{
    struct Door *door = context;

    door->viewers(door->context, count);
}

static struct ServerSource nothing(struct Door *door)
{
    return (struct ServerSource){
        .context = door,
        .want = want,
        .get = get,
        .put = put,
        .request = request,
        .viewers = viewers,
        .notice = "Nothing was traced here until now. Arming…",
    };
}

int Door_open(struct Door *door, char *why, size_t why_size)
{
    const struct ServerSource source = nothing(door);

    return Server_open(&door->server, &source, OCULAR_VERSION, why, why_size);
}

void Door_close(struct Door *door)
{
    if (door->server)
        Server_close(door->server, GOODBYE_MS);
    door->server = NULL;
}

void Door_shut(struct Door *door, bool farewell)
{
    const struct ServerSource source = nothing(door);

    Server_turn_to(door->server, &source, farewell);
}
