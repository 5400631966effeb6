// SPDX-License-Identifier: MIT
#include "tracer/session/listings.h"
#include "ipc/base/now.h"
#include "ipc/process.h"
#include "tracer/base/rcu.h"
#include "tracer/session/listing_builder.h"
#include "tracer/session/native_stacks.h"
#include "tracer/session/requests.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>

// Returns the Unix time at which the process began. Viewers compare this time
// with the dates of source files.
static double process_start(void)
{
    return (double)Now_ns(CLOCK_REALTIME) / 1e9 - Process_age_s(getpid());
}

// Copies the specialisation history of a code object. The copy is needed
// because other threads change the history.
static int copy_history(struct Session *session, struct Specialisation *history,
                        const struct Code *code)
{
    int error;

    Transitions_lock(&session->transitions);
    error = Specialisation_copy(history, &code->poll.history);
    Transitions_unlock(&session->transitions);
    return error;
}

// Returns the function's share of time, from which the rates of its lines are
// estimated.
static double share_of(const struct Session *session, const struct Code *code)
{
    const struct ShareParts *parts = Share_parts(&code->share);
    struct ShareTime now;

    if (!session->sampler)
        return 0;
    now = Sampler_now(session->sampler);
    return LineHits_share(ShareValue_window(&code->share.cpu, &now),
                          ShareValue_window(&parts->wait, &now),
                          ShareValue_window(&parts->wait_to_run, &now));
}

static struct Listing *make_listing(struct Session *session,
                                    const struct Code *code,
                                    const struct OperandText *text)
{
    const struct Opcodes *opcodes = &session->engine->opcodes;
    struct Listing *listing = NULL;
    struct ListingDetail detail;
    struct Specialisation history;

    if (copy_history(session, &history, code))
        return NULL;
    if (ListingDetail_init(&detail, code, &history, opcodes) == 0) {
        const struct ListingBuilderSource source = {
            .code = code,
            .detail = &detail,
            .text = text,
            .opcodes = opcodes,
            .sampled = session->sampler != NULL,
            .share = share_of(session, code),
            .ticks = Clock_read(&session->engine->clock),
            .hz = Clock_hz(&session->engine->clock)};

        listing = ListingBuilder_make(&source);
        ListingDetail_release(&detail);
    }
    Specialisation_release(&history);
    if (!listing)
        return NULL;
    listing->process_start_s = session->process_start_s;
    listing->at_s = Session_age_s(session);
    NativeStacks_list(session, listing);
    return listing;
}

static int make(void *context, uint32_t id, const struct OperandText *text,
                struct Listing **listing)
{
    struct Session *session = context;
    const struct Code *code;

    *listing = NULL;
    Counting_catch_up(&session->engine->counting);
    Rcu_read_lock();
    code = Registry_by_id(session->engine->registry, id);
    if (code)
        *listing = make_listing(session, code, text);
    Rcu_read_unlock();
    if (*listing)
        return 0;
    return code ? -ENOMEM : -ENOENT;
}

static bool is_overdrawn(void *context)
{
    return Account_is_overdrawn(&((struct Session *)context)->account);
}

static void wake(void *context)
{
    sem_post(&((struct Session *)context)->engine->due);
}

void Listings_init(struct Session *session)
{
    const struct ListingRequestsSource source = {.context = session,
                                                 .make = make,
                                                 .answer = Session_answer,
                                                 .is_overdrawn = is_overdrawn,
                                                 .wake = wake,
                                                 .governor =
                                                     &session->governor_waker};

    session->process_start_s = process_start();
    ListingRequests_init(&session->requests, &source);
}
