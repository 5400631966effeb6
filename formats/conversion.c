// SPDX-License-Identifier: MIT
// See conversion.h.
#include "formats/conversion.h"
#include "formats/event_buffer.h"
#include "formats/output.h"
#include "formats/perfetto.h"
#include "formats/profile_file.h"
#include "formats/recording_reader.h"
#include "ipc/base/heap.h"
#include "tracer/sample/flame.h"
#include "tracer/timeline/output_name.h"
#include "tracer/timeline/sample_track.h"

#include <errno.h>
#include <math.h>

// --- Profiles ----------------------------------------------------------------

static void add_samples(struct Flame *flame, const struct TimelineView *view)
{
    struct EventBuffer buffer = {0};
    struct SampleReader *reader = Heap_zeroed(1, sizeof *reader);
    const struct ShareTime now = {.ns = 1, .full_ns = 1};
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
                Flame_add(flame, &now,
                          &(struct FlameSample){.path = sample.path,
                                                .depth = sample.depth,
                                                .in_c = sample.in_c,
                                                .cpu_ns = sample.cpu_ns});
        }
    }
    EventBuffer_release(&buffer);
    Heap_free(reader);
}

// Sets the functions' names. The numbers of calls and the own times are NaN,
// because samples do not count calls, and because the own times of a profile
// without calls are computed from its stacks.
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

static int write_profile(struct FlameTable *table,
                         const struct PerfettoTrace *trace, const char *path,
                         struct Bytes *out)
{
    const struct TimelineView *view = trace->view;
    struct Profile profile;
    int error = Profile_init(&profile, table);

    if (error)
        return error;
    profile.start_unix_ns = trace->start_unix_ns;
    if (view->last_ticks > trace->start_ticks)
        profile.duration_ns =
            (uint64_t)(1e9 * (double)(view->last_ticks - trace->start_ticks) /
                       trace->hz);
    profile.command = trace->command;
    name_functions(&profile, table, trace);
    Profile_merge(&profile);
    error = ProfileFile_write(&profile, FileKind_of(path).content, out);
    Profile_release(&profile);
    return error;
}

int Conversion_store(const struct FormatsFile *file, const struct Bytes *bytes,
                     uint64_t *size)
{
    struct Output output;
    int error = file->descriptor ? Output_borrow(&output, file->descriptor,
                                                 file->opened, file->path)
                                 : Output_open(&output, file->path);

    if (error)
        return error;
    error = Output_write(&output, bytes->data, bytes->size);
    if (!error)
        return Output_commit(&output, file->overwrite, size);
    Output_abort(&output);
    return error;
}

static int convert_samples(const struct PerfettoTrace *trace,
                           const struct FormatsFile *file,
                           struct PerfettoResult *result)
{
    const struct ShareTime now = {.ns = 1, .full_ns = 1};
    struct FlameTable *table;
    struct Bytes bytes;
    struct Flame flame;
    int error;

    Bytes_init(&bytes);
    Flame_init(&flame);
    add_samples(&flame, trace->view);
    table = Flame_read(&flame, &now, FLAME_NODES);
    error = table && Flame_list(table)
                ? write_profile(table, trace, file->path, &bytes)
                : -ENOMEM;
    FlameTable_free(table);
    Flame_release(&flame);
    if (!error)
        error = Conversion_store(file, &bytes, &result->bytes);
    Bytes_release(&bytes);
    return error;
}

// -----------------------------------------------------------------------------

static int open_reader(struct RecordingReader *reader,
                       struct Conversion *conversion)
{
    if (conversion->path)
        return RecordingReader_open(reader, conversion->path,
                                    (struct RecordingWatch){0}, conversion->why,
                                    sizeof conversion->why);
    return RecordingReader_read(reader, conversion->recording, conversion->why,
                                sizeof conversion->why);
}

int Conversion_run(struct Conversion *conversion)
{
    const struct FormatsFile *output = &conversion->output;
    struct RecordingReader reader;
    struct PerfettoResult result = {0};
    size_t i;
    int error = open_reader(&reader, conversion);

    conversion->unreadable = error;
    if (error)
        return error;
    conversion->events = 0;
    for (i = 0; i < reader.trace.view->chunk_count; i++)
        conversion->events += reader.trace.view->chunks[i]->event_count;
    reader.trace.descriptor = output->descriptor;
    reader.trace.opened = output->opened;
    reader.trace.overwrite = output->overwrite;
    reader.trace.progress = conversion->progress;
    reader.trace.watcher = conversion->context;
    if (!output->descriptor && !output->overwrite &&
        OutputName_is_taken(output->path))
        error = -EEXIST;
    else if (FileKind_is_profile(output->path))
        error = convert_samples(&reader.trace, output, &result);
    else
        error = Perfetto_write(&reader.trace, output->path, &result);
    conversion->bytes = result.bytes;
    RecordingReader_close(&reader);
    return error;
}
