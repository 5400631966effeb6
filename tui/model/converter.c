// SPDX-License-Identifier: MIT
// The process changes its recording again after some seconds. The converter's
// thread therefore copies the recording first. The copy is a file without a
// name in the folder of the output, where there must be room for the output
// anyway. The output is usually larger than the copy.
#define _GNU_SOURCE 1 // copy_file_range, memfd_create.
#include "tui/model/converter.h"

#include "formats/live_export.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tui/model/as_user.h"
#include "tui/model/place.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

// Number of bytes that are copied between two checks.
#define COPY_BYTES ((uint64_t)8 << 20)
// Largest size in bytes of a copy in memory.
#define MEMORY_BYTES ((uint64_t)1 << 30)
#define TELL_S 0.1 // Seconds between two reports of progress.

struct Converter {
    // Descriptor of the recording that the process has sent, and later of the
    // copy.
    int recording;
    int copy; // Descriptor of the file for the copy, or -1 if there is none.
    // Size of the recording in bytes, as the process has reported it.
    uint64_t size;
    // Seconds for which the process leaves the recording unchanged (0 = for
    // ever).
    double steady_s;
    double asked_s;
    const struct ExportFile *file;
    uint32_t request;
    // `wake` is an eventfd, and `both` is an epoll instance that watches `wake`
    // and the connection.
    int wake, both;
    pthread_t thread;
    bool started;
    _Atomic bool cancelled, ended;
    _Atomic double done;
    _Atomic uint64_t bytes;
    // Time of the last report of progress. Only the Converter's thread uses it.
    double told_s;
    // The thread writes the members from `error` on before it sets `ended`.
    int error;
    // The reason why the conversion failed, or what the file lacks, or "".
    char why[200];
};

static void wake(const struct Converter *converter)
{
    const uint64_t one = 1;
    ssize_t wrote = write(converter->wake, &one, sizeof one);
    (void)wrote; // If the eventfd is readable already, write() fails.
}

// --- The thread

static bool go_on(void *context, double done, uint64_t bytes)
{
    struct Converter *converter = context;
    double now = Now_s(CLOCK_MONOTONIC);
    atomic_store(&converter->done, done);
    atomic_store(&converter->bytes, bytes);
    if (now - converter->told_s >= TELL_S) {
        converter->told_s = now;
        wake(converter);
    }
    return !atomic_load(&converter->cancelled);
}

// Returns 0, or -errno if there is no room for the copy, or if there is no
// recording.
static int check_room(struct Converter *converter)
{
    struct statvfs system;
    struct stat status;
    uint64_t size = converter->size, room = MEMORY_BYTES;
    if (fstat(converter->recording, &status) ||
        fstatvfs(converter->copy, &system))
        return -errno;
    if (!S_ISREG(status.st_mode)) {
        snprintf(converter->why, sizeof converter->why,
                 "the process has handed out no regular file");
        return -EINVAL;
    }
    if (system.f_blocks) // A copy in memory needs no space in a file system.
        room = (uint64_t)system.f_bavail * system.f_frsize;
    if (size <= room)
        return 0;
    snprintf(converter->why, sizeof converter->why,
             "a copy of the recording needs %.1f GB, and there are %.1f GB for "
             "it: choose a directory on another file system",
             (double)size / 1e9, (double)room / 1e9);
    return -ENOSPC;
}

static bool is_late(const struct Converter *converter)
{
    return Now_s(CLOCK_MONOTONIC) - converter->asked_s >= converter->steady_s;
}

// Copies at most COPY_BYTES bytes before offset `end`. Returns the number of
// bytes, 0 at the end of the recording, or -errno.
static ssize_t copy_some(int from, int to, off_t *at, uint64_t end)
{
    off_t to_at = *at;
    size_t size = (size_t)(end - (uint64_t)*at);
    size = size < COPY_BYTES ? size : COPY_BYTES;
    ssize_t copied = copy_file_range(from, at, to, &to_at, size, 0);
    if (copied >= 0 || errno == EINTR)
        return copied < 0 ? 1 : copied;
    if (lseek(to, *at, SEEK_SET) < 0)
        return -errno;
    // sendfile() also copies to another file system.
    copied = sendfile(to, from, at, size);
    return copied < 0 ? -errno : copied;
}

// Copies the recording while the process leaves it unchanged. Returns 0 or
// -errno. If the user cancels, the copy stays incomplete.
static int copy_all(struct Converter *converter)
{
    off_t at = 0;
    ssize_t copied = 1;
    int error = check_room(converter);
    while (!error && copied > 0 && (uint64_t)at < converter->size &&
           !is_late(converter) && go_on(converter, 0, 0)) {
        copied = copy_some(converter->recording, converter->copy, &at,
                           converter->size);
        error = copied < 0 ? (int)copied : 0;
    }
    if (error || atomic_load(&converter->cancelled))
        return error;
    if (is_late(converter)) {
        snprintf(converter->why, sizeof converter->why,
                 "the recording could not be copied in %.3g s: choose a faster "
                 "disk, or export when the machine has less to do",
                 converter->steady_s);
        return -ETIMEDOUT;
    }
    if (copied == 0) {
        snprintf(converter->why, sizeof converter->why,
                 "the program has removed its recording, because the trace has "
                 "ended");
        return -ESHUTDOWN;
    }
    return 0;
}

