// SPDX-License-Identifier: MIT
// Implements the server's side of docs/protocol.md. Each connection of a viewer
// begins with a hello. Each viewer has its own rate, and each snapshot is
// encoded once. server.c calls these functions on the server's thread.
#include "ipc/clients.h"
#include "ipc/dispatch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RATE_DEFAULT_MS 1000
// Milliseconds within which a viewer must send HELLO after it has connected.
#define HELLO_MS 5000
// Largest number of reads from one viewer in one turn of the server's loop.
// Because of READS_PER_TURN the other viewers do not wait long.
#define READS_PER_TURN 16
// A viewer may make REQUEST_BURST requests at once. The server takes further
// requests at a rate of one per REQUEST_MS. So even an endless stream of
// requests costs the traced process almost nothing.
#define REQUEST_BURST 256
#define REQUEST_MS 20

static bool is_open(const struct Viewer *viewer)
{
    return viewer->fd >= 0;
}

static bool is_served(const struct Viewer *viewer)
{
    return is_open(viewer) && viewer->greeted && !viewer->closing;
}

void Clients_init(struct Clients *clients, const struct ServerSource *source,
                  const char *version)
{
    memset(clients, 0, sizeof(*clients));
    clients->source = source;
    clients->pid = getpid();
    snprintf(clients->version, sizeof(clients->version), "%s", version);
    for (unsigned i = 0; i < CLIENTS_MAX; i++)
        Viewer_init(&clients->viewers[i]);
}

// --- Viewers come and go

void Clients_count(struct Clients *clients)
{
    // source->viewers is not called here, because the thread that calls
    // Server_close() may hold a lock that `viewers` takes.
    if (!clients->leaving)
        clients->source->viewers(clients->source->context, clients->greeted);
}

static void count_viewers(struct Clients *clients, int change)
{
    clients->greeted += (unsigned)change;
    Clients_count(clients);
}

bool Clients_is_there(const struct Clients *clients)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        if (is_open(&clients->viewers[i]))
            return true;
    }
    return false;
}

static void drop(struct Clients *clients, struct Viewer *viewer)
{
    bool greeted = viewer->greeted;

    Viewer_close(viewer);
    if (greeted)
        count_viewers(clients, -1);
    if (!clients->greeted)
        Frames_release(&clients->frames);
}

static struct Viewer *free_slot(struct Clients *clients)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        if (!is_open(&clients->viewers[i]))
            return &clients->viewers[i];
    }
    return NULL;
}

void Clients_admit(struct Clients *clients, int fd, const struct Peer *peer,
                   uint64_t now)
{
    struct Message hello = {.type = MESSAGE_HELLO,
                            .version = WIRE_VERSION,
                            .number = (uint64_t)clients->pid,
                            .text = clients->version};
    struct Viewer *viewer = free_slot(clients);
    const char *why = Dispatch_objection(peer->uid);

    if (why) {
        Dispatch_reject(fd, EACCES, why);
        return;
    }
    if (!viewer) {
        Dispatch_reject(fd, EUSERS,
                        "128 viewers are looking already: close one");
        return;
    }
    Viewer_open(viewer, fd, ++clients->next_id);
    viewer->period_ms = RATE_DEFAULT_MS;
    viewer->deadline_ms = now + HELLO_MS;
    if (Viewer_say(viewer, &hello) < 0)
        drop(clients, viewer);
}

// --- Requests

// Counts a viewer's request. Requests beyond REQUEST_BURST wait in the viewer's
// buffer and in the socket.
static void hold(struct Viewer *viewer, uint64_t now)
{
    const uint64_t burst = REQUEST_BURST * REQUEST_MS;

    if (viewer->asked_ms < now)
        viewer->asked_ms = now;
    viewer->asked_ms += REQUEST_MS;
    if (viewer->asked_ms > now + burst)
        viewer->held_ms = viewer->asked_ms - burst;
}

