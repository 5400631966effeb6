// SPDX-License-Identifier: MIT
// The rules of docs/protocol.md on the server's side: hello first, one rate a
// viewer, one encoding a snapshot. Called by server.c on its thread.
#include "ipc/audience.h"
#include "ipc/reception.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RATE_DEFAULT_MS 1000
#define HELLO_MS 5000     // to say hello
#define READS_PER_TURN 16 // of one viewer, so that it holds up nobody

static bool is_open(const struct Viewer *viewer)
{
    return viewer->fd >= 0;
}

static bool is_served(const struct Viewer *viewer)
{
    return is_open(viewer) && viewer->greeted && !viewer->closing;
}

void Audience_init(struct Audience *audience, const struct ServerSource *source,
                   const char *version)
{
    memset(audience, 0, sizeof(*audience));
    audience->source = source;
    audience->pid = getpid();
    snprintf(audience->version, sizeof(audience->version), "%s", version);
    for (unsigned i = 0; i < AUDIENCE_MAX; i++)
        Viewer_init(&audience->viewers[i]);
}

// --- Viewers come and go

void Audience_count(struct Audience *audience)
{
    // Whoever closes the server waits, and may hold what the callback needs.
    if (!audience->leaving)
        audience->source->viewers(audience->source->context, audience->greeted);
}

static void count_viewers(struct Audience *audience, int change)
{
    audience->greeted += (unsigned)change;
    Audience_count(audience);
}

bool Audience_is_there(const struct Audience *audience)
{
    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        if (is_open(&audience->viewers[i]))
            return true;
    }
    return false;
}

static void drop(struct Audience *audience, struct Viewer *viewer)
{
    bool greeted = viewer->greeted;

    Viewer_close(viewer);
    if (greeted)
        count_viewers(audience, -1);
    if (!audience->greeted) {
        Frame_drop(audience->newest);
        audience->newest = NULL;
    }
}

static struct Viewer *free_slot(struct Audience *audience)
{
    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        if (!is_open(&audience->viewers[i]))
            return &audience->viewers[i];
    }
    return NULL;
}

void Audience_admit(struct Audience *audience, int fd, const struct Peer *peer,
                    uint64_t now)
{
    struct Message hello = {.type = MESSAGE_HELLO,
                            .version = WIRE_VERSION,
                            .number = (uint64_t)audience->pid,
                            .text = audience->version};
    struct Viewer *viewer = free_slot(audience);
    const char *why = Reception_objection(peer->uid);

    if (why) {
        Reception_turn_away(fd, EACCES, why);
        return;
    }
    if (!viewer) {
        Reception_turn_away(fd, EUSERS,
                            "128 viewers are looking already: close one");
        return;
    }
    Viewer_open(viewer, fd, ++audience->next_id);
    viewer->period_ms = RATE_DEFAULT_MS;
    viewer->deadline_ms = now + HELLO_MS;
    if (Viewer_say(viewer, &hello) < 0)
        drop(audience, viewer);
}

// --- Requests

static struct House house_of(const struct Audience *audience)
{
    return (struct House){audience->source, audience->version};
}

static void meet(struct Audience *audience, struct Viewer *viewer,
                 const struct Message *message, uint64_t now)
{
    const struct House house = house_of(audience);

    if (Reception_greet(&house, viewer, message, now))
        count_viewers(audience, 1);
}

static void take_requests(struct Audience *audience, struct Viewer *viewer,
                          uint64_t now)
{
    const struct House house = house_of(audience);
    struct Message message;
    int got = 0;

    while (!viewer->closing && (got = Viewer_next(viewer, &message)) > 0) {
        if (!viewer->greeted)
            meet(audience, viewer, &message, now);
        else if (Reception_serve(&house, viewer, &message, now) < 0)
            Viewer_dismiss(viewer, now); // it does not read its answers
        Message_release(&message);
    }
    if (got < 0)
        Reception_refuse(viewer, got, now);
}

