// SPDX-License-Identifier: MIT
// One viewer as the server sees it: what it has sent so far, and what is on
// its way to it: at most one snapshot, and answers, of which listings and
// stacks may be long. Nothing here blocks. The server's thread only.
#ifndef OCULAR_IPC_VIEWER_H
#define OCULAR_IPC_VIEWER_H

#include "ipc/base/opened.h"
#include "ipc/row_set.h"
#include "ipc/wire.h"

#include <stdatomic.h>

// An encoded snapshot, shared by the viewers that it goes to.
struct Frame {
    unsigned references;
    double uptime_s; // of the snapshot; NaN: unknown
    double base_s;   // changes since the snapshot of this uptime_s; NaN: the
                     // frame is a whole snapshot
    struct RowMoment moment; // of the snapshot; uptime_s NaN: it has none
    struct Bytes bytes;
};

struct Frame *Frame_new(void); // with one reference; NULL when memory is out
struct Frame *Frame_hold(struct Frame *frame); // one reference more
void Frame_drop(struct Frame *frame);          // NULL is fine

struct Viewer {
    atomic_int fd; // -1: a free slot; atomic for a fork at any moment
    struct Opened opened;
    uint64_t id;           // never used again
    bool greeted;          // its hello was fine
    bool waiting;          // for the next snapshot
    bool shown;            // it has been sent one before
    double seen_s;         // and which: its uptime_s
    bool follows;          // it wants changes,
    struct RowMoment base; // ... since this one; uptime_s NaN: a whole one
    bool ending;           // END follows what is queued
    bool closing;          // dropped once what is queued is sent
    unsigned stacks;       // how often it has asked for them in this turn
    uint64_t period_ms;
    uint64_t due_ms;      // its next snapshot
    uint64_t deadline_ms; // to say hello, or to take its last words; 0 = none
    uint64_t asked_ms;    // each request moves it on (hold, clients.c)
    uint64_t held_ms;     // no request is taken before; 0 = at once
    unsigned polled;      // its entry in the poll set
    struct Bytes in;
    atomic_int passed; // a file that came along, for an EXPORT; 0 = none
    struct Opened passed_file;
    bool given;           // with the message that came last
    struct Bytes control; // answers
    size_t control_sent;
    struct Frame *frame;
    size_t frame_sent;
    struct Frame *last; // after frame, when tracing ends
};

void Viewer_init(struct Viewer *viewer); // a free slot
void Viewer_open(struct Viewer *viewer, int fd, uint64_t id);
void Viewer_close(struct Viewer *viewer); // a free slot again
// Reads the bytes that have arrived, at most a request's worth. 0 nothing more
// for now, 1 there may be more, -EPIPE it is gone.
int Viewer_receive(struct Viewer *viewer);
// The next request: 1 and *message (release it), 0 none yet, -EPROTO, ... An
// EXPORT has the file that came with it, which stays ours, until the next call.
// Any other descriptor that comes is closed.
int Viewer_next(struct Viewer *viewer, struct Message *message);
// Queues an answer. -ENOBUFS: it does not read them; -ENOMEM.
int Viewer_say(struct Viewer *viewer, const struct Message *message);
int Viewer_say_bytes(struct Viewer *viewer, const struct Bytes *bytes);
// Queues an ERROR in words. As Viewer_say.
__attribute__((format(printf, 4, 5))) int
Viewer_refuse(struct Viewer *viewer, uint32_t request, int error,
              const char *format, ...);
// The end of the connection, once it has taken its last words.
void Viewer_dismiss(struct Viewer *viewer, uint64_t now_ms);
// Queues a snapshot unless one is still on its way. It may have changes since
// this one.
void Viewer_show(struct Viewer *viewer, struct Frame *frame);
// Queues the last snapshot (or NULL) and END.
void Viewer_end(struct Viewer *viewer, struct Frame *frame);
// In a forked child, where nothing else is touched.
void Viewer_abandon(struct Viewer *viewer);
bool Viewer_has_output(const struct Viewer *viewer);
// Sends what fits: 0 or -EPIPE.
int Viewer_flush(struct Viewer *viewer);

#endif
