// SPDX-License-Identifier: MIT
// While `busy` is true, only the reading thread uses the member `summary`.
// While `busy` is false, only the viewer's thread uses `summary`.
#include "tui/model/past_run.h"

#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tui/model/row.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define ASKED 16   // Maximum number of requests that wait for an answer.
#define TELL_S 0.1 // Seconds between two reports of progress.

struct PastRun {
    char *path;
    char *before_path; // Path of the run to compare with, or NULL.
    int wake;          // an eventfd, which is readable if a message may be due.
    bool ends;
    pthread_t thread; // The reading thread.
    bool started;     // True if the thread must be joined.
    _Atomic bool busy, cancelled;
    // Fraction of the file that has been read, from 0 to 1.
    _Atomic double done;
    // Time of the last report of progress. Only the reading thread uses it.
    double told_s;
    // While `busy` is true, only the reading thread uses the members from
    // `summary` on.
    struct Summary *summary;
    struct Snapshot *before;
    struct SummaryStretch wanted;
    int error;
    char why[400];
    // Only the viewer's thread uses the members from `due` on.
    bool due;           // True if a snapshot of the run is to be sent.
    bool sent;          // True if a snapshot of the run was sent.
    uint32_t answer_to; // Number of the NOW request to be answered (0 = none).
    struct Message asked[ASKED]; // Requests that wait for an answer.
    size_t asked_count;
    uint32_t last_number;
};

static void wake(const struct PastRun *run)
{
    const uint64_t one = 1;
    ssize_t wrote = write(run->wake, &one, sizeof one);
    (void)wrote; // If the eventfd is readable already, write() fails.
}

// --- The reading thread

static bool go_on(void *context, double done)
{
    struct PastRun *run = context;
    double now = Now_s(CLOCK_MONOTONIC);
    atomic_store(&run->done, done);
    if (now - run->told_s >= TELL_S) {
        run->told_s = now;
        wake(run);
    }
    return !atomic_load(&run->cancelled);
}

static int read_before(struct PastRun *run, struct SummaryWatch watch)
{
    struct Summary *other;
    int error = Summary_open(&other, run->before_path, watch, run->why,
                             sizeof run->why);
    if (!error)
        error = Summary_read(other, Summary_all(other), watch);
    if (!error) {
        run->before = Summary_snapshot(other);
        error = run->before ? 0 : -ENOMEM;
    }
    Summary_close(other);
    return error;
}

static void *read_all(void *context)
{
    struct PastRun *run = context;
    const struct SummaryWatch watch = {go_on, run};
    bool first = !run->summary;
    run->error = 0;
    run->told_s = Now_s(CLOCK_MONOTONIC);
    if (run->before_path && !run->before)
        run->error = read_before(run, watch);
    if (!run->error && first)
        run->error = Summary_open(&run->summary, run->path, watch, run->why,
                                  sizeof run->why);
    if (!run->error)
        run->error = Summary_read(
            run->summary, first ? Summary_all(run->summary) : run->wanted,
            watch);
    if (run->error && !*run->why)
        snprintf(run->why, sizeof run->why, "%s", strerror(-run->error));
    atomic_store(&run->busy, false);
    wake(run);
    return NULL;
}

static void stop(struct PastRun *run)
{
    if (!run->started)
        return;
    atomic_store(&run->cancelled, true);
    pthread_join(run->thread, NULL);
    atomic_store(&run->cancelled, false);
    run->started = false;
}

static int start(struct PastRun *run)
{
    stop(run);
    atomic_store(&run->busy, true);
    atomic_store(&run->done, 0);
    int error = pthread_create(&run->thread, NULL, read_all, run);
    run->started = !error;
    run->due = !error;
    if (error)
        atomic_store(&run->busy, false);
    return -error;
}

// --- Opening

// Checks that the file is a recording. Returns 0, or -errno with a sentence
// about the error in `why`.
static int probe(const char *path, char *why, size_t why_size)
{
    char reason[300] = "there is no memory";
    int error = path ? Summary_probe(path, reason, sizeof reason) : -ENOMEM;
    if (error)
        snprintf(why, why_size, "%s: %s", path ? path : "", reason);
    return error;
}

int PastRun_open(struct PastRun **out, const struct PastRequest *request,
                 char *why, size_t why_size)
{
    struct PastRun *run = calloc(1, sizeof *run);
    *out = NULL;
    if (!run)
        return -ENOMEM;
    run->ends = request->ends;
    run->path = strdup(request->path);
    run->before_path = request->before ? strdup(request->before) : NULL;
    run->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int error = run->wake < 0 ? -errno : 0;
    if (!error && request->before)
        error = probe(run->before_path, why, why_size);
    if (!error)
        error = probe(run->path, why, why_size);
    if (!error)
        error = start(run);
    if (error) {
        if (!*why)
            snprintf(why, why_size, "%s", strerror(-error));
        PastRun_close(run);
        return error;
    }
    *out = run;
    return 0;
}

