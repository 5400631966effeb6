// SPDX-License-Identifier: MIT
#include "tracer/session/recorder.h"
#include "ipc/base/now.h"
#include "ipc/row_set.h"
#include "ipc/wire.h"
#include "tracer/session/builder.h"
#include "tracer/session/settings.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define NAME_TRIES 1000u
// The recorder writes to the recording in turns. Shortest pause between two
// turns, in seconds.
#define PAUSE_S 0.08
// Longest pause between two turns of the recorder, in seconds.
#define SLOWEST_S 1.0
// A turn takes this CPU time in seconds for waking up, counting and writing.
#define TURN_S 120e-6
// The list of the recording's blocks may take this number of bytes if the
// recording grows, even if timeline_limit is smaller. A list of this size
// describes 2 140 million events. A program at threshold 0 thus loses no events
// for minutes, and the list of a program that runs for weeks takes at most
// LIST_LEAST bytes.
#define LIST_LEAST ((size_t)64 << 20)
// Part of the allowed overhead that all turns of the recorder together may use.
// Writing totals (snapshots that sum up the session) may use as much.
#define TURNS_PART 0.1
// Seconds between two totals. Totals come sooner in the first seconds of a run.
// If totals have more than TOTALS_BYTES bytes, the threads are left out, then
// all functions except FEWER_ROWS, and then the tasks.
#define TOTALS_S 5.0
#define TOTALS_FIRST_S 1.0
#define TOTALS_BYTES (256u << 10)
#define FEWER_ROWS 25

// Converts a time of CLOCK_REALTIME to CLOCK_BOOTTIME, by the present
// difference of these clocks. Returns 0 for a time before the boot.
static uint64_t boot_time_of(uint64_t unix_ns)
{
    uint64_t past = Now_ns(CLOCK_REALTIME) - unix_ns;
    uint64_t now = Now_ns(CLOCK_BOOTTIME);

    return past < now ? now - past : 0;
}

void Recorder_describe(struct Session *session, struct RecordingHead *head)
{
    const struct Engine *engine = session->engine;

    *head = (struct RecordingHead){
        .start_ticks = session->start_ticks,
        .start_unix_ns = session->start_unix_ns,
        .start_boot_ns = boot_time_of(session->start_unix_ns),
        .hz = Clock_hz(&engine->clock),
        .threshold = session->config.threshold,
        .now_ticks = Clock_read(&engine->clock),
        .pid = (uint32_t)getpid(),
    };
    snprintf(head->mode, sizeof head->mode, "%s", session->config.mode);
    snprintf(head->python, sizeof head->python, "%s", engine->python);
    snprintf(head->command, sizeof head->command, "%s", engine->command);
}

// Makes the recording's file beside the output. On failure returns NULL and
// sets session->recording_error.
static struct Recording *make_file(struct Session *session)
{
    const struct Config *config = &session->config;
    struct Recording *recording = NULL;
    int error = -EEXIST;
    unsigned number;

    // The file's name may belong to another recording of this process, or of an
    // earlier process with the same process id.
    for (number = 1; error == -EEXIST && number < NAME_TRIES; number++) {
        char path[PATH_MAX];

        OutputName_recording(config->output, config->spill, number, path);
        recording = Recording_new(path, 2 * config->timeline_limit, &error);
    }
    session->recording_error = error;
    return recording;
}

// --- Snapshots ---------------------------------------------------------------

// Returns false if the snapshot was not written.
static bool save(struct Session *session, struct Snapshot *snapshot, bool last)
{
    const struct Message message = {.type = MESSAGE_SNAPSHOT,
                                    .snapshot = snapshot};
    struct Bytes bytes;
    bool saved;

    Bytes_init(&bytes);
    saved = Message_encode(&bytes, &message) == 0 &&
            (last || bytes.size <= TOTALS_BYTES);
    if (saved)
        Timeline_save_snapshot(session->timeline, &bytes, last);
    Bytes_release(&bytes);
    return saved;
}

