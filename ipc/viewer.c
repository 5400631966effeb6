// SPDX-License-Identifier: MIT
// Implements the queues of bytes for a viewer. If only a part of a frame was
// sent, the rest is sent first. Answers are sent before all snapshots whose
// sending has not begun. clients.c and dispatch.c call these functions on the
// server's thread.
#include "ipc/viewer.h"

#include "ipc/base/heap.h"
#include "ipc/socket.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define READ_SIZE 4096u
// If more than CONTROL_FULL bytes of answers wait, no further request is taken
// from the viewer. A single answer may be larger than CONTROL_FULL. Answers to
// earlier requests may follow, up to CONTROL_MAX bytes.
#define CONTROL_FULL ((size_t)256 << 10)
#define CONTROL_MAX ((size_t)4 << 20)
// Milliseconds for which a viewer may read its last ERROR before it is
// disconnected.
#define LAST_WORDS_MS 1000

struct Frame *Frame_new(void)
{
    struct Frame *frame = Heap_zeroed(1, sizeof(*frame));

    if (frame)
        frame->references = 1;
    return frame;
}

struct Frame *Frame_hold(struct Frame *frame)
{
    if (frame)
        frame->references++;
    return frame;
}

void Frame_drop(struct Frame *frame)
{
    if (!frame || --frame->references)
        return;
    Bytes_release(&frame->bytes);
    Heap_free(frame);
}

void Viewer_init(struct Viewer *viewer)
{
    memset(viewer, 0, sizeof(*viewer));
    atomic_init(&viewer->fd, -1);
}

void Viewer_open(struct Viewer *viewer, int fd, uint64_t id)
{
    Viewer_init(viewer);
    viewer->id = id;
    viewer->base.uptime_s = NAN;
    Bytes_init(&viewer->in);
    Bytes_init(&viewer->control);
    Opened_note(&viewer->opened, fd);
    atomic_store(&viewer->fd, fd);
}

static void drop_gift(struct Viewer *viewer)
{
    int fd = atomic_exchange(&viewer->gift, 0);

    if (fd)
        Opened_close(&viewer->gift_file, fd);
}

void Viewer_abandon(struct Viewer *viewer)
{
    drop_gift(viewer);
    Opened_close(&viewer->opened, atomic_load(&viewer->fd));
}

void Viewer_close(struct Viewer *viewer)
{
    // viewer->fd is set to -1 before the descriptor is closed. In the opposite
    // order, a forked child could close the number after another file has got
    // it.
    int fd = atomic_exchange(&viewer->fd, -1);

    Opened_close(&viewer->opened, fd);
    drop_gift(viewer);
    Bytes_release(&viewer->in);
    Bytes_release(&viewer->control);
    Frame_drop(viewer->frame);
    Frame_drop(viewer->last);
    Viewer_init(viewer);
}

int Viewer_receive(struct Viewer *viewer)
{
    struct Bytes *in = &viewer->in;
    uint8_t *room;
    long got;

    if (!Opened_holds(&viewer->opened, viewer->fd))
        // The program has closed the connection's descriptor.
        return -EPIPE;
    if (in->size >= WIRE_MAX_REQUEST)
        return 1; // Viewer_next() either makes room in the buffer or fails.
    room = Bytes_extend(in, READ_SIZE);
    if (!room)
        return -EPIPE; // If memory is out, the viewer is disconnected.
    // An older viewer may send descriptors with the bytes. The kernel closes
    // them.
    got = Socket_receive(viewer->fd, room, READ_SIZE);
    in->size -= READ_SIZE - (size_t)(got > 0 ? got : 0);
    if (got == -EAGAIN)
        return 0;
    return got > 0 ? 1 : -EPIPE;
}

int Viewer_next(struct Viewer *viewer, struct Message *message)
{
    struct Bytes *in = &viewer->in;
    long used;

    used = Message_decode(message, in->data, in->size, WIRE_MAX_REQUEST);
    if (used <= 0)
        return (int)used;
    in->size -= (size_t)used;
    memmove(in->data, in->data + used, in->size);
    return 1;
}

bool Viewer_is_full(const struct Viewer *viewer)
{
    return viewer->control.size - viewer->control_sent > CONTROL_FULL;
}

int Viewer_say_bytes(struct Viewer *viewer, const struct Bytes *bytes)
{
    struct Bytes *control = &viewer->control;

    if (control->size - viewer->control_sent > CONTROL_MAX)
        return -ENOBUFS;
    // Sent bytes are removed from the queue, because the queue of a slow viewer
    // may never become empty.
    if (viewer->control_sent > CONTROL_FULL) {
        control->size -= viewer->control_sent;
        memmove(control->data, control->data + viewer->control_sent,
                control->size);
        viewer->gift_at -= viewer->gift ? viewer->control_sent : 0;
        viewer->control_sent = 0;
    }
    Bytes_put(control, bytes->data, bytes->size);
    return control->error;
}

