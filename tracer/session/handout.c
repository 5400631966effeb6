// SPDX-License-Identifier: MIT
// While viewers copy the recording's file, no block is dropped because of the
// limit, no later request brings the recording up to date, and no name moves in
// the file. A viewer that copies too slowly notices by itself that the file has
// changed.
#include "tracer/session/handout.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/base/rcu.h"
#include "tracer/session/exports.h"
#include "tracer/session/profiles.h"
#include "tracer/session/requests.h"
#include "tracer/timeline/names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

// For this number of ns the recording's file stays as it is. In 10 s a viewer
// copies 1 GB.
#define STEADY_NS UINT64_C(10000000000)
// A second viewer gets the same state of the file only if the file stays as it
// is for at least this number of ns.
#define LEAST_NS UINT64_C(3000000000)
// After an answer that took some CPU time, the next answer must wait for COST
// times this CPU time. Viewers thus cost at most a hundredth of a core.
#define COST 100
// The wait that COST demands may be shortened by this number of ns. A user who
// exports two files in a row therefore does not wait.
#define CREDIT_NS UINT64_C(10000000000)
// A viewer's copy in memory has more names, and may therefore exceed the
// timeline's limit by this number of bytes.
#define COPY_SPARE (UINT64_C(128) << 20)
// A copy has at most this number of blocks of 64 KiB for names, which is enough
// for all names.
#define NAME_BLOCKS 4096u

struct Handout {
    // Descriptor of the recording that a viewer gets, for reading only.
    int descriptor;
    uint64_t bytes; // Number of bytes of the viewer's recording.
    // CLOCK_MONOTONIC in ns until which the recording's file keeps its present
    // contents, or 0 if it always does.
    uint64_t until_ns;
    // Seconds since the newest event in the viewer's recording.
    double age_s;
};

// --- Names ------------------------------------------------------------------

// Returns a list of the ids of all functions that exist or were freed recently.
// Stores the number of ids in *listed. The caller frees the list. Returns NULL
// if there is no memory.
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

// Writes the names of the listed functions into a copy of the recording. A
// recording in memory lacks some names, because it has little room for names.
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

static int share(struct Recording *recording, struct Handout *handout)
{
    int error = Recording_flush(recording, true);
    int descriptor = error ? error : Recording_share(recording);

    *handout = (struct Handout){.descriptor = descriptor,
                                .bytes = Recording_bytes(recording)};
    return descriptor < 0 ? descriptor : 0;
}

// Begins a recording in memory for one viewer. If the process forks before
// end_copy(), the child closes this recording (Session_abandon).
static struct Recording *begin_copy(struct Session *session, int *error)
{
    struct Recording *copy = Recording_new_shared(error);

    atomic_store(&session->handouts.copy, copy);
    return copy;
}

static void end_copy(struct Session *session, struct Recording *copy)
{
    atomic_store(&session->handouts.copy, NULL);
    Recording_put(copy);
}

static int share_copy(struct Session *session, const uint32_t *ids,
                      size_t count, struct Handout *handout)
{
    struct Recording *from = Timeline_recording(session->timeline), *copy;
    int error;

    if (Recording_bytes(from) > session->config.timeline_limit + COPY_SPARE)
        return -EFBIG;
    copy = begin_copy(session, &error);
    if (!copy)
        return error;
    // Names may move in the recording meanwhile, but add_names writes all of
    // them.
    error = Recording_copy(copy, from);
    if (!error) {
        add_names(session, copy, ids, count);
        error = share(copy, handout);
    }
    end_copy(session, copy);
    return error;
}

// Shares the file that an earlier viewer may still be copying. The recording
// must not be brought up to date now, because an update would drop lists that
// the earlier viewer needs.
static int share_held(struct Timeline *timeline, uint64_t until_ns,
                      struct Handout *handout)
{
    uint64_t left = until_ns - Now_ns(CLOCK_MONOTONIC);
    int error = share(Timeline_recording(timeline), handout);

    handout->until_ns = until_ns;
    handout->age_s = (double)STEADY_NS / 1e9 - (double)left / 1e9;
    return error;
}

static int give_timeline(struct Session *session, struct Handout *handout)
{
    struct Timeline *timeline = Exports_timeline(session);
    uint64_t held_ns = timeline ? Timeline_held_until(timeline) : 0;
    uint32_t *ids;
    size_t count;
    int error;

    if (!timeline)
        return -ENODATA;
    if (held_ns && !share_held(timeline, held_ns, handout))
        return 0;
    ids = list_functions(session, &count);
    if (!ids)
        return -ENOMEM;
    Timeline_hold(timeline, true);
    Timeline_want_names(timeline, ids, count);
    Exports_cut(session);
    pthread_mutex_lock(&session->draining);
    Timeline_end_names(timeline);
    pthread_mutex_unlock(&session->draining);
    error = share(Timeline_recording(timeline), handout);
    if (error)
        error = share_copy(session, ids, count, handout);
    else
        handout->until_ns = Timeline_hold_for(timeline, STEADY_NS);
    Timeline_hold(timeline, false);
    Heap_free(ids);
    return error;
}