// Leaves out lists whose length depends on the program, the least important
// first. Returns false if nothing more can be left out.
static bool shrink(struct Snapshot *totals, unsigned step)
{
    // The rows may be changed, because no other thread has the snapshot.
    struct Thread *threads = (void *)(uintptr_t)totals->threads;

    if (step == 0) {
        for (size_t i = 0; i < totals->thread_count; i++)
            threads[i].function_count = 0; // The samples have them.
    } else if (step == 1) {
        totals->thread_count = 0;
    } else if (step == 2) {
        if (totals->function_count > FEWER_ROWS)
            totals->function_count = FEWER_ROWS; // The first rows matter most.
    } else {
        totals->tasks_group_count = totals->tasks_place_count = 0;
        totals->tasks_await_count = 0;
        totals->tasks_total = NULL_U64;
    }
    return step < 4;
}

// Saves a snapshot that has only the settings.
static void save_settings(struct Session *session)
{
    struct Snapshot *snapshot = Snapshot_new();

    if (!snapshot)
        return;
    snapshot->overhead_budget = session->config.budget;
    Settings_fill(snapshot, session);
    if (!snapshot->arena.failed)
        save(session, snapshot, false);
    Snapshot_free(snapshot);
}

void Recorder_save_totals(struct Session *session)
{
    struct Snapshot *totals = Builder_totals(session);

    for (unsigned step = 0;
         totals && !save(session, totals, false) && shrink(totals, step);
         step++)
        ;
    Snapshot_free(totals);
}

void Recorder_save_last(struct Session *session)
{
    const struct Snapshot *newest = Publish_get(&session->publish);
    struct Snapshot whole = {0};

    if (newest && RowSet_whole(newest, &whole) == 0)
        save(session, &whole, true);
    Publish_put(&session->publish);
    Arena_release(&whole.arena);
}

// Returns the seconds until the next totals must be written, if the last ones
// took `cost_s` seconds of CPU time.
static double totals_pause_s(struct Session *session, double cost_s)
{
    const struct Budget *budget = Account_look(&session->account);
    double s = fmin(TOTALS_S, fmax(TOTALS_FIRST_S, Session_age_s(session)));

    if (budget->share > 0)
        s = fmax(s, cost_s / (TURNS_PART * budget->rate));
    Account_close(&session->account);
    return s;
}

void Recorder_totals(struct Session *session)
{
    double now_s = Now_s(CLOCK_MONOTONIC);
    uint64_t began_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);

    // If the disk does not take all bytes, the newest totals in the file are
    // not replaced.
    if (!session->recording || now_s < session->totals_due_s ||
        !Recording_takes_all(session->recording))
        return;
    pthread_mutex_lock(&session->draining);
    Recorder_save_totals(session);
    pthread_mutex_unlock(&session->draining);
    // The walk over tasks that begins now is for the next totals.
    if (session->engine->loops.count)
        TaskBoard_want(&session->tasks);
    session->totals_due_s =
        now_s + totals_pause_s(
                    session,
                    (double)(Now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns) / 1e9);
}

int Recorder_start(struct Session *session)
{
    const struct Config *config = &session->config;
    struct Recording *recording = config->record ? make_file(session) : NULL;
    size_t limit = config->timeline_limit;
    bool grows = *config->spill;
    int error = 0;

    if (recording) {
        session->recording = recording;
        Recording_get(recording);
    } else if (grows) {
        recording = Recording_new_unnamed(config->spill, &error);
        grows = recording;
    }
    if (recording)
        Recording_set_room(recording, config->timeline_limit);
    else if (error && config->spill_asked)
        return error;
    else
        recording = Recording_new_in_memory();
    if (!recording)
        return -ENOMEM;
    session->totals_due_s = Now_s(CLOCK_MONOTONIC) + TOTALS_FIRST_S;
    Recorder_describe(session, &session->head);
    Recording_put_head(recording, &session->head);
    if (grows && limit < LIST_LEAST)
        limit = LIST_LEAST;
    session->timeline = Timeline_new(recording, limit, grows);
    if (!session->timeline) {
        Recording_put(recording);
        return -ENOMEM;
    }
    save_settings(session);
    Recording_flush(recording, true);
    return 0;
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

    if (!session->timeline)
        return;
    session->head.hz = Clock_hz(&engine->clock);
    session->head.now_ticks = Clock_read(&engine->clock);
    NameQuery_init(&query, &engine->names, engine->registry);
    Timeline_save_run(session->timeline, &session->head, &source);
    NameQuery_release(&query);
}

void Recorder_flush(struct Session *session)
{
    if (session->timeline)
        Recording_flush(Timeline_recording(session->timeline), false);
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