static void take_requests(struct Clients *clients, struct Viewer *viewer,
                          uint64_t now)
{
    const struct ServerSource *source = clients->source;
    const char *version = clients->version;
    struct Message message;
    int got = 0;

    while (!viewer->closing && !viewer->held_ms) {
        if (Viewer_is_full(viewer)) {
            viewer->held_ms = UINT64_MAX;
            return;
        }
        got = Viewer_next(viewer, &message);
        if (got <= 0)
            break;
        hold(viewer, now);
        if (viewer->greeted) {
            // Dispatch_serve fails if the viewer does not read the server's
            // answers.
            if (Dispatch_serve(source, version, viewer, &message, now) < 0)
                Viewer_dismiss(viewer, now);
        } else if (Dispatch_greet(source, version, viewer, &message, now)) {
            count_viewers(clients, 1);
        }
        Message_release(&message);
    }
    if (got < 0)
        Dispatch_refuse(viewer, got, now);
}

static void read_viewer(struct Clients *clients, struct Viewer *viewer,
                        uint64_t now)
{
    viewer->stacks = 0;
    for (int i = 0; i < READS_PER_TURN && !viewer->closing; i++) {
        int more = Viewer_receive(viewer);

        take_requests(clients, viewer, now);
        if (more < 0)
            drop(clients, viewer);
        if (more <= 0 || viewer->held_ms)
            return;
    }
}

void Clients_read(struct Clients *clients, const struct pollfd *polled,
                  uint64_t now)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct Viewer *viewer = &clients->viewers[i];
        short events = is_open(viewer) ? polled[viewer->polled].revents : 0;
        bool due = viewer->held_ms && viewer->held_ms <= now;

        if (due)
            viewer->held_ms = 0;
        if ((events || due) && !viewer->closing && !viewer->held_ms)
            read_viewer(clients, viewer, now);
        else if (events & (POLLHUP | POLLERR | POLLNVAL))
            drop(clients, viewer);
    }
}

void Clients_answer(struct Clients *clients, struct Answer *answer,
                    uint64_t now)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct Viewer *viewer = &clients->viewers[i];

        if (!is_served(viewer) || viewer->id != answer->viewer)
            continue;
        if (answer->file)
            Viewer_give(viewer, &answer->file, &answer->opened);
        if (Viewer_say_bytes(viewer, &answer->bytes) < 0)
            Viewer_dismiss(viewer, now);
    }
}

// --- The events and times to wait for

unsigned Clients_poll(struct Clients *clients, struct pollfd *polled)
{
    unsigned count = 0;

    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct Viewer *viewer = &clients->viewers[i];
        int events = viewer->closing || viewer->held_ms ? 0 : POLLIN;

        if (!is_open(viewer))
            continue;
        if (Viewer_has_output(viewer))
            events |= POLLOUT;
        viewer->polled = count;
        polled[count++] =
            (struct pollfd){.fd = viewer->fd, .events = (short)events};
    }
    return count;
}

uint64_t Clients_next_ms(const struct Clients *clients, uint64_t at)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        const struct Viewer *viewer = &clients->viewers[i];

        if (is_served(viewer) && viewer->due_ms < at)
            at = viewer->due_ms;
        if (is_open(viewer) && viewer->deadline_ms && viewer->deadline_ms < at)
            at = viewer->deadline_ms;
        if (is_open(viewer) && viewer->held_ms && viewer->held_ms < at)
            at = viewer->held_ms;
    }
    return at;
}

// --- Snapshots

void Clients_forget(struct Clients *clients)
{
    Frames_release(&clients->frames);
    for (unsigned i = 0; i < CLIENTS_MAX; i++)
        clients->viewers[i].base.uptime_s = NAN;
}

// Encodes the newest snapshot as a whole, for all viewers. Returns NULL if
// there is no snapshot or the encoding fails.
static struct Frame *encode_last(struct Clients *clients)
{
    const struct ServerSource *source = clients->source;
    const struct Snapshot *snapshot = source->get(source->context);
    struct Frame *frame = NULL;
    int error;

    if (snapshot)
        frame = Frames_encode_whole(&clients->frames, snapshot, &error);
    source->put(source->context, snapshot);
    return frame;
}

