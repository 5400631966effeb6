// SPDX-License-Identifier: MIT
// See handout.h. While a viewer copies the file, no block is forgotten because
// of the limit, and no name moves. If the viewer is too slow, it finds out by
// itself.
#include "tracer/session/handout.h"
#include "ipc/base/heap.h"
#include "tracer/base/rcu.h"
#include "tracer/session/exports.h"
#include "tracer/session/profiles.h"
#include "tracer/session/requests.h"
#include "tracer/timeline/names.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

// A viewer copies 1 GB in this time.
#define STEADY_S 10.0
// A copy in memory may be larger than the timeline's limit, because of names.
#define COPY_SPARE (UINT64_C(128) << 20)
// Number of blocks of 64 KiB, enough for all names.
#define NAME_BLOCKS 4096u

struct Handout {
    int descriptor; // for reading only
    uint64_t bytes; // of the recording
    // Seconds for which the file keeps what it has now; 0: for ever.
    double steady_s;
};

// --- Names ------------------------------------------------------------------

// Lists the functions that exist and those that have ended recently. The caller
// frees the list. NULL: memory is out.
static uint32_t *list_functions(struct Session *session, size_t *listed)
{
    struct Engine *engine = session->engine;
    const struct Code *code;
    size_t count = 0, most = atomic_load(&engine->registry->count);
    uint32_t *ids = Heap_zeroed(most + NAMES_ROOM, sizeof *ids);

    if (!ids)
        return NULL;
    Rcu_read_lock();
    for (code = Registry_first(engine->registry); code && count < most;
         code = Registry_next(code))
        ids[count++] = code->hot.id;
    Rcu_read_unlock();
    *listed = count + Names_retired(&engine->names, ids + count);
    return ids;
}

// Writes the names of these functions to a copy. A recording in memory has only
// little room for names, and lacks some of them.
static void add_names(struct Session *session, struct Recording *copy,
                      const uint32_t *ids, size_t count)
{
    struct RecordingNames names = {.blocks = NAME_BLOCKS};
    struct RecordingWanted wanted;
    struct NameQuery query;
    const struct RecordingSource source = {&query, NameQuery_find, NULL};
    size_t i;

    for (i = 0; i < count; i++)
        RecordingNames_see_id(&names, ids[i]);
    NameQuery_init(&query, &session->engine->names, session->engine->registry);
    wanted = RecordingNames_take(&names);
    RecordingNames_write(&names, copy, &source, &wanted);
    RecordingNames_give_back(&names, &wanted);
    NameQuery_release(&query);
    RecordingNames_release(&names);
}

// --- What is handed out -----------------------------------------------------

static int share(struct Recording *recording, double steady_s,
                 struct Handout *handout)
{
    int error = Recording_flush(recording, true);
    int descriptor = error ? error : Recording_share(recording);

    *handout =
        (struct Handout){descriptor, Recording_bytes(recording), steady_s};
    return descriptor < 0 ? descriptor : 0;
}

static int share_copy(struct Session *session, const uint32_t *ids,
                      size_t count, struct Handout *handout)
{
    struct Recording *from = Timeline_recording(session->timeline), *copy;
    int error;

    if (Recording_bytes(from) > session->config.timeline_limit + COPY_SPARE)
        return -EFBIG;
    copy = Recording_new_shared(&error);
    if (!copy)
        return error;
    pthread_mutex_lock(&session->draining); // so that no name moves
    error = Recording_copy(copy, from);
    pthread_mutex_unlock(&session->draining);
    if (!error) {
        add_names(session, copy, ids, count);
        error = share(copy, 0, handout);
    }
    Recording_put(copy);
    return error;
}

static int give_timeline(struct Session *session, struct Handout *handout)
{
    struct Timeline *timeline = Exports_timeline(session);
    uint32_t *ids;
    size_t count;
    int error;

    if (!timeline)
        return -ENODATA;
    ids = list_functions(session, &count);
    if (!ids)
        return -ENOMEM;
    Timeline_lend(timeline, STEADY_S, ids, count);
    Exports_cut(session);
    pthread_mutex_lock(&session->draining);
    Timeline_end_names(timeline);
    pthread_mutex_unlock(&session->draining);
    error = share(Timeline_recording(timeline), STEADY_S, handout);
    if (error) {
        error = share_copy(session, ids, count, handout);
        Timeline_lend(timeline, 0, NULL, 0);
    }
    Heap_free(ids);
    return error;
}

static int give_stacks(struct Session *session, struct Handout *handout)
{
    int error;
    struct Recording *recording = Recording_new_shared(&error);

    if (!recording)
        return error;
    error = Profiles_record(session, recording);
    if (!error)
        error = share(recording, 0, handout);
    Recording_put(recording);
    return error;
}

// --- Requests ---------------------------------------------------------------

static void refuse(struct Session *session, const struct HandoutWish *wish,
                   int error)
{
    struct Message answer = {.type = MESSAGE_ERROR,
                             .request = wish->request,
                             .number = (uint64_t)-error};
    char text[200];

    if (error == -ENODATA)
        snprintf(text, sizeof text,
                 "no timeline is kept: start tracing with perfetto=True");
    else if (error == -ENOTSUP)
        snprintf(text, sizeof text, "nothing is sampled");
    else if (error == -ESHUTDOWN)
        snprintf(text, sizeof text, "tracing is ending");
    else
        snprintf(text, sizeof text,
                 "the process cannot hand out its recording (%s): "
                 "ocular.export() in the program writes a file, and so does "
                 "the end of the trace",
                 strerror(-error));
    answer.text = text;
    Session_answer(session, wish->viewer, &answer);
}

static void serve(struct Session *session, const struct HandoutWish *wish)
{
    struct Message answer = {.type = MESSAGE_RECORDING,
                             .request = wish->request};
    struct Handout handout = {0};
    int error = wish->kind == HANDOUT_STACKS ? give_stacks(session, &handout)
                                             : give_timeline(session, &handout);

    if (error) {
        refuse(session, wish, error);
        return;
    }
    answer.number = handout.bytes;
    answer.value = handout.steady_s;
    answer.descriptor = handout.descriptor;
    Session_answer(session, wish->viewer, &answer);
}

// Takes the oldest request. Returns false if no request waits.
static bool take(struct Handouts *handouts, struct HandoutWish *wish)
{
    bool taken;

    pthread_mutex_lock(&handouts->mutex);
    taken = handouts->count > 0;
    if (taken) {
        *wish = handouts->wishes[0];
        memmove(handouts->wishes, handouts->wishes + 1,
                --handouts->count * sizeof *wish);
    }
    pthread_mutex_unlock(&handouts->mutex);
    return taken;
}

static void serve_all(struct Session *session)
{
    struct HandoutWish wish;

    while (take(&session->handouts, &wish))
        serve(session, &wish);
}

void Handouts_init(struct Handouts *handouts)
{
    pthread_mutex_init(&handouts->mutex, NULL);
    handouts->serve = serve_all;
}

void Handouts_close(struct Session *session)
{
    struct HandoutWish wish;

    pthread_mutex_lock(&session->handouts.mutex);
    session->handouts.closed = true;
    pthread_mutex_unlock(&session->handouts.mutex);
    while (take(&session->handouts, &wish))
        refuse(session, &wish, -ESHUTDOWN);
}

void Handouts_release(struct Handouts *handouts)
{
    pthread_mutex_destroy(&handouts->mutex);
}
