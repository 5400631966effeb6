// SPDX-License-Identifier: MIT
#include "tracer/session/exports.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "ipc/file_kind.h"
#include "tracer/base/rcu.h"
#include "tracer/session/collect.h"
#include "tracer/session/profiles.h"
#include "tracer/session/recorder.h"
#include "tracer/timeline/formats.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>
#include <stdio.h>

#define MOST_DRAINS 100
// The speed of the conversion shows only after this fraction of the time limit
// whether the conversion can end within the limit.
#define TRIAL 0.1

static uint64_t dark_since(const struct Code *code)
{
    return atomic_load_explicit(&code->cold.dark_since, memory_order_relaxed);
}

struct Timeline *Exports_timeline(const struct Session *session)
{
    return session->config.profile ? NULL : session->timeline;
}

// Lists the functions that have no hooks now (are dark), and stores their
// number in *listed. A first pass counts the dark functions, and a second pass
// lists them. The caller frees the list. Returns NULL if there is no memory.
static struct RecordingDark *list_dark(struct Registry *registry,
                                       size_t *listed)
{
    struct RecordingDark *dark;
    const struct Code *code;
    size_t count = 0;

    *listed = 0;
    Rcu_read_lock();
    for (code = Registry_first(registry); code; code = Registry_next(code))
        count += dark_since(code) != 0;
    Rcu_read_unlock();
    dark = Heap_zeroed(count + 1, sizeof *dark);
    if (!dark)
        return NULL;
    Rcu_read_lock();
    for (code = Registry_first(registry); code && *listed < count;
         code = Registry_next(code)) {
        dark[*listed].ticks = dark_since(code);
        dark[*listed].id = code->hot.id;
        *listed += dark[*listed].ticks != 0;
    }
    Rcu_read_unlock();
    return dark;
}

void Exports_cut(struct Session *session)
{
    struct RecordingDark *dark;
    unsigned drains = 0;
    size_t count;

    Collect_drain(session);
    dark = list_dark(session->engine->registry, &count);
    pthread_mutex_lock(&session->draining);
    Timeline_cut(session->timeline, dark, count);
    // At the end of the session, all numbers are written to the file, because
    // it stays if the writing of the output is interrupted.
    if (session->counters.last && session->recording)
        Recorder_save_last(session);
    else
        Recorder_save_totals(session);
    Recorder_turn(session);
    pthread_mutex_unlock(&session->draining);
    Heap_free(dark);
    // The names of retired code are stored when Collect_drain frees the code.
    while (Timeline_wants_names(session->timeline) && drains++ < MOST_DRAINS)
        Collect_drain(session);
}

int Exports_keep(struct Session *session, char path[PATH_MAX], uint64_t *bytes)
{
    int error;

    if (!session->recording)
        return session->recording_error;
    // The recording's file is kept even if the rename fails.
    session->keeps_recording = true;
    error = Recording_rename(session->recording, session->config.output);
    snprintf(path, PATH_MAX, "%s", Recording_path(session->recording));
    if (error && error != -EEXIST)
        return error;
    session->head.ended = 1;
    Exports_cut(session);
    error = Recording_flush(session->recording, true);
    if (error)
        return error;
    *bytes = Recording_bytes(session->recording);
    return 0;
}

static int convert_stacks(struct Session *session,
                          struct Conversion *conversion)
{
    struct Recording *recording = Recording_new_in_memory();
    int error = recording ? Profiles_record(session, recording) : -ENOMEM;

    conversion->recording = recording;
    if (!error)
        error = Formats_load()->convert(conversion);
    if (recording)
        Recording_put(recording);
    return error;
}

static int convert_timeline(struct Session *session,
                            struct Conversion *conversion)
{
    struct Engine *engine = session->engine;
    struct NameQuery query;
    const struct RecordingSource source = {&query, NameQuery_find,
                                           &engine->opcodes};
    int error;

    Timeline_hold(session->timeline, true);
    Exports_cut(session);
    NameQuery_init(&query, &engine->names, engine->registry);
    conversion->recording = Timeline_recording(session->timeline);
    conversion->source = &source;
    error = Formats_load()->convert(conversion);
    NameQuery_release(&query);
    Timeline_hold(session->timeline, false);
    return error;
}

// --- The file ----------------------------------------------------------------

void Exports_cancel(struct Session *session)
{
    atomic_store_explicit(&session->cancels_export, true, memory_order_relaxed);
}

// Reserves the export for the caller, because only one export may run at a
// time. Returns 0, -ENODATA, -EBUSY, -EINVAL or -EOPNOTSUPP.
static int claim(struct Session *session, const char *path)
{
    if (FileKind_of(path).content == FILE_PAGE)
        return -EINVAL;
    if (FileKind_of(path).content == FILE_RECORDING)
        return -EOPNOTSUPP;
    if (!FileKind_is_profile(path) && !Exports_timeline(session))
        return -ENODATA;
    if (atomic_exchange(&session->exports, true))
        return -EBUSY;
    atomic_store_explicit(&session->cancels_export, false,
                          memory_order_relaxed);
    return 0;
}

// The context for the callbacks of the thread that writes the file.
struct Job {
    struct Session *session;
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

    if (is_late(job, done)) {
        job->late = true;
        return false;
    }
    if (job->watch && !job->watch->progress(job->watch->context, done, bytes))
        return false;
    return !atomic_load_explicit(&job->session->cancels_export,
                                 memory_order_relaxed);
}

static int write_file(struct Job *job, const char *path, bool overwrite,
                      struct PerfettoResult *result)
{
    struct Conversion conversion = {
        .output = {.path = path, .overwrite = overwrite},
        .progress = report_progress,
        .context = job,
    };
    int error;

    if (!Formats_load())
        return -ELIBACC;
    error = FileKind_is_profile(path)
                ? convert_stacks(job->session, &conversion)
                : convert_timeline(job->session, &conversion);
    result->bytes = conversion.bytes;
    return error == -ECANCELED && job->late ? -ETIMEDOUT : error;
}

int Exports_write(struct Session *session, const char *path, bool overwrite,
                  const struct ExportWatch *watch, double seconds,
                  struct PerfettoResult *result)
{
    struct Job job = {
        .session = session,
        .watch = watch,
        .seconds = seconds,
        .began_ns = Now_ns(CLOCK_MONOTONIC),
    };
    uint64_t began_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    int error = claim(session, path);

    if (error)
        return error;
    if (!overwrite && OutputName_is_taken(path))
        error = -EEXIST;
    else
        error = write_file(&job, path, overwrite, result);
    result->cpu_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns;
    atomic_store(&session->exports, false);
    return error;
}