static int give_stacks(struct Session *session, struct Handout *handout)
{
    int error;
    struct Recording *recording = begin_copy(session, &error);

    if (!recording)
        return error;
    error = Profiles_record(session, recording);
    if (!error)
        error = share(recording, handout);
    end_copy(session, recording);
    return error;
}

// --- Requests ---------------------------------------------------------------

static void refuse(struct Session *session,
                   const struct HandoutRequest *request, int error)
{
    struct Message answer = {.type = MESSAGE_ERROR,
                             .request = request->number,
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
    Session_answer(session, request->viewer, &answer);
}

static void give(struct Session *session, const struct HandoutRequest *request)
{
    struct Message answer = {.type = MESSAGE_RECORDING,
                             .request = request->number};
    struct Handout handout = {0};
    int error = request->kind == HANDOUT_STACKS
                    ? give_stacks(session, &handout)
                    : give_timeline(session, &handout);
    char text[100];

    if (error) {
        refuse(session, request, error);
        return;
    }
    if (handout.age_s >= 1) {
        snprintf(text, sizeof text,
                 "the last %.0f s are missing, because an earlier export may "
                 "still copy the recording",
                 handout.age_s);
        answer.text = text;
    }
    answer.number = handout.bytes;
    if (handout.until_ns)
        answer.value = (double)(handout.until_ns - request->asked_ns) / 1e9;
    answer.descriptor = handout.descriptor;
    Session_answer(session, request->viewer, &answer);
}

// Copies the oldest request of a viewer to the caller. Returns false if no
// request waits.
static bool find(struct Handouts *handouts, struct HandoutRequest *request)
{
    bool found;

    pthread_mutex_lock(&handouts->mutex);
    found = handouts->count > 0;
    if (found)
        *request = handouts->requests[0];
    pthread_mutex_unlock(&handouts->mutex);
    return found;
}

static void drop(struct Handouts *handouts)
{
    pthread_mutex_lock(&handouts->mutex);
    memmove(handouts->requests, handouts->requests + 1,
            --handouts->count * sizeof *handouts->requests);
    pthread_mutex_unlock(&handouts->mutex);
}

// Returns the time in ns at which the request may be answered. If the viewer
// would have too little time to copy the file, it waits until the recording may
// be brought up to date.
static uint64_t due_ns(struct Session *session,
                       const struct HandoutRequest *request, uint64_t now)
{
    struct Timeline *timeline = Exports_timeline(session);
    uint64_t paid = session->handouts.paid_ns, held = 0;
    uint64_t due = paid > CREDIT_NS ? paid - CREDIT_NS : 0;

    if (timeline && request->kind == HANDOUT_TIMELINE)
        held = Timeline_held_until(timeline);
    return held > due && held < now + LEAST_NS ? held : due;
}

static unsigned serve(struct Session *session)
{
    struct Handouts *handouts = &session->handouts;
    uint64_t now = Now_ns(CLOCK_MONOTONIC), due, began_ns;
    struct HandoutRequest request;

    if (!find(handouts, &request))
        return UINT_MAX;
    due = due_ns(session, &request, now);
    if (due > now)
        return (unsigned)((due - now) / 1000000) + 1;
    began_ns = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    give(session, &request);
    drop(handouts);
    if (handouts->paid_ns < now)
        handouts->paid_ns = now;
    handouts->paid_ns += COST * (Now_ns(CLOCK_THREAD_CPUTIME_ID) - began_ns);
    return find(handouts, &request) ? 0 : UINT_MAX;
}

void Handouts_init(struct Handouts *handouts)
{
    pthread_mutex_init(&handouts->mutex, NULL);
    handouts->serve = serve;
    handouts->pause_ms = UINT_MAX;
}

void Handouts_close(struct Session *session)
{
    struct Handouts *handouts = &session->handouts;
    struct HandoutRequest request;

    pthread_mutex_lock(&handouts->mutex);
    handouts->closed = true;
    pthread_mutex_unlock(&handouts->mutex);
    while (find(handouts, &request)) {
        refuse(session, &request, -ESHUTDOWN);
        drop(handouts);
    }
}

void Handouts_abandon(struct Handouts *handouts)
{
    struct Recording *copy = atomic_load(&handouts->copy);

    if (copy)
        Recording_abandon(copy);
}

void Handouts_release(struct Handouts *handouts)
{
    pthread_mutex_destroy(&handouts->mutex);
}
