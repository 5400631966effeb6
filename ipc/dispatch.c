// SPDX-License-Identifier: MIT
// The answer to an unknown message is an ERROR with a text. If a viewer breaks
// the protocol, it is disconnected.
#include "ipc/dispatch.h"
#include "ipc/process.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define RATE_MIN_S 0.1
#define RATE_MAX_S 60.0
// Largest number of requests for stacks that a viewer may make in one turn of
// the server's loop. Two requests are enough, because a viewer may show stacks
// and record stacks at the same time.
#define STACKS_PER_TURN 2

void Dispatch_reject(int fd, int error, const char *words)
{
    struct Viewer viewer;

    Viewer_open(&viewer, fd, 0);
    Viewer_refuse(&viewer, 0, error, "%s", words);
    Viewer_flush(&viewer);
    Viewer_close(&viewer);
}

const char *Dispatch_objection(uid_t uid)
{
    if (uid == 0)
        return NULL;
    if (Process_is_nobody(uid))
        return "this process is in a container that does not know your user "
               "(it sees nobody): run ocular-top inside the container "
               "(docker exec), or as the user who started it";
    if (uid != geteuid())
        return "only the user who runs this process, or root, may look";
    return NULL;
}

// Sends the source's notice, if there is one, to the viewer. The notice tells
// the viewer why the first snapshot comes later.
static void tell(const struct ServerSource *source, struct Viewer *viewer)
{
    struct Message notice = {.type = MESSAGE_NOTICE};
    char text[256];

    if (!source->notice)
        return;
    snprintf(text, sizeof(text), "%s", source->notice);
    notice.text = text;
    Viewer_say(viewer, &notice);
}

bool Dispatch_greet(const struct ServerSource *source, const char *version,
                    struct Viewer *viewer, const struct Message *message,
                    uint64_t now)
{
    if (message->type != MESSAGE_HELLO) {
        Viewer_refuse(viewer, message->request, EPROTO,
                      "a connection begins with a hello");
        Viewer_dismiss(viewer, now);
    } else if (message->version != WIRE_VERSION) {
        Viewer_refuse(viewer, message->request, EPROTONOSUPPORT,
                      "this process speaks protocol %d (Ocular %s), the "
                      "viewer speaks %u: use the ocular-top of that version",
                      WIRE_VERSION, version, (unsigned)message->version);
        Viewer_dismiss(viewer, now);
    } else {
        viewer->greeted = true;
        viewer->deadline_ms = 0;
        viewer->due_ms = now;
        tell(source, viewer);
        return true;
    }
    return false;
}

// Makes the viewer get one whole snapshot, and after that only changes. A
// viewer sends FOLLOW again if it does not have the snapshot to which the last
// changes apply.
static int follow(struct Viewer *viewer, const struct Message *message)
{
    struct Message reply = {.type = MESSAGE_REPLY, .request = message->request};

    viewer->follows = true;
    viewer->base.uptime_s = NAN;
    return Viewer_say(viewer, &reply);
}

static int set_rate(struct Viewer *viewer, const struct Message *message,
                    uint64_t now)
{
    struct Message reply = {.type = MESSAGE_REPLY,
                            .request = message->request,
                            .value = message->value};

    if (!(message->value >= RATE_MIN_S && message->value <= RATE_MAX_S))
        return Viewer_refuse(viewer, message->request, EINVAL,
                             "the rate is %g to %g seconds between snapshots",
                             RATE_MIN_S, RATE_MAX_S);
    viewer->period_ms = (uint64_t)(message->value * 1000 + 0.5);
    if (viewer->due_ms > now + viewer->period_ms)
        viewer->due_ms = now + viewer->period_ms;
    return Viewer_say(viewer, &reply);
}

// Makes the viewer's next snapshot due at the earliest time that the highest
// rate allows. The viewer's period starts again when its next snapshot is due.
static int hurry(struct Viewer *viewer, const struct Message *message,
                 uint64_t now)
{
    const uint64_t least = (uint64_t)(RATE_MIN_S * 1000);
    uint64_t left = viewer->due_ms > now ? viewer->due_ms - now : 0;
    uint64_t passed = viewer->period_ms > left ? viewer->period_ms - left : 0;
    uint64_t wait = passed < least ? least - passed : 0;
    struct Message reply = {.type = MESSAGE_REPLY, .request = message->request};

    if (wait > left)
        wait = left;
    viewer->due_ms = now + wait;
    reply.value = (double)wait / 1000;
    return Viewer_say(viewer, &reply);
}

int Dispatch_serve(const struct ServerSource *source, const char *version,
                   struct Viewer *viewer, const struct Message *message,
                   uint64_t now)
{
    switch (message->type) {
    case MESSAGE_RATE:
        return set_rate(viewer, message, now);
    case MESSAGE_NOW:
        return hurry(viewer, message, now);
    case MESSAGE_FOLLOW:
        return follow(viewer, message);
    case MESSAGE_DETAIL:
    case MESSAGE_REARM:
    case MESSAGE_BUDGET:
    case MESSAGE_TASKS:
    case MESSAGE_TASK_GROUP:
    case MESSAGE_NATIVE:
    case MESSAGE_OBJECTS:
    case MESSAGE_LINES:
    case MESSAGE_LATENCIES:
        break;
    case MESSAGE_HANDOUT:
        if (viewer->gift)
            return Viewer_refuse(viewer, message->request, EBUSY,
                                 "another recording is on its way");
        break;
    case MESSAGE_EXPORT:
    case MESSAGE_EXPORT_PATH:
    case MESSAGE_CANCEL:
        return Viewer_refuse(viewer, message->request, EOPNOTSUPP,
                             "this viewer is too old to export: use the "
                             "ocular-top of Ocular %s, which writes the file "
                             "itself",
                             version);
    // The number of requests for stacks is limited, because the stacks are a
    // large answer and are built before the socket has room for it.
    case MESSAGE_FLAME:
        if (viewer->stacks++ >= STACKS_PER_TURN)
            return Viewer_refuse(viewer, message->request, EBUSY,
                                 "ask for the stacks again once they are here");
        break;
    default:
        return Viewer_refuse(viewer, message->request, EOPNOTSUPP,
                             "request %u is not known to Ocular %s",
                             (unsigned)message->type, version);
    }
    source->request(source->context, viewer->id, message);
    return 0;
}

void Dispatch_refuse(struct Viewer *viewer, int error, uint64_t now)
{
    if (error == -EMSGSIZE)
        Viewer_refuse(viewer, 0, EMSGSIZE, "a request may have %u bytes",
                      WIRE_MAX_REQUEST);
    else
        Viewer_refuse(viewer, 0, -error, "these bytes are not understood");
    Viewer_dismiss(viewer, now);
}
