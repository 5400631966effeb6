// SPDX-License-Identifier: MIT
// See recorder.h.
#include "tracer/session/recorder.h"
#include "ipc/row_set.h"
#include "ipc/wire.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define NAME_TRIES 1000u
#define PAUSE_S 0.08   // shortest pause between two turns, in seconds
#define SLOWEST_S 1.0  // longest pause between two turns, in seconds
#define TURN_S 120e-6  // a turn's CPU time in s: waking up, counting, writing
#define TURNS_PART 0.1 // part of the allowance that all turns may use

static void fill_head(struct Session *session)
{
    struct RecordingHead *head = &session->head;
    struct PerfettoTrace trace = {0};

    Session_describe(session, &trace);
    *head = (struct RecordingHead){
        .start_ticks = trace.start_ticks,
        .start_unix_ns = trace.start_unix_ns,
        .start_boot_ns = trace.start_boot_ns,
        .hz = trace.hz,
        .threshold = trace.threshold,
        .pid = (uint32_t)getpid(),
    };
    snprintf(head->mode, sizeof head->mode, "%s", trace.mode);
    snprintf(head->python, sizeof head->python, "%s", trace.python);
    snprintf(head->command, sizeof head->command, "%s", trace.command);
}

void Recorder_start(struct Session *session)
{
    const struct Config *config = &session->config;
    bool spills = *config->spill;
    int error = -EEXIST;
    unsigned number;

    // The name may belong to another recording of this process, or to a
    // recording of an earlier process with the same process id.
    for (number = 1; error == -EEXIST && number < NAME_TRIES; number++) {
        char path[PATH_MAX];

        OutputName_recording(config->output, config->spill, number, path);
        session->recording =
            Recording_new(path, 2 * config->timeline_limit, &error);
    }
    session->recording_error = error;
    if (error)
        return;
    fill_head(session);
    Recording_put_head(session->recording, &session->head);
    session->recording_error = Recording_flush(session->recording, true);
    Recording_get(session->recording);
    Timeline_record_to(session->timeline, session->recording, spills);
}

unsigned Recorder_pause_ms(struct Session *session)
{
    const struct Budget *budget = Account_look(&session->account);
    double s = PAUSE_S;

    if (budget->share > 0)
        s = fmin(fmax(TURN_S / (TURNS_PART * budget->rate), PAUSE_S),
                 SLOWEST_S);
    Account_close(&session->account);
    return (unsigned)(1e3 * s);
}

void Recorder_turn(struct Session *session)
{
    struct Engine *engine = session->engine;
    struct NameQuery query;
    const struct RecordingSource source = {&query, NameQuery_find,
                                           &engine->opcodes};

    if (!session->recording)
        return;
    session->head.hz = Clock_hz(&engine->clock);
    NameQuery_init(&query, &engine->names, engine->registry);
    Timeline_save_run(session->timeline, &session->head, &source);
    NameQuery_release(&query);
}

void Recorder_flush(struct Session *session)
{
    if (session->timeline)
        Timeline_flush(session->timeline, false);
}

// Writes the final snapshot of the run, because the events do not contain all
// of its numbers. A recording without a final snapshot is valid, too.
static void put_snapshot(struct Session *session)
{
    const struct Snapshot *newest = Publish_get(&session->publish);
    struct Snapshot out = {0};
    const struct Message message = {.type = MESSAGE_SNAPSHOT, .snapshot = &out};
    struct RecordingBlock block = {.kind = RECORDING_SNAPSHOT};
    struct RecordingSlot slot = {0};
    struct Bytes bytes;
    bool encoded;

    Bytes_init(&bytes);
    encoded = newest && RowSet_whole(newest, &out) == 0 &&
              Message_encode(&bytes, &message) == 0;
    Publish_put(&session->publish);
    while (bytes.size % 8 && !bytes.error)
        Bytes_put_u8(&bytes, 0);
    if (encoded && !bytes.error)
        Recording_append(session->recording, &slot, &block, bytes.data,
                         bytes.size);
    Arena_release(&out.arena);
    Bytes_release(&bytes);
}

int Recorder_keep(struct Session *session, char path[PATH_MAX], uint64_t *bytes)
{
    int error;

    if (!session->recording)
        return session->recording_error;
    session->keeps_recording = true; // even if the rename fails
    error = Recording_rename(session->recording, session->config.output);
    snprintf(path, PATH_MAX, "%s", Recording_path(session->recording));
    if (error && error != -EEXIST)
        return error;
    session->head.ended = 1;
    Recorder_turn(session);
    put_snapshot(session);
    Timeline_flush(session->timeline, true);
    error = Recording_error(session->recording);
    if (error)
        return error;
    *bytes = Recording_bytes(session->recording);
    return 0;
}

void Recorder_release(struct Session *session)
{
    if (!session->recording)
        return;
    if (!session->keeps_recording)
        Recording_remove(session->recording);
    Recording_put(session->recording);
    session->recording = NULL;
}
