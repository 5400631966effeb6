// SPDX-License-Identifier: MIT
// See profiles.h.
#include "tracer/session/profiles.h"
#include "tracer/base/rcu.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"
#include "tracer/session/collect.h"
#include "tracer/timeline/formats.h"

#include <errno.h>
#include <math.h>

// Returns the counted calls plus the estimated calls of dark periods. As in
// cProfile's files, a resumption after a yield or an await counts as a call.
static double calls_of(const struct Code *code, uint64_t ticks, double hz)
{
    double calls = (double)Counter_get(&code->hot.entries);
    double dark = Code_dark_calls(code, hz);

    return calls + (isnan(dark) ? code->cold.dark_calls : dark) +
           Spans_missed(code, ticks, hz) / Code_calls_an_entry(code);
}

// Describes the functions of the table. Functions that no longer exist keep
// their names during this call, because the caller prevents that code is
// reclaimed.
static void describe(void *context, const struct FlameTable *table,
                     struct ProfileFunction *functions)
{
    struct Session *session = context;
    struct Engine *engine = session->engine;
    double hz = Clock_hz(&engine->clock);
    uint64_t ticks = Clock_read(&engine->clock);
    size_t i;

    Rcu_read_lock();
    for (i = 0; i < table->function_count; i++) {
        uint32_t id = (uint32_t)table->functions[i].id;
        struct ProfileFunction *function = &functions[i];
        const struct Code *code = Registry_by_id(engine->registry, id);
        const struct RetiredFunction *gone =
            code ? NULL : Retired_find(&session->retired, id);

        if (code)
            *function = (struct ProfileFunction){
                function->name, function->file, function->line,
                calls_of(code, ticks, hz),
                (double)Counter_get(&code->share.cpu.total_ns)};
        if (gone)
            *function = (struct ProfileFunction){
                gone->name, gone->file, gone->line, (double)gone->totals.calls,
                (double)gone->totals.cpu_ns};
    }
    Rcu_read_unlock();
}

static int write_stacks(struct Session *session, const struct FlameTable *table,
                        const char *path, struct Bytes *out)
{
    const struct FormatsProfile profile = {
        .table = table,
        .start_unix_ns = session->start_unix_ns,
        .duration_ns = (uint64_t)(1e9 * Session_age_s(session)),
        .command = session->engine->command,
        .context = session,
        .describe = describe,
    };
    const struct Formats *formats = Formats_load();
    int error;

    if (!formats)
        return -ELIBACC;
    // After Collect_drain each function is either alive or in `retired`.
    Collect_drain(session);
    pthread_mutex_lock(&session->draining);
    error = formats->profile(&profile, FileKind_of(path).content, out);
    pthread_mutex_unlock(&session->draining);
    return error;
}

int Profiles_make(struct Session *session, const char *path, struct Bytes *out)
{
    struct FlameTable *table;
    int error;

    if (session->stacks)
        return write_stacks(session, session->stacks, path, out);
    if (!session->sampler)
        return -ENOTSUP;
    table = Sampler_stacks(session->sampler, FLAME_NODES);
    error = table ? write_stacks(session, table, path, out) : -ENOMEM;
    FlameTable_free(table);
    return error;
}

void Profiles_keep(struct Session *session)
{
    if (session->config.profile && session->sampler)
        session->stacks = Sampler_stacks(session->sampler, FLAME_NODES);
}
