// SPDX-License-Identifier: MIT
// See exports.h.
#include "tracer/session/exports.h"
#include "ipc/base/heap.h"
#include "tracer/base/rcu.h"
#include "tracer/session/collect.h"
#include "tracer/session/profiles.h"
#include "tracer/session/requests.h"

static uint64_t dark_since(const struct Code *code)
{
    return atomic_load_explicit(&code->cold.dark_since, memory_order_relaxed);
}

static struct Timeline *timeline(void *context)
{
    const struct Session *session = context;

    return session->config.profile ? NULL : session->timeline;
}

// Sets trace->dark to the functions that are dark now. The first pass counts
// these functions and the second pass lists them. If memory is out, trace->dark
// is NULL.
static void list_dark(struct Registry *registry, struct PerfettoTrace *trace)
{
    const struct Code *code;
    size_t count = 0;

    Rcu_read_lock();
    for (code = Registry_first(registry); code; code = Registry_next(code))
        count += dark_since(code) != 0;
    Rcu_read_unlock();
    trace->dark = Heap_alloc((count + 1) * sizeof *trace->dark);
    if (!trace->dark)
        return;
    Rcu_read_lock();
    for (code = Registry_first(registry); code && trace->dark_count < count;
         code = Registry_next(code)) {
        uint64_t since = dark_since(code);

        if (since)
            trace->dark[trace->dark_count++] =
                (struct DarkFunction){since, code->hot.id};
    }
    Rcu_read_unlock();
}

static void describe(void *context, struct PerfettoTrace *trace)
{
    struct Session *session = context;

    Session_describe(session, trace);
    list_dark(session->engine->registry, trace);
}

static int profile(void *context, const char *path, struct Bytes *out)
{
    return Profiles_make(context, path, out);
}

static void drain(void *context)
{
    Collect_drain(context);
}

void Exports_init(struct Session *session)
{
    const struct ExportSource source = {.context = session,
                                        .timeline = timeline,
                                        .names = &session->engine->names,
                                        .registry = session->engine->registry,
                                        .describe = describe,
                                        .drain = drain,
                                        .profile = profile,
                                        .answer = Session_answer};

    Export_init(&session->export, &source);
}