// If a viewer's next snapshot is due now or soon, marks the viewer as waiting.
// Viewers that have the same rate therefore share one snapshot. The times at
// which a viewer's snapshots are due are always one period apart, even if a
// snapshot was sent early.
void Clients_turn(struct Clients *clients, uint64_t now)
{
    bool due = false, wanted = false, first = false;

    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct Viewer *viewer = &clients->viewers[i];

        due |= is_served(viewer) && viewer->due_ms <= now;
    }
    for (unsigned i = 0; due && i < CLIENTS_MAX; i++) {
        struct Viewer *viewer = &clients->viewers[i];

        if (!is_served(viewer) || viewer->due_ms > now + viewer->period_ms / 4)
            continue;
        viewer->due_ms += viewer->period_ms;
        if (viewer->due_ms <= now)
            viewer->due_ms = now + viewer->period_ms;
        if (viewer->frame)
            // The viewer is too slow for its rate and misses this snapshot.
            continue;
        viewer->waiting = wanted = true;
        first |= !viewer->shown;
    }
    if (wanted)
        clients->source->want(clients->source->context, first);
}

static void fail(struct Viewer *viewer, int error)
{
    if (error == -EMSGSIZE)
        Viewer_refuse(viewer, 0, EMSGSIZE,
                      "the snapshot is too large to send: trace less "
                      "(exclude=, include_only=)");
    else
        Viewer_refuse(viewer, 0, -error, "no memory for a snapshot");
}

// Queues the snapshot for a viewer. A viewer that already has this snapshot
// waits for a newer one.
static void show(struct Clients *clients, struct Viewer *viewer,
                 const struct Snapshot *snapshot)
{
    struct Frame *frame;
    int error;

    if (viewer->shown && viewer->seen_s == snapshot->uptime_s)
        return;
    frame = Frames_encode(&clients->frames, snapshot, viewer, &error);
    viewer->waiting = false;
    viewer->shown = true;
    viewer->seen_s = frame ? frame->uptime_s : 0;
    if (frame)
        Viewer_show(viewer, frame);
    else
        fail(viewer, error);
    Frame_drop(frame);
}

void Clients_publish(struct Clients *clients)
{
    const struct ServerSource *source = clients->source;
    const struct Snapshot *snapshot;
    bool wanted = false;

    for (unsigned i = 0; i < CLIENTS_MAX; i++)
        wanted |= clients->viewers[i].waiting;
    if (!wanted)
        return;
    snapshot = source->get(source->context);
    for (unsigned i = 0; snapshot && i < CLIENTS_MAX; i++)
        if (clients->viewers[i].waiting)
            show(clients, &clients->viewers[i], snapshot);
    source->put(source->context, snapshot);
}

void Clients_flush(struct Clients *clients, uint64_t now)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct Viewer *viewer = &clients->viewers[i];
        bool late = viewer->deadline_ms && viewer->deadline_ms <= now;

        if (!is_open(viewer))
            continue;
        if (Viewer_flush(viewer) < 0 || late ||
            (viewer->closing && !Viewer_has_output(viewer)))
            drop(clients, viewer);
        else if (viewer->held_ms == UINT64_MAX && !Viewer_is_full(viewer))
            viewer->held_ms = now;
    }
}

// --- The end

void Clients_end(struct Clients *clients)
{
    struct Frame *frame;

    clients->leaving = true;
    frame = clients->greeted ? encode_last(clients) : NULL;
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct Viewer *viewer = &clients->viewers[i];

        if (!is_open(viewer))
            continue;
        if (is_served(viewer))
            Viewer_end(viewer, frame);
        viewer->closing = true;
        // From now on the viewer has the deadline of Server_close.
        viewer->deadline_ms = 0;
    }
    Frame_drop(frame);
}

void Clients_part(struct Clients *clients, int error, const char *why,
                  uint64_t now)
{
    struct Frame *frame =
        !error && clients->greeted ? encode_last(clients) : NULL;

    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct Viewer *viewer = &clients->viewers[i];

        if (!is_served(viewer))
            continue;
        if (error)
            Viewer_refuse(viewer, 0, error, "%s", why);
        else
            Viewer_end(viewer, frame);
        Viewer_dismiss(viewer, now);
        // From now on the source does not count this viewer.
        viewer->greeted = false;
        count_viewers(clients, -1);
    }
    Frame_drop(frame);
}

void Clients_release(struct Clients *clients)
{
    clients->leaving = true;
    for (unsigned i = 0; i < CLIENTS_MAX; i++)
        drop(clients, &clients->viewers[i]);
}

void Clients_abandon(struct Clients *clients, bool messy)
{
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        struct Viewer *viewer = &clients->viewers[i];

        if (!messy)
            Viewer_close(viewer);
        else
            Viewer_abandon(viewer);
    }
    if (!messy)
        Frames_release(&clients->frames);
}
