// SPDX-License-Identifier: MIT
#include "formats/conversion.h"
#include "formats/event_buffer.h"
#include "formats/native_names.h"
#include "formats/native_rows.h"
#include "formats/output.h"
#include "formats/perfetto.h"
#include "formats/profile_file.h"
#include "formats/recording_reader.h"
#include "formats/trace_writer.h"
#include "formats/wait_sums.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/sample/flame.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// When a recording is converted to a timeline, reading the recording is the
// fraction READING of the progress.
#define READING 0.3

// --- Profiles ----------------------------------------------------------------

static void add_samples(struct Flame *flame, const struct TimelineView *view)
{
    struct EventBuffer buffer = {0};
    struct SampleReader *reader = Heap_zeroed(1, sizeof *reader);
    size_t i, j;

    for (i = 0; reader && i < view->chunk_count; i++) {
        const struct TimelineChunk *chunk = view->chunks[i];
        const struct Event *events;

        if (chunk->thread != TIMELINE_OWN)
            continue;
        events = EventBuffer_read(&buffer, chunk);
        reader->whole &= events != NULL;
        for (j = 0; events && j < chunk->event_count; j++) {
            struct TimelineSample sample;

            if (SampleReader_take(reader, &events[j], &sample))
                WaitSums_draw(flame, &sample, 1);
        }
    }
    EventBuffer_release(&buffer);
    Heap_free(reader);
}

// Sets the names of the profile's functions. Numbers of calls are set to NaN,
// because samples do not count calls. Own times are set to NaN, because the
// writers of a profile without calls compute own times from the stacks.
static void name_functions(struct Profile *profile,
                           const struct FlameTable *table,
                           const struct PerfettoTrace *trace)
{
    struct PerfettoName name;
    size_t i;

    for (i = 0; i < table->function_count; i++)
        if (trace->name(trace->context, (uint32_t)table->functions[i].id,
                        &name))
            profile->functions[i] = (struct ProfileFunction){
                name.name, name.file, name.line, NAN, NAN};
}

// Copies the number of calls and the own time of each function from the
// recording's table of stacks into the profile.
static void count_calls(struct Profile *profile,
                        const struct RecordingReader *reader)
{
    const struct FlameFunction *functions = reader->stacks->functions;
    size_t i, count = reader->calls.size / sizeof(struct RecordingCalls);

    for (i = 0; i < count && i < reader->stacks->function_count; i++) {
        const struct RecordingCalls *calls =
            (const struct RecordingCalls *)reader->calls.data + i;

        if (calls->id != functions[i].id)
            continue;
        if (calls->calls >= 0 && calls->calls < 1e18)
            profile->functions[i].calls = calls->calls;
        if (calls->self_ns >= 0 && calls->self_ns < 1e18)
            profile->functions[i].self_ns = calls->self_ns;
    }
}

static int write_profile(const struct RecordingReader *reader,
                         struct FlameTable *table,
                         const struct Conversion *conversion, struct Bytes *out)
{
    const char *path = conversion->output.path;
    struct Snapshot *facts = conversion->facts;
    const struct PerfettoTrace *trace = &reader->trace;
    uint64_t end_ticks = table == reader->stacks ? reader->head.now_ticks
                                                 : trace->view->last_ticks;
    struct NativeNames own = {0};
    struct Profile profile;
    int error;

    NativeNames_set(conversion->names ? conversion->names : &own, table);
    NativeNames_release(&own);
    error = Profile_init(&profile, table);
    if (error)
        return error;
    profile.start_unix_ns = trace->start_unix_ns;
    if (end_ticks > trace->start_ticks)
        profile.duration_ns =
            (uint64_t)(1e9 * (double)(end_ticks - trace->start_ticks) /
                       trace->hz);
    profile.command = trace->command;
    if (facts) {
        facts->uptime_s = (double)profile.duration_ns / 1e9;
        facts->sampler_samples = table->samples;
    }
    if (table == reader->stacks)
        count_calls(&profile, reader);
    else
        name_functions(&profile, table, trace);
    Profile_merge(&profile);
    if (table == reader->stacks)
        Profile_divide(&profile);
    error = ProfileFile_write(&profile, FileKind_of(path).content, out);
    Profile_release(&profile);
    return error;
}

// Writes all of `bytes` to the file, or nothing. Sets *size to the size of the
// file. Returns 0 or -errno.
static int store(const struct FormatsFile *file, const struct Bytes *bytes,
                 uint64_t *size)
{
    struct Output output;
    int error = Output_open(&output, file);

    if (error)
        return error;
    error = Output_write(&output, bytes->data, bytes->size);
    if (!error)
        return Output_commit(&output, size);
    Output_abort(&output);
    return error;
}

// Makes a profile of the samples in a timeline.
static int write_samples(const struct RecordingReader *reader,
                         const struct Conversion *conversion, struct Bytes *out)
{
    const struct ShareTime now = {.ns = 1, .full_ns = 1};
    struct FlameTable *table;
    struct Flame flame;
    int error;

    Flame_init(&flame);
    add_samples(&flame, reader->trace.view);
    table = Flame_read(&flame, &now, FLAME_NODES);
    error = table && Flame_list(table)
                ? write_profile(reader, table, conversion, out)
                : -ENOMEM;
    FlameTable_free(table);
    Flame_release(&flame);
    return error;
}

static int convert_stacks(const struct RecordingReader *reader,
                          const struct Conversion *conversion,
                          struct PerfettoResult *result)
{
    struct Bytes bytes;
    int error;

    Bytes_init(&bytes);
    error = reader->stacks
                ? write_profile(reader, reader->stacks, conversion, &bytes)
                : write_samples(reader, conversion, &bytes);
    if (!error)
        error = store(&conversion->output, &bytes, &result->bytes);
    Bytes_release(&bytes);
    return error;
}

