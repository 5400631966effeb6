// SPDX-License-Identifier: MIT
// See replay.h. The file is read twice: once at the beginning for the places of
// its frames, of which only their starts are looked at, and each frame again
// when it is wanted.
#include "tui/model/replay.h"
#include "ipc/heap.h"
#include "ipc/now.h"

#include "ipc/version.h"
#include "tui/model/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define FRAME_START 12u // magic, type, length, request number
#define ID_END 12u      // of a LISTING's payload: its length, its first field
#define ASKED 16

struct Entry {
    double time;
    off_t at; // of the frame
    size_t size;
    enum MessageType type;
    uint64_t about; // LISTING: the function
};

struct Answer { // owed to a request
    uint32_t number;
    long entry; // -1: an error, in words
};

struct Replay {
    int fd;
    int timer;
    bool paced, paused;
    bool may_step;
    double clock; // recorded seconds that have been played at `clock_at`
    double clock_at;
    double speed;
    struct Entry *entries;
    size_t count, capacity;
    size_t next;  // of the entries that come by themselves
    bool damaged; // what follows the last entry is none
    struct Answer answers[ASKED];
    size_t answer_count;
    uint32_t last_number;
};

// What answers which request.
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

// --- Reading

// A frame, decoded. 0, or -errno (a file that was damaged meanwhile).
static int read_entry(const struct Replay *replay, const struct Entry *entry,
                      struct Message *message)
{
    uint8_t *bytes = malloc(entry->size);
    long used = -EIO;
    if (!bytes)
        return -ENOMEM;
    if (pread(replay->fd, bytes, entry->size, entry->at) == (long)entry->size)
        used = Message_decode(message, bytes, entry->size, WIRE_MAX_FRAME);
    free(bytes);
    if (used == 0)
        return -EPROTO;
    return used < 0 ? (int)used : 0;
}

static int add_entry(struct Replay *replay, struct Entry entry)
{
    if (replay->count == replay->capacity) {
        size_t capacity = replay->capacity ? 2 * replay->capacity : 256;
        struct Entry *entries =
            realloc(replay->entries, capacity * sizeof *entries);
        if (!entries)
            return -ENOMEM;
        replay->entries = entries;
        replay->capacity = capacity;
    }
    replay->entries[replay->count++] = entry;
    return 0;
}

// What the process that was recorded spoke. 0 or -EPROTONOSUPPORT, in words.
static int check_version(const struct Replay *replay, const struct Entry *entry,
                         char *why, size_t why_size)
{
    struct Message hello;
    if (read_entry(replay, entry, &hello))
        return 0; // said when it would be its turn
    uint32_t version = hello.version;
    if (version != WIRE_VERSION)
        snprintf(why, why_size,
                 "it holds protocol %u (Ocular %.60s), this ocular-top %s "
                 "reads %d: use the ocular-top that it was recorded with",
                 (unsigned)version, hello.text ? hello.text : "?",
                 OCULAR_VERSION, WIRE_VERSION);
    Message_release(&hello);
    return version == WIRE_VERSION ? 0 : -EPROTONOSUPPORT;
}

// The entry whose first `size` bytes these are. False: it is none.
static bool read_start(struct Entry *entry, const uint8_t *start, size_t size)
{
    struct Cursor cursor = Cursor_of(start, size);
    entry->time = Cursor_f64(&cursor);
    bool framed = memcmp(cursor.at, "Oc", 2) == 0;
    Cursor_u16(&cursor);
    entry->type = (enum MessageType)Cursor_u16(&cursor);
    entry->size = FRAME_START + (size_t)Cursor_u32(&cursor);
    Cursor_u32(&cursor); // the request's number
    if (entry->type == MESSAGE_LISTING && entry->size >= FRAME_START + ID_END) {
        Cursor_u32(&cursor);
        entry->about = Cursor_u64(&cursor);
    }
    return framed && entry->size <= WIRE_MAX_FRAME && entry->time >= 0;
}

// The places of all frames. A last one that was cut off is left out.
static int scan(struct Replay *replay, off_t size, char *why, size_t why_size)
{
    off_t at = RECORDING_MAGIC_SIZE;
    int error = 0;
    while (!error && size - at >= (off_t)(RECORDING_TIME_SIZE + FRAME_START)) {
        uint8_t start[RECORDING_TIME_SIZE + FRAME_START + ID_END] = {0};
        struct Entry entry = {.at = at + RECORDING_TIME_SIZE};
        if (pread(replay->fd, start, sizeof start, at) <
            (long)(RECORDING_TIME_SIZE + FRAME_START))
            return -EIO;
        replay->damaged = !read_start(&entry, start, sizeof start);
        if (replay->damaged || entry.at + (off_t)entry.size > size)
            break;
        error = add_entry(replay, entry);
        if (!error && entry.type == MESSAGE_HELLO)
            error = check_version(replay, &entry, why, why_size);
        at = entry.at + (off_t)entry.size;
    }
    return error;
}

