// SPDX-License-Identifier: MIT
#include "tui/model/playback.h"

#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tui/model/recording_index.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define ASKED 16

struct Answer { // A pending answer to a request.
    uint32_t number;
    long entry; // Index of the entry, or -1 to answer with an error.
};

struct Playback {
    struct RecordingIndex index;
    int timer;
    bool paced, paused;
    bool may_step;
    double clock; // Position in the recording in seconds, at the time clock_at.
    double clock_at;
    double speed;
    size_t next; // Index of the next entry to be played.
    struct Answer answers[ASKED];
    size_t answer_count;
    uint32_t last_number;
};

// For each type of request, the type of the message that answers it.
static const struct {
    enum MessageType request, answer;
} kinds[] = {{MESSAGE_DETAIL, MESSAGE_LISTING},
             {MESSAGE_FLAME, MESSAGE_STACKS}};
#define KINDS (sizeof kinds / sizeof kinds[0])

static bool is_answer(enum MessageType type)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].answer == type)
            return true;
    return false;
}

int Playback_open(struct Playback **out, const char *path, bool paced,
                  char *why, size_t why_size)
{
    struct Playback *replay = calloc(1, sizeof *replay);
    *out = NULL;
    if (!replay)
        return -ENOMEM;
    replay->index.fd = -1;
    replay->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    replay->paced = paced;
    replay->speed = 1;
    replay->clock_at = Now_s(CLOCK_MONOTONIC);
    char reason[200] = "";
    int error = replay->timer < 0 ? -errno
                                  : RecordingIndex_open(&replay->index, path,
                                                        reason, sizeof reason);
    bool shows = RecordingIndex_has(&replay->index, MESSAGE_SNAPSHOT);
    if (error == -EPROTO || (!error && !shows))
        snprintf(why, why_size, "%s is no recording of ocular-top --record%s",
                 path, error ? "" : ": there is no snapshot in it");
    else if (error)
        snprintf(why, why_size, "cannot replay %s: %s", path,
                 *reason ? reason : strerror(-error));
    if (error || !shows) {
        Playback_close(replay);
        return error ? error : -EPROTO;
    }
    *out = replay;
    return 0;
}

void Playback_close(struct Playback *replay)
{
    if (!replay)
        return;
    RecordingIndex_close(&replay->index);
    if (replay->timer >= 0)
        close(replay->timer);
    free(replay);
}

// --- Time

static double played(const struct Playback *replay)
{
    double since = Now_s(CLOCK_MONOTONIC) - replay->clock_at;
    return replay->clock + (replay->paused ? 0 : since * replay->speed);
}

static void set_clock(struct Playback *replay)
{
    replay->clock = played(replay);
    replay->clock_at = Now_s(CLOCK_MONOTONIC);
}

void Playback_pause(struct Playback *replay, bool paused)
{
    set_clock(replay);
    replay->paused = paused;
}

void Playback_speed(struct Playback *replay, double speed)
{
    set_clock(replay);
    replay->speed = speed;
}

void Playback_step(struct Playback *replay)
{
    replay->may_step = true;
}

// Makes the timer's descriptor readable after `seconds`. If `seconds` is
// infinite, the timer never becomes readable.
static void wake_after(const struct Playback *replay, double seconds)
{
    struct itimerspec when = {{0, 0}, {0, 0}};
    if (isfinite(seconds)) {
        seconds = fmin(fmax(seconds, 1e-9), 1e6);
        when.it_value.tv_sec = (time_t)seconds;
        when.it_value.tv_nsec = 1 + (long)(fmod(seconds, 1) * 999999998);
    }
    timerfd_settime(replay->timer, 0, &when, NULL);
}

int Playback_fd(struct Playback *replay)
{
    double due = INFINITY;
    if (replay->answer_count || !replay->paced)
        due = 0;
    else if (replay->next < replay->index.count && !replay->paused)
        due = (replay->index.entries[replay->next].time - played(replay)) /
              replay->speed;
    wake_after(replay, due);
    return replay->timer;
}

// --- As a process

static int give_answer(struct Playback *replay, struct Message *message)
{
    struct Answer answer = replay->answers[0];
    replay->answer_count--;
    memmove(replay->answers, replay->answers + 1,
            replay->answer_count * sizeof answer);
    if (answer.entry >= 0 &&
        RecordingIndex_read(&replay->index,
                            &replay->index.entries[answer.entry],
                            message) == 0) {
        message->request = answer.number;
        return 1;
    }
    *message = (struct Message){
        .type = MESSAGE_ERROR,
        .request = answer.number,
        .number = ENODATA,
        .text = Heap_text(answer.entry < 0
                              ? "that is not in the recording; only a live "
                                "program can be asked for it"
                              : "the recording is damaged there")};
    return 1;
}

int Playback_next(struct Playback *replay, struct Message *message)
{
    if (replay->answer_count)
        return give_answer(replay, message);
    while (replay->next < replay->index.count) {
        const struct RecordingEntry *entry =
            &replay->index.entries[replay->next];
        bool shows = entry->type == MESSAGE_SNAPSHOT;
        if (is_answer(entry->type) || entry->type == MESSAGE_HELLO) {
            replay->next++;
            continue;
        }
        if (replay->paced ? replay->paused || entry->time > played(replay)
                          : shows && !replay->may_step)
            return 0;
        replay->may_step = replay->may_step && !shows;
        replay->next++;
        int error = RecordingIndex_read(&replay->index, entry, message);
        if (!error)
            return 1;
        replay->next = replay->index.count;
        replay->index.damaged = error != -ENOMEM;
        return error == -ENOMEM ? error : -EPROTO;
    }
    if (!replay->paced && !replay->may_step)
        return 0;
    return replay->index.damaged ? -EPROTO : -EPIPE;
}

int Playback_request(struct Playback *replay, struct Message *request)
{
    size_t kind = 0;
    while (kind < KINDS && kinds[kind].request != request->type)
        kind++;
    if (kind == KINDS)
        return -ENOTSUP;
    if (replay->answer_count == ASKED)
        return -EBUSY;
    long entry = RecordingIndex_find(&replay->index, replay->next,
                                     kinds[kind].answer, request->number);
    request->request = ++replay->last_number;
    replay->answers[replay->answer_count++] =
        (struct Answer){request->request, entry};
    return 0;
}
