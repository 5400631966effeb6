// SPDX-License-Identifier: MIT
// See exports.h.
#include "tracer/session/exports.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/base/rcu.h"
#include "tracer/session/collect.h"
#include "tracer/session/profiles.h"
#include "tracer/session/requests.h"

// CLOCK_BOOTTIME at a moment of CLOCK_REALTIME, as the two are now; 0: earlier.
static uint64_t boot_time_of(uint64_t unix_ns)
{
    uint64_t past = Now_ns(CLOCK_REALTIME) - unix_ns;
    uint64_t now = Now_ns(CLOCK_BOOTTIME);

    return past < now ? now - past : 0;
}

static uint64_t dark_since(const struct Code *code)
{
    return atomic_load_explicit(&code->cold.dark_since, memory_order_relaxed);
}

static struct Timeline *timeline(void *context)
{
    return ((struct Session *)context)->timeline;
}

// In two passes, the first of which counts. If memory is out, none is listed.
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
    const struct Session *session = context;
    struct Engine *engine = session->engine;

    trace->command = engine->command;
    trace->python = engine->python;
    trace->mode = session->config.mode;
    trace->threshold = session->config.threshold;
    trace->start_ticks = session->start_ticks;
    trace->start_unix_ns = session->start_unix_ns;
    trace->start_boot_ns = boot_time_of(session->start_unix_ns);
    trace->hz = Clock_hz(&engine->clock);
    trace->opcodes = &engine->opcodes;
    trace->dark_ticks = Clock_read(&engine->clock);
    list_dark(engine->registry, trace);
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