static int open_file(struct Replay *replay, const char *path, char *why,
                     size_t why_size)
{
    char magic[RECORDING_MAGIC_SIZE];
    struct stat status;
    // Non-blocking: a pipe is refused, not waited for.
    replay->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (replay->fd < 0 || fstat(replay->fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode) ||
        pread(replay->fd, magic, sizeof magic, 0) != sizeof magic ||
        memcmp(magic, RECORDING_MAGIC, sizeof magic) != 0)
        return -EPROTO;
    return scan(replay, status.st_size, why, why_size);
}

int Replay_open(struct Replay **out, const char *path, bool paced, char *why,
                size_t why_size)
{
    struct Replay *replay = calloc(1, sizeof *replay);
    *out = NULL;
    if (!replay)
        return -ENOMEM;
    replay->fd = -1;
    replay->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    replay->paced = paced;
    replay->speed = 1;
    replay->clock_at = Now_s(CLOCK_MONOTONIC);
    char reason[200] = "";
    int error = replay->timer < 0
                    ? -errno
                    : open_file(replay, path, reason, sizeof reason);
    bool shows = false;
    for (size_t i = 0; i < replay->count; i++)
        shows |= replay->entries[i].type == MESSAGE_SNAPSHOT;
    if (error == -EPROTO || (!error && !shows))
        snprintf(why, why_size, "%s is no recording of ocular-top --record%s",
                 path, error ? "" : ": there is no snapshot in it");
    else if (error)
        snprintf(why, why_size, "cannot replay %s: %s", path,
                 *reason ? reason : strerror(-error));
    if (error || !shows) {
        Replay_close(replay);
        return error ? error : -EPROTO;
    }
    *out = replay;
    return 0;
}

void Replay_close(struct Replay *replay)
{
    if (!replay)
        return;
    if (replay->fd >= 0)
        close(replay->fd);
    if (replay->timer >= 0)
        close(replay->timer);
    free(replay->entries);
    free(replay);
}

// --- Time

static double played(const struct Replay *replay)
{
    double since = Now_s(CLOCK_MONOTONIC) - replay->clock_at;
    return replay->clock + (replay->paused ? 0 : since * replay->speed);
}

static void set_clock(struct Replay *replay)
{
    replay->clock = played(replay);
    replay->clock_at = Now_s(CLOCK_MONOTONIC);
}

void Replay_pause(struct Replay *replay, bool paused)
{
    set_clock(replay);
    replay->paused = paused;
}

void Replay_speed(struct Replay *replay, double speed)
{
    set_clock(replay);
    replay->speed = speed;
}

void Replay_step(struct Replay *replay)
{
    replay->may_step = true;
}

// Readable when something is due: after `seconds`, never if that is infinite.
static void wake_after(const struct Replay *replay, double seconds)
{
    struct itimerspec when = {{0, 0}, {0, 0}};
    if (isfinite(seconds)) {
        seconds = fmin(fmax(seconds, 1e-9), 1e6);
        when.it_value.tv_sec = (time_t)seconds;
        when.it_value.tv_nsec = 1 + (long)(fmod(seconds, 1) * 999999998);
    }
    timerfd_settime(replay->timer, 0, &when, NULL);
}

int Replay_fd(struct Replay *replay)
{
    double due = INFINITY;
    if (replay->answer_count || !replay->paced)
        due = 0;
    else if (replay->next < replay->count && !replay->paused)
        due = (replay->entries[replay->next].time - played(replay)) /
              replay->speed;
    wake_after(replay, due);
    return replay->timer;
}

// --- As a process

static int give_answer(struct Replay *replay, struct Message *message)
{
    struct Answer answer = replay->answers[0];
    replay->answer_count--;
    memmove(replay->answers, replay->answers + 1,
            replay->answer_count * sizeof answer);
    if (answer.entry >= 0 &&
        read_entry(replay, &replay->entries[answer.entry], message) == 0) {
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

int Replay_next(struct Replay *replay, struct Message *message)
{
    if (replay->answer_count)
        return give_answer(replay, message);
    while (replay->next < replay->count) {
        const struct Entry *entry = &replay->entries[replay->next];
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
        int error = read_entry(replay, entry, message);
        if (!error)
            return 1;
        replay->next = replay->count;
        replay->damaged = error != -ENOMEM;
        return error == -ENOMEM ? error : -EPROTO;
    }
    if (!replay->paced && !replay->may_step)
        return 0;
    return replay->damaged ? -EPROTO : -EPIPE;
}

// The newest answer that had come by then, or else the first that came later.
static long find_answer(const struct Replay *replay, enum MessageType type,
                        uint64_t about)
{
    long found = -1;
    for (size_t i = 0; i < replay->count; i++) {
        const struct Entry *entry = &replay->entries[i];
        if (i >= replay->next && found >= 0)
            break;
        if (entry->type == type && entry->about == about)
            found = (long)i;
    }
    return found;
}

int Replay_request(struct Replay *replay, struct Message *request)
{
    size_t kind = 0;
    while (kind < KINDS && kinds[kind].request != request->type)
        kind++;
    if (kind == KINDS)
        return -ENOTSUP;
    if (replay->answer_count == ASKED)
        return -EBUSY;
    long entry = find_answer(replay, kinds[kind].answer, request->number);
    request->request = ++replay->last_number;
    replay->answers[replay->answer_count++] =
        (struct Answer){request->request, entry};
    return 0;
}
