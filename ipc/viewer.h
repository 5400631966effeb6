// SPDX-License-Identifier: MIT
// struct Viewer is the server's side of one connection. struct Viewer has the
// bytes that the viewer has sent, and the queue of bytes for the viewer. The
// queue has at most one snapshot, and any number of answers. These functions do
// not block. Only the server's thread calls these functions.
#ifndef OCULAR_IPC_VIEWER_H
#define OCULAR_IPC_VIEWER_H

#include "ipc/base/opened.h"
#include "ipc/row_set.h"
#include "ipc/wire.h"

#include <stdatomic.h>

// Holds an encoded snapshot. The queues of several viewers may share a frame.
struct Frame {
    unsigned references;
    double uptime_s; // of the snapshot; NaN: unknown
    // uptime_s of the snapshot to which these changes apply. NaN if the frame
    // is a whole snapshot.
    double base_s;
    struct RowMoment moment; // of the snapshot; uptime_s is NaN if unknown
    struct Bytes bytes;
};

struct Frame *Frame_new(void); // has one reference; NULL if memory is out
struct Frame *Frame_hold(struct Frame *frame); // adds a reference
void Frame_drop(struct Frame *frame);          // NULL is fine

struct Viewer {
    // -1: the slot is free; atomic, since a fork may happen at any moment.
    atomic_int fd;
    struct Opened opened;
    uint64_t id;  // never used again
    bool greeted; // the viewer has said a valid hello
    bool waiting; // the viewer waits for the next snapshot
    bool shown;   // the viewer has had a snapshot
    // uptime_s of the newest snapshot that was sent to the viewer.
    double seen_s;
    bool follows; // the viewer wants changes, not whole snapshots
    // Moment of the snapshot to which the next changes apply. If uptime_s is
    // NaN, a whole snapshot is sent next.
    struct RowMoment base;
    bool ending;     // END is sent after the queue
    bool closing;    // the viewer is disconnected once the queue is sent
    unsigned stacks; // number of requests for stacks in this turn of the loop
    uint64_t period_ms;
    uint64_t due_ms; // when the next snapshot is due
    // For the hello, or for the reading of the last ERROR; 0: none.
    uint64_t deadline_ms;
    // Each request adds REQUEST_MS to this time (hold, clients.c).
    uint64_t asked_ms;
    uint64_t held_ms; // time before which no request is taken; 0: no limit
    unsigned polled;  // index of the viewer's entry for poll()
    struct Bytes in;
    struct Bytes control; // answers
    size_t control_sent;
    // A file that is sent with the byte gift_at of `control`; owned; 0: none.
    atomic_int gift;
    struct Opened gift_file;
    size_t gift_at;
    struct Frame *frame;
    size_t frame_sent;
    struct Frame *last; // sent after `frame` when tracing ends
};

void Viewer_init(struct Viewer *viewer); // makes a free slot
void Viewer_open(struct Viewer *viewer, int fd, uint64_t id);
void Viewer_close(struct Viewer *viewer); // frees the slot
// Reads bytes that have arrived, until the buffer holds WIRE_MAX_REQUEST bytes.
// Returns 0 if no bytes are left to read, 1 if more bytes may be there, or
// -EPIPE if the viewer is gone.
int Viewer_receive(struct Viewer *viewer);
// Gets the next request. Returns 1 and fills *message, which the caller
// releases. Returns 0 if no request is complete, or -errno (-EPROTO, -EMSGSIZE,
// -ENOMEM).
int Viewer_next(struct Viewer *viewer, struct Message *message);
// Queues an answer. Returns 0, -ENOMEM, or -ENOBUFS if too many answers wait
// because the viewer does not read.
int Viewer_say(struct Viewer *viewer, const struct Message *message);
int Viewer_say_bytes(struct Viewer *viewer, const struct Bytes *bytes);
// Takes over *file, and sends the file with the first byte of the next answer.
// Only one file waits at a time. If another file waits, closes *file.
void Viewer_give(struct Viewer *viewer, int *file, const struct Opened *opened);
// Queues an ERROR with a text. Returns the same as Viewer_say.
__attribute__((format(printf, 4, 5))) int
Viewer_refuse(struct Viewer *viewer, uint32_t request, int error,
              const char *format, ...);
// Disconnects the viewer when the viewer's queue is sent, or after a second at
// the latest.
void Viewer_dismiss(struct Viewer *viewer, uint64_t now_ms);
// Queues a snapshot, unless another snapshot is still in the queue. After that,
// the next frame may be the changes since this snapshot.
void Viewer_show(struct Viewer *viewer, struct Frame *frame);
// Queues the last snapshot (unless `frame` is NULL) and END.
void Viewer_end(struct Viewer *viewer, struct Frame *frame);
// Closes the descriptors in a forked child, and changes no other member.
void Viewer_abandon(struct Viewer *viewer);
bool Viewer_has_output(const struct Viewer *viewer);
// Sends as much of the queue as the socket takes. Returns 0 or -EPIPE.
int Viewer_flush(struct Viewer *viewer);

#endif
