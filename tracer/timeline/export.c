// SPDX-License-Identifier: MIT
// Converts the timeline's recording to a file, on the caller's thread or in the
// background. Events are still recorded during the conversion.
#include "tracer/timeline/export.h"
#include "ipc/base/now.h"
#include "ipc/file_kind.h"
#include "tracer/timeline/formats.h"
#include "tracer/timeline/output_name.h"
#include "tracer/timeline/timeline.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define STACK_BYTES (512u << 10)
// If the conversion has taken this part of the time, its speed tells whether
// the time is enough.
#define TRIAL 0.1

void Export_init(struct Export *export, const struct ExportSource *source)
{
    memset(export, 0, sizeof *export);
    export->source = *source;
    pthread_mutex_init(&export->mutex, NULL);
}

void Export_close(struct Export *export)
{
    bool join;

    pthread_mutex_lock(&export->mutex);
    export->closed = true;
    join = export->joinable;
    export->joinable = false;
    if (join)
        Export_cancel(export);
    pthread_mutex_unlock(&export->mutex);
    if (join)
        Worker_join(&export->worker);
}

void Export_release(struct Export *export)
{
    Export_close(export);
    pthread_mutex_destroy(&export->mutex);
}

void Export_cancel(struct Export *export)
{
    atomic_store_explicit(&export->cancel, true, memory_order_relaxed);
}

bool Export_is_idle(struct Export *export)
{
    bool idle, join;

    pthread_mutex_lock(&export->mutex);
    idle = !export->busy;
    join = idle && export->joinable;
    if (join)
        export->joinable = false;
    pthread_mutex_unlock(&export->mutex);
    if (join)
        Worker_join(&export->worker);
    return idle;
}

// Reserves the export, of which only one may run at a time. Returns 0,
// -ENODATA, -EBUSY, -ESHUTDOWN, -EINVAL or -EOPNOTSUPP.
static int claim(struct Export *export, const char *path, bool background)
{
    int error = 0;
    bool join = false;

    if (FileKind_of(path).content == FILE_PAGE)
        return -EINVAL;
    if (FileKind_of(path).content == FILE_RECORDING)
        return -EOPNOTSUPP;
    if (!FileKind_is_profile(path) &&
        !export->source.timeline(export->source.context))
        return -ENODATA;
    pthread_mutex_lock(&export->mutex);
    if (background && export->closed) {
        error = -ESHUTDOWN;
    } else if (export->busy) {
        error = -EBUSY;
    } else {
        export->busy = true;
        join = export->joinable;
        export->joinable = false;
        atomic_store_explicit(&export->cancel, false, memory_order_relaxed);
    }
    pthread_mutex_unlock(&export->mutex);
    if (join) // the thread of the last export has done its work
        Worker_join(&export->worker);
    return error;
}

static void answer_viewer(struct Export *export, const struct Message *answer)
{
    const struct ExportSource *source = &export->source;

    source->answer(source->context, export->viewer, answer);
}

// Marks the export as ended, and sends `answer` to the viewer unless `answer`
// is NULL. The mutex is held for both steps. Otherwise a viewer with the answer
// could not start the next export yet, or the server could be freed before the
// answer is sent.
static void let_go(struct Export *export, const struct Message *answer)
{
    pthread_mutex_lock(&export->mutex);
    export->busy = false;
    if (answer)
        answer_viewer(export, answer);
    pthread_mutex_unlock(&export->mutex);
}

// The context of the writer's callbacks.
struct Job {
    struct Export *export;
    const struct ExportWatch *watch; // NULL if there is no watcher
    double seconds;                  // limit in seconds; 0 for no limit
    uint64_t began_ns;
    uint64_t first_ns; // time of the first report, when the conversion begins
    bool late;
    bool background, overwrite;
    int descriptor; // 0 if the file is opened by its path
};

// Returns true if the export will not end within its limit. The time before the
// conversion counts, but says nothing about the conversion's speed.
static bool is_late(struct Job *job, double done)
{
    uint64_t now = Now_ns(CLOCK_MONOTONIC);
    double spent = (double)(now - job->began_ns) / 1e9, most = job->seconds;
    double converted;

    job->first_ns = job->first_ns ? job->first_ns : now;
    converted = (double)(now - job->first_ns) / 1e9;
    return most > 0 &&
           (spent > most || (converted > TRIAL * most &&
                             spent + converted * (1 - done) / done > most));
}

