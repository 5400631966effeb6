// SPDX-License-Identifier: MIT
#include "tui/model/capture.h"

#include "ipc/base/opened.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// A function's code is requested again after ASK_AGAIN_S seconds, because the
// interpreter may have specialised more of it.
#define ASK_AGAIN_S 10.0

static void write_all(struct Capture *recording, const void *data, size_t size)
{
    if (!recording->error)
        recording->error = Opened_write(recording->fd, data, size);
}

int Capture_open(struct Capture *recording, const char *path, char *why,
                 size_t why_size)
{
    *recording = (struct Capture){.began = -1};
    Bytes_init(&recording->bytes);
    recording->fd =
        open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
    if (recording->fd < 0) {
        int error = errno;
        snprintf(why, why_size, "cannot record to %s: %s%s", path,
                 strerror(error),
                 error == EEXIST ? "; remove it, or choose another name" : "");
        return -error;
    }
    write_all(recording, CAPTURE_MAGIC, CAPTURE_MAGIC_SIZE);
    if (recording->error)
        snprintf(why, why_size, "cannot record to %s: %s", path,
                 strerror(-recording->error));
    return recording->error;
}

int Capture_close(struct Capture *recording)
{
    if (recording->fd >= 0 && close(recording->fd) && !recording->error)
        recording->error = -errno;
    recording->fd = -1;
    Bytes_release(&recording->bytes);
    return recording->error;
}

void Capture_add(struct Capture *recording, const struct Message *message,
                 double now)
{
    struct Bytes *bytes = &recording->bytes;
    if (recording->error)
        return;
    // Times in the file are counted from the first message after HELLO, so that
    // a replay shows something at once.
    if (recording->began < 0 && message->type != MESSAGE_HELLO)
        recording->began = now;
    Bytes_clear(bytes);
    Bytes_put_f64(bytes, recording->began < 0 ? 0 : now - recording->began);
    int error = Message_encode(bytes, message);
    // Each entry is written as a whole. The reader ignores an incomplete entry
    // at the end.
    if (error || bytes->error)
        recording->error = error ? error : bytes->error;
    else
        write_all(recording, bytes->data, bytes->size);
}

// Returns a pointer to the time of the newest request for the function's code,
// or NULL.
static double *asked_at(struct Capture *recording, uint64_t id)
{
    for (size_t i = 0; i < recording->asked_count; i++)
        if (recording->asked[i].id == id)
            return &recording->asked[i].at;
    return NULL;
}

uint64_t Capture_request(struct Capture *recording,
                         const struct Snapshot *snapshot, double now)
{
    const struct Function *hottest = NULL;
    for (size_t i = 0; i < snapshot->function_count; i++) {
        const struct Function *one = &snapshot->functions[i];
        double *at = asked_at(recording, one->id);
        bool full = recording->asked_count == CAPTURE_ASKED;
        bool due = at ? now - *at >= ASK_AGAIN_S : !full;
        if (due && (!hottest || one->share > hottest->share ||
                    (isnan(hottest->share) && !isnan(one->share))))
            hottest = one;
    }
    if (!hottest)
        return 0;
    double *at = asked_at(recording, hottest->id);
    if (!at) {
        recording->asked[recording->asked_count].id = hottest->id;
        at = &recording->asked[recording->asked_count++].at;
    }
    *at = now;
    return hottest->id;
}