static void read_viewer(struct Audience *audience, struct Viewer *viewer,
                        uint64_t now)
{
    viewer->stacks = 0;
    for (int i = 0; i < READS_PER_TURN && !viewer->closing; i++) {
        int more = Viewer_receive(viewer);

        take_requests(audience, viewer, now);
        if (more < 0)
            drop(audience, viewer);
        if (more <= 0)
            return;
    }
}

void Audience_read(struct Audience *audience, const struct pollfd *polled,
                   uint64_t now)
{
    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        struct Viewer *viewer = &audience->viewers[i];
        short events = is_open(viewer) ? polled[viewer->polled].revents : 0;

        if (events && !viewer->closing)
            read_viewer(audience, viewer, now);
        else if (events & (POLLHUP | POLLERR | POLLNVAL))
            drop(audience, viewer);
    }
}

void Audience_answer(struct Audience *audience, uint64_t id,
                     const struct Bytes *bytes, uint64_t now)
{
    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        struct Viewer *viewer = &audience->viewers[i];

        if (is_served(viewer) && viewer->id == id &&
            Viewer_say_bytes(viewer, bytes) < 0)
            Viewer_dismiss(viewer, now);
    }
}

// --- What to wait for

unsigned Audience_poll(struct Audience *audience, struct pollfd *polled)
{
    unsigned count = 0;

    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        struct Viewer *viewer = &audience->viewers[i];
        int events = viewer->closing ? 0 : POLLIN;

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

uint64_t Audience_next_ms(const struct Audience *audience, uint64_t at)
{
    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        const struct Viewer *viewer = &audience->viewers[i];

        if (is_served(viewer) && viewer->due_ms < at)
            at = viewer->due_ms;
        if (is_open(viewer) && viewer->deadline_ms && viewer->deadline_ms < at)
            at = viewer->deadline_ms;
    }
    return at;
}

// --- Snapshots

// The frame of a snapshot, encoded if it is not the one of last time. NULL and
// *error.
static struct Frame *encode(struct Audience *audience,
                            const struct Snapshot *snapshot, int *error)
{
    struct Message message = {.type = MESSAGE_SNAPSHOT,
                              .snapshot = (struct Snapshot *)snapshot};
    struct Frame *frame = audience->newest;

    *error = 0;
    if (frame && frame->uptime_s == snapshot->uptime_s)
        return Frame_hold(frame);
    // In the memory of the last one, where nobody is being sent that any more.
    if (frame && frame->references == 1) {
        audience->newest = NULL;
        Bytes_clear(&frame->bytes);
    } else {
        frame = Frame_new();
    }
    *error = frame ? Message_encode(&frame->bytes, &message) : -ENOMEM;
    if (*error) {
        Frame_drop(frame);
        return NULL;
    }
    frame->uptime_s = snapshot->uptime_s;
    Frame_drop(audience->newest);
    audience->newest = Frame_hold(frame);
    return frame;
}

// The newest snapshot, encoded once for all. 0 and *frame (NULL: there is
// none yet), or -errno.
static int encode_newest(struct Audience *audience, struct Frame **frame)
{
    const struct ServerSource *source = audience->source;
    const struct Snapshot *snapshot = source->get(source->context);
    int error = 0;

    *frame = snapshot ? encode(audience, snapshot, &error) : NULL;
    source->put(source->context, snapshot);
    return error;
}