// Replaces the recording by a copy. Returns 0 or -errno.
static int copy_recording(struct Converter *converter)
{
    int error = copy_all(converter);
    close(converter->recording);
    converter->recording = converter->copy;
    converter->copy = -1;
    return error;
}

static void *convert(void *context)
{
    struct Converter *converter = context;
    struct LiveExport export = {
        .name = converter->file->path,
        .output = converter->file->fd,
        .names = {.open = Place_open, .pid = converter->file->pid},
        .progress = go_on,
        .context = converter};
    int error = converter->steady_s > 0 ? copy_recording(converter) : 0;
    if (!error && atomic_load(&converter->cancelled))
        error = -ECANCELED;
    if (!error) {
        export.recording = converter->recording;
        converter->recording = -1;
        error = LiveExport_run(&export);
        if (error || *export.why)
            snprintf(converter->why, sizeof converter->why, "%s", export.why);
    }
    converter->error = error;
    atomic_store(&converter->bytes, export.bytes);
    atomic_store(&converter->ended, true);
    wake(converter);
    return NULL;
}

// --- The viewer's side

// Opens a file for the copy of the recording. If the file system does not
// support files without a name, the copy is in memory.
static int open_copy(const struct ExportFile *file)
{
    struct AsUser as;
    int fd = -1;
    if (AsUser_begin(&as, &file->user) == 0) {
        fd = openat(file->directory, ".",
                    O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
        AsUser_end(&as);
    }
    return fd < 0 ? memfd_create("ocular", MFD_CLOEXEC) : fd;
}

static int watch(struct Converter *converter, int fd)
{
    struct epoll_event event = {.events = EPOLLIN};
    return epoll_ctl(converter->both, EPOLL_CTL_ADD, fd, &event) ? -errno : 0;
}

static int start(struct Converter *converter,
                 const struct ConverterRequest *request)
{
    converter->recording =
        fcntl(request->recording->descriptor, F_DUPFD_CLOEXEC, 3);
    converter->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    converter->both = epoll_create1(EPOLL_CLOEXEC);
    if (converter->recording < 0 || converter->wake < 0 || converter->both < 0)
        return -errno;
    if (converter->steady_s > 0)
        converter->copy = open_copy(converter->file);
    if (converter->steady_s > 0 && converter->copy < 0)
        return -errno;
    int error = watch(converter, converter->wake);
    if (!error)
        error = watch(converter, request->beside);
    if (!error)
        error = -pthread_create(&converter->thread, NULL, convert, converter);
    converter->started = !error;
    return error;
}

int Converter_start(struct Converter **out,
                    const struct ConverterRequest *request)
{
    struct Converter *converter = calloc(1, sizeof *converter);
    *out = NULL;
    if (!converter)
        return -ENOMEM;
    if (request->recording->text)
        snprintf(converter->why, sizeof converter->why, "%s",
                 request->recording->text);
    converter->size = request->recording->number;
    converter->steady_s = request->recording->value;
    converter->asked_s = request->asked_s;
    converter->file = request->file;
    converter->request = request->number;
    converter->copy = -1;
    int error = start(converter, request);
    if (error)
        Converter_free(converter);
    else
        *out = converter;
    return error;
}

int Converter_fd(const struct Converter *converter)
{
    return converter->both;
}

static void give_end(const struct Converter *converter, struct Message *message)
{
    char text[PATH_MAX + 256];
    int error = converter->error;
    message->value = 1;
    if (!error) {
        message->text = *converter->why ? Heap_text(converter->why) : NULL;
        return;
    }
    snprintf(text, sizeof text, "%s: %s", converter->file->path,
             error == -ECANCELED ? "export cancelled"
             : *converter->why   ? converter->why
                                 : strerror(-error));
    message->type = MESSAGE_ERROR;
    message->number = (uint64_t)-error;
    message->text = Heap_text(text);
}

int Converter_next(struct Converter *converter, struct Message *message)
{
    uint64_t count;
    bool ended = atomic_load(&converter->ended);
    ssize_t got = read(converter->wake, &count, sizeof count);
    if (!ended && got != sizeof count)
        return 0;
    *message = (struct Message){.type = MESSAGE_REPLY,
                                .request = converter->request,
                                .value = atomic_load(&converter->done),
                                .number = atomic_load(&converter->bytes)};
    if (ended)
        give_end(converter, message);
    else if (!(message->value < 1))
        message->value = 0.999; // Only the last message has the value 1.
    return 1;
}

void Converter_cancel(struct Converter *converter)
{
    atomic_store(&converter->cancelled, true);
}

void Converter_free(struct Converter *converter)
{
    if (!converter)
        return;
    Converter_cancel(converter);
    if (converter->started)
        pthread_join(converter->thread, NULL);
    if (converter->recording >= 0)
        close(converter->recording);
    if (converter->copy >= 0)
        close(converter->copy);
    if (converter->wake >= 0)
        close(converter->wake);
    if (converter->both >= 0)
        close(converter->both);
    free(converter);
}
