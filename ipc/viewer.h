// SPDX-License-Identifier: MIT
// struct Viewer is the server's side of the connection to one viewer. struct
// Viewer contains the bytes that the viewer has sent, and a queue of bytes for
// the viewer. The queue contains at most one snapshot, but any number of
// answers. The functions of viewer.h do not block. Only the server's thread
// calls the functions of viewer.h.
#pragma once

#include "ipc/base/opened.h"
#include "ipc/row_set.h"
#include "ipc/wire.h"

#include <stdatomic.h>

// The bytes of a snapshot, encoded for viewers. Several viewers' queues may
// share a frame.
struct Frame {
    unsigned references;
    // Snapshot.uptime_s of the encoded snapshot; NaN if unknown.
    double uptime_s;
    // Snapshot.uptime_s of the snapshot to which the changes in this frame are
    // relative. NaN if the frame is a whole snapshot.
    double base_s;
    // Time of the encoded snapshot; its uptime_s is NaN if unknown.
    struct RowMoment moment;
    struct Bytes bytes;
};

// Returns a frame with one reference, or NULL if there is no memory.
struct Frame *Frame_new(void);
struct Frame *Frame_hold(struct Frame *frame); // Adds a reference to the frame.
// Drops a reference to the frame. `frame` may be NULL.
void Frame_drop(struct Frame *frame);

struct Viewer {
    // Descriptor of the connection, or -1 if the slot is free. `fd` is atomic,
    // because a fork may happen at any time.
    atomic_int fd;
    struct Opened opened;
    // Number of the viewer. No other viewer ever gets the same number.
    uint64_t id;
    bool greeted; // True if the viewer has sent a valid HELLO.
    bool waiting; // True if the viewer gets the next snapshot.
    bool shown;   // True if the viewer has got at least one snapshot.
    // Snapshot.uptime_s of the newest snapshot that was sent to the viewer.
    double seen_s;
    // True if the viewer wants changes instead of whole snapshots.
    bool follows;
    // Time of the snapshot to which the viewer's next changes are relative. If
    // base.uptime_s is NaN, the viewer gets a whole snapshot next.
    struct RowMoment base;
    bool ending; // True if END must be sent after all other bytes.
    // True if the viewer must be disconnected after all bytes are sent.
    bool closing;
    // Number of requests for stacks in this turn of the server's loop.
    unsigned stacks;
    uint64_t period_ms;
    uint64_t due_ms; // Time at which the viewer's next snapshot is due.
    // Time by which the viewer must have sent its HELLO, or read its last
    // ERROR; 0 if there is no time limit.
    uint64_t deadline_ms;
    // Time by which the number of requests is limited. Each request of the
    // viewer moves asked_ms REQUEST_MS forward (hold, clients.c).
    uint64_t asked_ms;
    // Time before which no request is taken from the viewer; 0 if requests are
    // taken at once, and UINT64_MAX until the viewer reads its answers.
    uint64_t held_ms;
    unsigned polled; // Index of the viewer's entry in the array for poll().
    struct Bytes in;
    struct Bytes control; // Encoded answers that wait to be sent to the viewer.
    size_t control_sent;
    // Descriptor of a file that is sent with the byte number gift_at of
    // `control`; 0 if there is none. The viewer owns this descriptor.
    atomic_int gift;
    struct Opened gift_file;
    size_t gift_at;
    struct Frame *frame;
    size_t frame_sent;
    // The last snapshot, which is sent after `frame` when tracing ends.
    struct Frame *last;
};

// Initialises a free slot.
void Viewer_init(struct Viewer *viewer);
void Viewer_open(struct Viewer *viewer, int fd, uint64_t id);
// Closes the viewer's connection and makes its slot free.
void Viewer_close(struct Viewer *viewer);
// Reads bytes from the viewer's connection, until the buffer contains
// WIRE_MAX_REQUEST bytes. Returns 0 if no bytes are left to read, 1 if there
// may be more bytes, or -EPIPE if the viewer is gone.
int Viewer_receive(struct Viewer *viewer);
// Takes the viewer's next request. Returns 1 and fills *message, which the
// caller releases. Returns 0 if no request is complete yet, or -EPROTO,
// -EMSGSIZE or -ENOMEM.
int Viewer_next(struct Viewer *viewer, struct Message *message);
// Returns true if so many answers wait that no further request may be taken.
bool Viewer_is_full(const struct Viewer *viewer);
// Queues an answer for the viewer. Returns 0, -ENOMEM, or -ENOBUFS if too many
// answers wait because the viewer does not read.
int Viewer_say(struct Viewer *viewer, const struct Message *message);
int Viewer_say_bytes(struct Viewer *viewer, const struct Bytes *bytes);
// Takes over the descriptor *file, and sends it with the first byte of the next
// answer. At most one descriptor may wait to be sent. If another descriptor
// waits, closes *file.
void Viewer_give(struct Viewer *viewer, int *file, const struct Opened *opened);
// Queues an ERROR with a text for the viewer. Returns the same as Viewer_say.
__attribute__((format(printf, 4, 5))) int
Viewer_refuse(struct Viewer *viewer, uint32_t request, int error,
              const char *format, ...);
// Disconnects the viewer after its queue is sent, or after a second at the
// latest.
void Viewer_dismiss(struct Viewer *viewer, uint64_t now_ms);
// Queues a snapshot for the viewer, unless another snapshot is still in the
// queue. The viewer's next frame can contain just the changes since this
// snapshot.
void Viewer_show(struct Viewer *viewer, struct Frame *frame);
// Queues the last snapshot and END for the viewer. If `frame` is NULL, queues
// only END.
void Viewer_end(struct Viewer *viewer, struct Frame *frame);
// Closes the viewer's descriptors in a forked child, and changes nothing else.
void Viewer_abandon(struct Viewer *viewer);
bool Viewer_has_output(const struct Viewer *viewer);
// Sends as much of the viewer's queue as the socket takes. Returns 0 or -EPIPE.
int Viewer_flush(struct Viewer *viewer);
