// SPDX-License-Identifier: MIT
// Converts the recording of the timeline to a file, on the caller's thread.
// Events are still recorded during the conversion.
#include "tracer/timeline/export.h"
#include "ipc/base/now.h"
#include "ipc/file_kind.h"
#include "tracer/timeline/formats.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>
#include <time.h>

// The speed of the conversion shows only after this fraction of the time limit
// whether the conversion can end within the limit.
#define TRIAL 0.1

void Export_cancel(struct Export *export)
{
    atomic_store_explicit(&export->cancel, true, memory_order_relaxed);
}

// Reserves the struct Export for the caller, because only one export may run at
// a time. Returns 0, -ENODATA, -EBUSY, -EINVAL or -EOPNOTSUPP.
static int claim(struct Export *export, const char *path)
{
    if (FileKind_of(path).content == FILE_PAGE)
        return -EINVAL;
    if (FileKind_of(path).content == FILE_RECORDING)
        return -EOPNOTSUPP;
    if (!FileKind_is_profile(path) &&
        !export->source.timeline(export->source.context))
        return -ENODATA;
    if (atomic_exchange(&export->busy, true))
        return -EBUSY;
    atomic_store_explicit(&export->cancel, false, memory_order_relaxed);
    return 0;
}

// The context for the callbacks of the thread that writes the file.
struct Job {
    struct Export *export;
    // NULL if the caller does not watch the export.
    const struct ExportWatch *watch;
    // Time limit in seconds, or 0 for no limit.
    double seconds;
    uint64_t began_ns;
    // Time of the first progress report, which comes at the beginning of the
    // conversion.
    uint64_t first_ns;
    bool late;
};

// Returns true if the export cannot end within its time limit. The time before
// the conversion counts for the limit, but not for the speed.
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
    if (job->watch && !job->watch->progress(job->watch->context, done, bytes))
        return false;
    return !atomic_load_explicit(&export->cancel, memory_order_relaxed);
}

static int write_file(struct Export *export, const char *path, bool overwrite,
                      struct Job *job, struct PerfettoResult *result)
{
    const struct ExportSource *source = &export->source;
    struct Conversion conversion = {
        .output = {.path = path, .overwrite = overwrite},
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
        .began_ns = Now_ns(CLOCK_MONOTONIC),
    };
    uint64_t began_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    int error = claim(export, path);

    if (error)
        return error;
    if (!overwrite && OutputName_is_taken(path))
        error = -EEXIST;
    else
        error = write_file(export, path, overwrite, &job, result);
    result->cpu_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
    atomic_store(&export->busy, false);
    return error;
}