void Viewer_give(struct Viewer *viewer, int *file, const struct Opened *opened)
{
    if (viewer->gift) {
        Opened_close(opened, *file);
    } else {
        Opened_note(&viewer->gift_file, *file);
        viewer->gift_at = viewer->control.size;
        atomic_store(&viewer->gift, *file);
    }
    *file = 0;
}

int Viewer_say(struct Viewer *viewer, const struct Message *message)
{
    struct Bytes bytes;
    int error;

    Bytes_init(&bytes);
    error = Message_encode(&bytes, message);
    if (!error)
        error = Viewer_say_bytes(viewer, &bytes);
    Bytes_release(&bytes);
    return error;
}

int Viewer_refuse(struct Viewer *viewer, uint32_t request, int error,
                  const char *format, ...)
{
    struct Message message = {.type = MESSAGE_ERROR, .request = request};
    char text[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    message.number = (uint64_t)error;
    message.text = text;
    return Viewer_say(viewer, &message);
}

void Viewer_dismiss(struct Viewer *viewer, uint64_t now_ms)
{
    viewer->closing = true;
    viewer->waiting = false;
    viewer->deadline_ms = now_ms + LAST_WORDS_MS;
}

void Viewer_show(struct Viewer *viewer, struct Frame *frame)
{
    if (viewer->frame)
        return;
    viewer->frame = Frame_hold(frame);
    viewer->base = frame->moment;
}

void Viewer_end(struct Viewer *viewer, struct Frame *frame)
{
    if (viewer->frame && !viewer->frame_sent) {
        // The last snapshot replaces the snapshot in the queue.
        Frame_drop(viewer->frame);
        viewer->frame = NULL;
    }
    viewer->last = Frame_hold(frame);
    viewer->ending = true;
}

bool Viewer_has_output(const struct Viewer *viewer)
{
    return viewer->control.size || viewer->frame || viewer->last ||
           viewer->ending;
}

// Sends some bytes of the queue. The first `sent` bytes of the queue were sent
// before. A descriptor may have to be sent with a certain byte. If so, sends
// either the bytes before that byte, or that byte and the descriptor. Returns
// the same as Socket_send.
static long send_some(struct Viewer *viewer, const struct Bytes *bytes,
                      size_t sent)
{
    const uint8_t *from = bytes->data + sent;
    size_t size = bytes->size - sent;
    long pushed;

    if (bytes != &viewer->control || !viewer->gift)
        return Socket_send(viewer->fd, from, size);
    if (sent < viewer->gift_at)
        return Socket_send(viewer->fd, from, viewer->gift_at - sent);
    if (!Opened_holds(&viewer->gift_file, viewer->gift)) {
        // The program has closed the file's descriptor.
        atomic_store(&viewer->gift, 0);
        return Socket_send(viewer->fd, from, size);
    }
    pushed = Socket_send_file(viewer->fd, from, size, viewer->gift);
    if (pushed > 0)
        drop_gift(viewer);
    return pushed;
}

// Sends the bytes of the queue from byte *sent on. Returns 1 if all bytes were
// sent, 0 if the socket has no room now, or -EPIPE.
static int push(struct Viewer *viewer, const struct Bytes *bytes, size_t *sent)
{
    if (!Opened_holds(&viewer->opened, viewer->fd))
        // The program has closed the connection's descriptor.
        return -EPIPE;
    while (*sent < bytes->size) {
        long pushed = send_some(viewer, bytes, *sent);

        if (pushed == -EAGAIN || pushed == -ENOBUFS)
            return 0;
        if (pushed < 0)
            return -EPIPE;
        *sent += (size_t)pushed;
    }
    *sent = 0;
    return 1;
}

static int push_control(struct Viewer *viewer)
{
    int done = push(viewer, &viewer->control, &viewer->control_sent);

    if (done > 0)
        Bytes_clear(&viewer->control);
    return done;
}

static int push_frame(struct Viewer *viewer)
{
    int done = push(viewer, &viewer->frame->bytes, &viewer->frame_sent);

    if (done > 0) {
        Frame_drop(viewer->frame);
        viewer->frame = NULL;
    }
    return done;
}

// Puts the last frame, or END, into an empty queue. Returns 1 if there is
// something to send, otherwise 0.
static int refill(struct Viewer *viewer)
{
    struct Message end = {.type = MESSAGE_END};

    if (viewer->last) {
        viewer->frame = viewer->last;
        viewer->last = NULL;
        return 1;
    }
    if (!viewer->ending)
        return 0;
    viewer->ending = false;
    return Viewer_say(viewer, &end) == 0;
}

int Viewer_flush(struct Viewer *viewer)
{
    int done = 1;

    while (done > 0) {
        if (viewer->frame && viewer->frame_sent)
            done = push_frame(viewer);
        else if (viewer->control.size)
            done = push_control(viewer);
        else if (viewer->frame)
            done = push_frame(viewer);
        else
            done = refill(viewer);
    }
    return done;
}
