// SPDX-License-Identifier: MIT
// Errors are ignored, because a value that cannot be added only leaves a gap in
// a graph.
#include "tracer/session/counters.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/timeline/own_event.h"

// Seconds between two values of a graph in the timeline. The collector runs
// about once a second.
#define PERIOD_S 0.95
#define LONGEST_MS 60000

static double measured(struct Account *account)
{
    const struct Budget *budget = Account_open(account);
    double share = Budget_window(budget).measured;

    Account_close(account);
    return share;
}

static void put(struct Session *session, enum OwnEventCounter which,
                unsigned ms, double value, unsigned thread)
{
    struct Event event;

    if (!(value >= 0)) // NaN and values below 0 mean unknown.
        return;
    event = OwnEvent_counter(session->counters.ticks, which, ms,
                             (uint64_t)(value + 0.5), thread);
    Timeline_add(session->timeline, &event, 1);
}

// Adds to the timeline which instructions have changed their specialised form.
// The oldest changes are missing if there are more than the log of changes can
// hold.
static void put_changes(struct Session *session)
{
    struct Change *changes = Heap_alloc(2 * TRANSITIONS_KEPT * sizeof *changes);
    size_t i;

    if (!changes) // If memory is out, the next call adds them.
        return;
    i = Transitions_since(&session->transitions, &session->counters.change,
                          changes);
    while (i-- > 0) {
        const struct Change *change = &changes[i];
        struct Event event = OwnEvent_change(
            change->ticks, change->id, change->line, change->from, change->to);

        Timeline_add(session->timeline, &event, 1);
    }
    Heap_free(changes);
}

void Counters_begin(struct Session *session)
{
    struct Counters *counters = &session->counters;
    double now = Now_s(CLOCK_MONOTONIC), past = now - counters->then_s;

    counters->due = session->timeline && (past >= PERIOD_S || counters->last);
    counters->ticks = Clock_read(&session->engine->clock);
    counters->ms =
        past < LONGEST_MS / 1e3 ? (unsigned)(past * 1e3) + 1 : LONGEST_MS;
    if (!counters->due)
        return;
    counters->then_s = now;
    put_changes(session);
    put(session, OWN_EVENT_OVERHEAD, 0, 1e6 * measured(&session->account), 0);
    put(session, OWN_EVENT_ARMED, 0,
        (double)Roll_count_armed(&session->roll, session->engine->registry,
                                 now),
        0);
}

void Counters_add(struct Session *session, struct ThreadTrace *trace,
                  bool ended)
{
    const struct Counters *counters = &session->counters;
    uint64_t cpu_ns;
    double used;

    if (!(counters->due || ended) || trace->number >= OWN_EVENT_THREADS)
        return;
    cpu_ns = ThreadTrace_cpu_ns(trace);
    used =
        cpu_ns > trace->counted_ns ? (double)(cpu_ns - trace->counted_ns) : 0;
    // One ns of CPU time per ms is a millionth of a core.
    if (used > 0 || trace->counted_busy) {
        put(session, OWN_EVENT_CPU, counters->ms, used / counters->ms,
            trace->number);
        if (ended)
            put(session, OWN_EVENT_CPU, 0, 0, trace->number);
    }
    trace->counted_ns = cpu_ns;
    trace->counted_busy = used > 0;
}
