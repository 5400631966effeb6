// SPDX-License-Identifier: MIT
#include "ipc/frames.h"

#include <errno.h>

void Frames_release(struct Frames *frames)
{
    Frame_drop(frames->whole);
    Frame_drop(frames->changes);
    Arena_release(&frames->scratch);
    *frames = (struct Frames){0};
}

static struct RowMoment moment_of(const struct Snapshot *snapshot)
{
    return snapshot->shared ? snapshot->shared->moment
                            : (struct RowMoment){.uptime_s = NAN};
}

// Encodes the snapshot into a frame, or only its changes since `base`. Returns
// 0 or -errno. -ESTALE means that not all changes since `base` are known.
static int put(struct Frames *frames, struct Frame *frame,
               const struct Snapshot *snapshot, const struct RowMoment *base)
{
    struct Snapshot out = {.arena = frames->scratch};
    struct Changes changes = {0};
    struct Message message = {.type = base ? MESSAGE_CHANGES : MESSAGE_SNAPSHOT,
                              .snapshot = &out,
                              .changes = &changes};
    int error;

    Arena_clear(&out.arena);
    error = base ? RowSet_changes(snapshot, base, &out, &changes)
                 : RowSet_whole(snapshot, &out);
    if (!error)
        error = Message_encode(&frame->bytes, &message);
    frames->scratch = out.arena;
    Arena_release(&changes.arena);
    return error;
}

// Returns the frame of the snapshot. *kept is the frame that was encoded last,
// or NULL. If *kept is the frame of another snapshot, encodes a new frame and
// stores it in *kept. Returns NULL and sets *error on failure.
static struct Frame *encode(struct Frames *frames, struct Frame **kept,
                            const struct Snapshot *snapshot,
                            const struct RowMoment *base, int *error)
{
    struct Frame *frame = *kept;
    double base_s = base ? base->uptime_s : NAN;

    *error = 0;
    if (frame && frame->uptime_s == snapshot->uptime_s &&
        (!base || frame->base_s == base_s))
        return Frame_hold(frame);
    // If no viewer's queue contains the last frame, its memory is reused for
    // the new frame.
    if (frame && frame->references == 1) {
        *kept = NULL;
        Bytes_clear(&frame->bytes);
    } else {
        frame = Frame_new();
    }
    *error = frame ? put(frames, frame, snapshot, base) : -ENOMEM;
    if (*error) {
        Frame_drop(frame);
        return NULL;
    }
    frame->uptime_s = snapshot->uptime_s;
    frame->base_s = base_s;
    frame->moment = moment_of(snapshot);
    Frame_drop(*kept);
    *kept = Frame_hold(frame);
    return frame;
}

struct Frame *Frames_encode_whole(struct Frames *frames,
                                  const struct Snapshot *snapshot, int *error)
{
    return encode(frames, &frames->whole, snapshot, NULL, error);
}

// Drops the frame of an older whole snapshot. The frame of a whole snapshot is
// large, and perhaps no viewer will need a whole snapshot again.
static void drop_old(struct Frames *frames, const struct Snapshot *snapshot)
{
    if (!frames->whole || frames->whole->uptime_s == snapshot->uptime_s)
        return;
    Frame_drop(frames->whole);
    frames->whole = NULL;
}

struct Frame *Frames_encode(struct Frames *frames,
                            const struct Snapshot *snapshot,
                            const struct Viewer *viewer, int *error)
{
    struct Frame *frame;

    if (!viewer->follows || isnan(viewer->base.uptime_s))
        return Frames_encode_whole(frames, snapshot, error);
    frame = encode(frames, &frames->changes, snapshot, &viewer->base, error);
    if (*error == -ESTALE)
        return Frames_encode_whole(frames, snapshot, error);
    drop_old(frames, snapshot);
    return frame;
}
