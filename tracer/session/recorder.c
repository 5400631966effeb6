// SPDX-License-Identifier: MIT
#include "tracer/session/recorder.h"
#include "ipc/base/now.h"
#include "tracer/session/settings.h"
#include "tracer/timeline/output_name.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#define NAME_TRIES 1000u
// Shortest pause between two turns of the recorder, in seconds.
#define PAUSE_S 0.08
// Longest pause between two turns of the recorder, in seconds.
#define SLOWEST_S 1.0
// CPU time in seconds that a turn of the recorder takes for waking up, counting
// and writing.
#define TURN_S 120e-6
// If the recording grows, the list of its blocks may take this number of bytes,
// even if timeline_limit is smaller. A list of this size describes 2 140
// million events. So a program at threshold 0 loses no events for minutes, and
// the list of a program that runs for weeks takes at most LIST_LEAST bytes.
#define LIST_LEAST ((size_t)64 << 20)
// Part of the allowed overhead that all turns of the recorder together may use.
#define TURNS_PART 0.1

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

// Makes the recording's file beside the output. Returns NULL and sets
// session->recording_error on failure.
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
    Recorder_describe(session, &session->head);
    Recording_put_head(recording, &session->head);
    if (grows && limit < LIST_LEAST)
        limit = LIST_LEAST;
    session->timeline = Timeline_new(recording, limit, grows);
    if (!session->timeline) {
        Recording_put(recording);
        return -ENOMEM;
    }
    Settings_record(session);
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
    Settings_record(session);
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