void PastRun_close(struct PastRun *run)
{
    if (!run)
        return;
    stop(run);
    Summary_close(run->summary);
    Snapshot_free(run->before);
    free(run->before_path);
    if (run->wake >= 0)
        close(run->wake);
    free(run->path);
    free(run);
}

int PastRun_fd(struct PastRun *run)
{
    return run->wake;
}

bool PastRun_stretches(const struct PastRun *run, struct SummaryStretch *all,
                       struct SummaryStretch *shown)
{
    if (atomic_load(&run->busy) || !run->summary || !run->sent)
        return false;
    *all = Summary_all(run->summary);
    *shown = Summary_shown(run->summary);
    return true;
}

void PastRun_curve(const struct PastRun *run, float *curve, int parts)
{
    Trend_squeeze(curve, parts, Summary_curve(run->summary), SUMMARY_CURVE);
}

const struct Snapshot *PastRun_before(const struct PastRun *run)
{
    return atomic_load(&run->busy) ? NULL : run->before;
}

const char *PastRun_note(const struct PastRun *run)
{
    return atomic_load(&run->busy) ? "" : run->why;
}

// --- Messages, as a live process sends them

static int give_notice(struct PastRun *run, struct Message *message)
{
    char text[80];
    snprintf(text, sizeof text, "Reading the recording: %.0f%%",
             100 * atomic_load(&run->done));
    *message =
        (struct Message){.type = MESSAGE_NOTICE, .text = Heap_text(text)};
    return 1;
}

static int give_snapshot(struct PastRun *run, struct Message *message)
{
    run->due = false;
    *message = (struct Message){.type = MESSAGE_SNAPSHOT};
    if (run->error)
        return run->error;
    message->snapshot = Summary_snapshot(run->summary);
    run->sent = true;
    if (run->answer_to)
        wake(run);
    return message->snapshot ? 1 : -ENOMEM;
}

static int give_answer(struct PastRun *run, struct Message *message)
{
    struct Message asked = run->asked[0];
    run->asked_count--;
    memmove(run->asked, run->asked + 1, run->asked_count * sizeof asked);
    if (run->asked_count)
        wake(run);
    *message = (struct Message){.request = asked.request};
    if (asked.type == MESSAGE_FLAME) {
        message->type = MESSAGE_STACKS;
        message->stacks = Summary_stacks(run->summary);
        return message->stacks ? 1 : -ENOMEM;
    }
    message->type = MESSAGE_LISTING;
    message->listing = Summary_listing(run->summary, asked.number);
    if (message->listing)
        return 1;
    message->type = MESSAGE_ERROR;
    message->number = ENODATA;
    message->text = Heap_text(
        "no sample found this function running, and "
        "the recording has nothing else of its code");
    return 1;
}

int PastRun_next(struct PastRun *run, struct Message *message)
{
    uint64_t count;
    ssize_t got = read(run->wake, &count, sizeof count);
    bool woken = got == sizeof count;
    if (atomic_load(&run->busy))
        return woken ? give_notice(run, message) : 0;
    if (run->due)
        return give_snapshot(run, message);
    if (run->answer_to) {
        *message = (struct Message){
            .type = MESSAGE_REPLY, .request = run->answer_to, .value = 1};
        run->answer_to = 0;
        return 1;
    }
    if (run->asked_count)
        return give_answer(run, message);
    return run->ends && run->sent ? -EPIPE : 0;
}

int PastRun_request(struct PastRun *run, struct Message *request)
{
    int error = 0;
    if (request->type != MESSAGE_FLAME && request->type != MESSAGE_DETAIL &&
        request->type != MESSAGE_NOW)
        return -ENOTSUP;
    if (request->type != MESSAGE_NOW && run->asked_count == ASKED)
        return -EBUSY;
    request->request = ++run->last_number;
    if (request->type == MESSAGE_NOW) {
        error = run->summary ? start(run) : -EBUSY;
        run->answer_to = error ? run->answer_to : request->request;
    } else {
        run->asked[run->asked_count++] = *request;
    }
    wake(run);
    return error;
}

void PastRun_set(struct PastRun *run, struct SummaryStretch stretch)
{
    stop(run);
    run->wanted = stretch;
}