// --- Reading of recordings ---------------------------------------------------

// State of the progress while several recordings are read, one after the other.
struct Reading {
    const struct Conversion *conversion;
    size_t number; // Number of the recording that is being read.
    size_t count;
    uint64_t looked_ns;
};

static bool reading_goes_on(void *context, double done)
{
    struct Reading *reading = context;
    const struct Conversion *conversion = reading->conversion;
    uint64_t now = Now_ns(CLOCK_MONOTONIC);

    if (!conversion->progress || now - reading->looked_ns < TRACE_LOOK_NS)
        return true;
    reading->looked_ns = now;
    return conversion->progress(
        conversion->context,
        READING * ((double)reading->number + done) / (double)reading->count, 0);
}

static bool writing_goes_on(void *context, double done, uint64_t bytes)
{
    const struct Conversion *conversion = context;

    return !conversion->progress ||
           conversion->progress(conversion->context,
                                READING + (1 - READING) * done, bytes);
}

// Opens one of the recordings that are to be converted. If the recording has an
// error, adds a line about the error to conversion->why.
static int open_path(struct RecordingReader *reader,
                     struct Conversion *conversion,
                     const struct RecordingWatch *watch, const char *path)
{
    size_t used = strlen(conversion->why);
    char why[300];
    int error = RecordingReader_open(reader, path, *watch, why, sizeof why);

    if (*why)
        snprintf(conversion->why + used, sizeof conversion->why - used,
                 "%s%s: %s", used ? "\n" : "", path, why);
    return error;
}

// Returns true if one of the earlier traces has this process id.
static bool is_taken(const struct RecordingReader *readers, size_t count,
                     pid_t pid)
{
    size_t i;

    for (i = 0; i < count; i++)
        if (readers[i].trace.pid == pid)
            return true;
    return false;
}

// Returns the process id under which a trace is written. If an earlier trace
// has the same process id, returns an unused process id. Two traces can have
// the same process id, because the kernel reuses ids, and because each
// container has its own ids.
static pid_t choose_pid(const struct RecordingReader *readers, size_t number,
                        size_t count)
{
    pid_t pid = readers[number].trace.pid;

    if (!is_taken(readers, number, pid))
        return pid;
    // No assumption is made about the process ids, because an attacker may have
    // written the file.
    while (is_taken(readers, count, pid))
        pid = pid > 0 && pid < INT_MAX ? pid + 1 : 1;
    return pid;
}

// Links the traces of several recordings to a list.
static void link_traces(struct RecordingReader *readers,
                        const struct Conversion *conversion)
{
    size_t i, count = conversion->path_count;

    for (i = 0; i < count; i++) {
        const char *slash = strrchr(conversion->paths[i], '/');

        readers[i].trace.file = slash ? slash + 1 : conversion->paths[i];
        readers[i].trace.next = i + 1 < count ? &readers[i + 1].trace : NULL;
        readers[i].trace.pid = choose_pid(readers, i, count);
    }
}

// Opens all recordings and returns 0 or -errno.
static int open_all(struct RecordingReader *readers,
                    struct Conversion *conversion)
{
    struct Reading reading = {conversion, 0, 1, 0};
    const struct RecordingWatch watch = {reading_goes_on, &reading};
    int error = 0;
    size_t i;

    if (!conversion->paths)
        return RecordingReader_read(readers, conversion->recording,
                                    conversion->source, watch, conversion->why,
                                    sizeof conversion->why);
    reading.count = conversion->path_count;
    for (i = 0; i < conversion->path_count && !error; i++) {
        reading.number = i;
        error =
            open_path(&readers[i], conversion, &watch, conversion->paths[i]);
    }
    if (!error)
        link_traces(readers, conversion);
    return error;
}

// Writes the output and returns 0 or -errno. -EINVAL means that a profile of
// several recordings was requested.
static int write_output(struct Conversion *conversion,
                        struct RecordingReader *readers,
                        struct PerfettoResult *result)
{
    const struct FormatsFile *output = &conversion->output;
    struct PerfettoTrace *first = &readers[0].trace;

    first->progress = writing_goes_on;
    first->watcher = conversion;
    if (!output->descriptor && !output->overwrite &&
        OutputName_is_taken(output->path))
        return -EEXIST;
    if (!FileKind_is_profile(output->path))
        return Perfetto_write(first, output, result);
    return first->next ? -EINVAL : convert_stacks(readers, conversion, result);
}

int Conversion_run(struct Conversion *conversion)
{
    size_t i, j, count = conversion->paths ? conversion->path_count : 1;
    struct RecordingReader *readers = Heap_zeroed(count, sizeof *readers);
    struct PerfettoResult result = {0};
    int error;

    *conversion->why = '\0';
    conversion->events = 0;
    error = readers ? open_all(readers, conversion) : -ENOMEM;
    conversion->unreadable = error;
    for (i = 0; i < count && !error; i++)
        for (j = 0; j < readers[i].view.chunk_count; j++)
            conversion->events += readers[i].view.chunks[j]->event_count;
    if (!error && conversion->facts)
        RecordingReader_facts(&readers[0], conversion->facts);
    if (!error)
        error = write_output(conversion, readers, &result);
    conversion->bytes = result.bytes;
    for (i = 0; readers && i < count; i++)
        RecordingReader_close(&readers[i]);
    Heap_free(readers);
    return error;
}

const struct Formats Conversion_formats = {
    .convert = Conversion_run,
#ifdef OCULAR_LIBDW
    .native_rows = NativeRows_read,
#endif
};