static bool report_progress(void *context, double done, uint64_t bytes)
{
    struct Job *job = context;
    struct Export *export = job->export;

    if (is_late(job, done)) {
        job->late = true;
        return false;
    }
    if (job->background) {
        const struct Message message = {
            .type = MESSAGE_REPLY,
            .request = export->request,
            .value = done < 1 ? done : 0.999, // only the last message has 1
            .number = bytes,
            .text = export->name,
        };

        answer_viewer(export, &message);
    }
    if (job->watch && !job->watch->progress(job->watch->context, done, bytes))
        return false;
    return !atomic_load_explicit(&export->cancel, memory_order_relaxed);
}

static int write_file(struct Export *export, const char *path, struct Job *job,
                      struct PerfettoResult *result)
{
    const struct ExportSource *source = &export->source;
    struct Conversion conversion = {
        .output = {path, job->descriptor, &export->opened, job->overwrite},
        .progress = report_progress,
        .context = job,
    };
    int error;

    if (!Formats_load())
        return -ELIBACC;
    error = source->convert(source->context, &conversion);
    result->bytes = conversion.bytes;
    return error == -ECANCELED && job->late ? -ETIMEDOUT : error;
}

int Export_write(struct Export *export, const char *path, bool overwrite,
                 const struct ExportWatch *watch, double seconds,
                 struct PerfettoResult *result)
{
    struct Job job = {
        .export = export,
        .watch = watch,
        .seconds = seconds,
        .overwrite = overwrite,
        .began_ns = Now_ns(CLOCK_MONOTONIC),
    };
    uint64_t began_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    int error = claim(export, path, false);

    if (error)
        return error;
    if (!overwrite && OutputName_is_taken(path))
        error = -EEXIST;
    else
        error = write_file(export, path, &job, result);
    result->cpu_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
    let_go(export, NULL);
    return error;
}

// --- In the background -----------------------------------------------------

static void run(void *context)
{
    struct Export *export = context;
    struct Job job = {
        .export = export, .background = true, .descriptor = export->descriptor};
    struct PerfettoResult result = {0};
    struct Message message = {.request = export->request};
    char why[PATH_MAX + 128];
    int error = write_file(export, export->name, &job, &result);

    if (Opened_holds(&export->opened, export->descriptor) &&
        close(export->descriptor) && !error)
        error = -errno;
    if (error == 0) {
        message.type = MESSAGE_REPLY;
        message.value = 1;
        message.number = result.bytes;
        message.text = export->name;
    } else {
        snprintf(why, sizeof why, "%s: %s", export->name,
                 error == -ECANCELED ? "export cancelled" : strerror(-error));
        message.type = MESSAGE_ERROR;
        message.number = (uint64_t)-error;
        message.text = why;
    }
    let_go(export, &message);
}

static int start_thread(struct Export *export)
{
    int error;

    pthread_mutex_lock(&export->mutex);
    if (export->closed)
        error = -ESHUTDOWN;
    else
        error = Worker_start(&export->worker, "ocular-export", run, export,
                             STACK_BYTES);
    export->joinable = error == 0;
    pthread_mutex_unlock(&export->mutex);
    return error;
}

// Copies the viewer's descriptor, because the server closes the descriptor.
// Returns 0 or -errno.
static int copy_descriptor(struct Export *export, int descriptor)
{
    int copy = Opened_above(fcntl(descriptor, F_DUPFD_CLOEXEC, 3));

    if (copy < 0)
        return copy;
    Opened_note(&export->opened, copy);
    export->descriptor = copy;
    return 0;
}

int Export_start(struct Export *export, int descriptor, const char *name,
                 uint64_t viewer, uint32_t request)
{
    int error = claim(export, name ? name : "", true);

    if (error)
        return error;
    export->viewer = viewer;
    export->request = request;
    if (snprintf(export->name, sizeof export->name, "%s", name ? name : "") >=
        (int)sizeof export->name)
        error = -ENAMETOOLONG; // the whole name is needed, because its end says
                               // whether the file is packed
    if (!error)
        error = copy_descriptor(export, descriptor);
    if (!error) {
        error = start_thread(export);
        if (error)
            Opened_close(&export->opened, export->descriptor);
    }
    if (error)
        let_go(export, NULL);
    return error;
}