// Whoever is due, or soon will be, waits for the next snapshot: viewers of one
// rate fall into step, and one snapshot does for all of them. Next times are
// counted from the last ones, so that being early does not shorten a period.
void Audience_turn(struct Audience *audience, uint64_t now)
{
    bool due = false, wanted = false, first = false;

    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        struct Viewer *viewer = &audience->viewers[i];

        due |= is_served(viewer) && viewer->due_ms <= now;
    }
    for (unsigned i = 0; due && i < AUDIENCE_MAX; i++) {
        struct Viewer *viewer = &audience->viewers[i];

        if (!is_served(viewer) || viewer->due_ms > now + viewer->period_ms / 4)
            continue;
        viewer->due_ms += viewer->period_ms;
        if (viewer->due_ms <= now)
            viewer->due_ms = now + viewer->period_ms;
        if (viewer->frame)
            continue; // too slow for its rate: it skips this one
        viewer->waiting = wanted = true;
        first |= !viewer->shown;
    }
    if (wanted)
        audience->source->want(audience->source->context, first);
}

// One that it has been shown already came for another viewer: it waits on.
static void show(struct Viewer *viewer, struct Frame *frame, int error)
{
    if (frame && viewer->shown && viewer->seen_s == frame->uptime_s)
        return;
    viewer->waiting = false;
    viewer->shown = true;
    viewer->seen_s = frame ? frame->uptime_s : 0;
    if (frame)
        Viewer_show(viewer, frame);
    else if (error == -EMSGSIZE)
        Viewer_refuse(viewer, 0, EMSGSIZE,
                      "the snapshot is too large to send: trace less "
                      "(exclude=, include_only=)");
    else
        Viewer_refuse(viewer, 0, -error, "no memory for a snapshot");
}

void Audience_publish(struct Audience *audience)
{
    struct Frame *frame = NULL;
    bool wanted = false;
    int error = 0;

    for (unsigned i = 0; i < AUDIENCE_MAX; i++)
        wanted |= audience->viewers[i].waiting;
    if (wanted)
        error = encode_newest(audience, &frame);
    for (unsigned i = 0; i < AUDIENCE_MAX && (frame || error); i++) {
        if (audience->viewers[i].waiting)
            show(&audience->viewers[i], frame, error);
    }
    Frame_drop(frame);
}

void Audience_flush(struct Audience *audience, uint64_t now)
{
    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        struct Viewer *viewer = &audience->viewers[i];
        bool late = viewer->deadline_ms && viewer->deadline_ms <= now;

        if (!is_open(viewer))
            continue;
        if (Viewer_flush(viewer) < 0 || late ||
            (viewer->closing && !Viewer_has_output(viewer)))
            drop(audience, viewer);
    }
}

// --- The end

void Audience_end(struct Audience *audience)
{
    struct Frame *frame = NULL;

    audience->leaving = true;
    if (audience->greeted)
        encode_newest(audience, &frame);
    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        struct Viewer *viewer = &audience->viewers[i];

        if (!is_open(viewer))
            continue;
        if (is_served(viewer))
            Viewer_end(viewer, frame);
        viewer->closing = true;
        viewer->deadline_ms = 0; // the server's own is what counts now
    }
    Frame_drop(frame);
}

void Audience_part(struct Audience *audience, int error, const char *why,
                   uint64_t now)
{
    struct Frame *frame = NULL;

    if (!error && audience->greeted)
        encode_newest(audience, &frame);
    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        struct Viewer *viewer = &audience->viewers[i];

        if (!is_served(viewer))
            continue;
        if (error)
            Viewer_refuse(viewer, 0, error, "%s", why);
        else
            Viewer_end(viewer, frame);
        Viewer_dismiss(viewer, now);
        viewer->greeted = false; // it does not look any more
        count_viewers(audience, -1);
    }
    Frame_drop(frame);
}

void Audience_release(struct Audience *audience)
{
    audience->leaving = true;
    for (unsigned i = 0; i < AUDIENCE_MAX; i++)
        drop(audience, &audience->viewers[i]);
}

void Audience_abandon(struct Audience *audience, bool messy)
{
    for (unsigned i = 0; i < AUDIENCE_MAX; i++) {
        struct Viewer *viewer = &audience->viewers[i];

        if (!messy)
            Viewer_close(viewer);
        else
            Viewer_abandon(viewer);
    }
    if (!messy)
        Frame_drop(audience->newest);
}
