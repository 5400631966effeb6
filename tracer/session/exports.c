// SPDX-License-Identifier: MIT
#include "tracer/session/exports.h"
#include "ipc/base/heap.h"
#include "ipc/file_kind.h"
#include "tracer/base/rcu.h"
#include "tracer/session/collect.h"
#include "tracer/session/profiles.h"
#include "tracer/session/recorder.h"

#include <errno.h>
#include <stdio.h>

#define MOST_DRAINS 100

static uint64_t dark_since(const struct Code *code)
{
    return atomic_load_explicit(&code->cold.dark_since, memory_order_relaxed);
}

struct Timeline *Exports_timeline(const struct Session *session)
{
    return session->config.profile ? NULL : session->timeline;
}

static struct Timeline *timeline(void *context)
{
    return Exports_timeline(context);
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

static int convert(void *context, struct Conversion *conversion)
{
    return FileKind_is_profile(conversion->output.path)
               ? convert_stacks(context, conversion)
               : convert_timeline(context, conversion);
}

void Exports_init(struct Session *session)
{
    session->export.source = (struct ExportSource){
        .context = session, .timeline = timeline, .convert = convert};
}
