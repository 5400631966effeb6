// SPDX-License-Identifier: MIT
#include "tracer/session/persistent_server.h"

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
    struct PersistentServer *persistent = context;
    char text[] = "nothing is traced yet: ask again when there are numbers";
    struct Message answer = {.type = MESSAGE_ERROR,
                             .request = message->request,
                             .number = EAGAIN,
                             .text = text};

    Server_answer(persistent->server, viewer, &answer);
}

static void viewers(void *context, unsigned count)
{
    struct PersistentServer *persistent = context;

    persistent->viewers(persistent->context, count);
}

static struct ServerSource nothing(struct PersistentServer *persistent)
{
    return (struct ServerSource){
        .context = persistent,
        .want = want,
        .get = get,
        .put = put,
        .request = request,
        .viewers = viewers,
        .notice = "Nothing was traced here until now. Arming…",
    };
}

int PersistentServer_open(struct PersistentServer *persistent, char *why,
                          size_t why_size)
{
    const struct ServerSource source = nothing(persistent);

    return Server_open(&persistent->server, &source, OCULAR_VERSION, why,
                       why_size);
}

void PersistentServer_close(struct PersistentServer *persistent)
{
    if (persistent->server)
        Server_close(persistent->server, GOODBYE_MS);
    persistent->server = NULL;
}

void PersistentServer_detach(struct PersistentServer *persistent, bool farewell)
{
    const struct ServerSource source = nothing(persistent);

    Server_turn_to(persistent->server, &source, farewell);
}
