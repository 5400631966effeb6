// SPDX-License-Identifier: MIT
#include "tracer/session/profiles.h"
#include "ipc/base/heap.h"
#include "ipc/wire.h"
#include "tracer/base/rcu.h"
#include "tracer/code/c_calls.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"
#include "tracer/session/collect.h"
#include "tracer/session/recorder.h"

#include <errno.h>
#include <math.h>

// Returns the number of counted calls of a function plus the estimated number
// of its calls while it had no hooks (was dark). As in cProfile's files, a
// resumption after a yield or an await counts as a call.
static double calls_of(const struct Code *code, uint64_t ticks, double hz)
{
    double calls = (double)Counter_get(&code->hot.entries);
    double dark = Code_dark_calls(code, hz);
    const struct CCalls *c_calls = CCalls_of(code);

    if (Code_is_counted_by_callers(code))
        return c_calls && c_calls->sums.known && !c_calls->sums.lacks
                   ? c_calls->sums.calls
                   : NAN;
    return calls + (isnan(dark) ? code->cold.dark_calls : dark) +
           Spans_missed(code, ticks, hz) / Code_calls_an_entry(code);
}

// Fills in the calls of the table's functions, and the names of functions that
// no longer exist. No other thread uses the table during the call. The caller
// holds Session.draining, so no code is freed meanwhile.
static void describe(struct Session *session, struct FlameTable *table,
                     struct RecordingCalls *calls)
{
    struct FlameFunction *functions =
        (struct FlameFunction *)(uintptr_t)table->functions;
    struct Engine *engine = session->engine;
    double hz = Clock_hz(&engine->clock);
    uint64_t ticks = Clock_read(&engine->clock);
    size_t i;

    Rcu_read_lock();
    for (i = 0; i < table->function_count; i++) {
        uint32_t id = (uint32_t)functions[i].id;
        const struct Code *code = Registry_by_id(engine->registry, id);
        const struct RetiredFunction *gone =
            code ? NULL : Retired_find(&session->retired, id);

        calls[i] = (struct RecordingCalls){functions[i].id, NAN, NAN};
        if (code) {
            calls[i].calls = calls_of(code, ticks, hz);
            calls[i].self_ns = (double)Counter_get(&code->share.cpu.total_ns);
        } else if (gone) {
            functions[i].name = Arena_text(&table->arena, gone->name);
            functions[i].file = Arena_text(&table->arena, gone->file);
            functions[i].line = gone->line;
            calls[i].calls = (double)gone->totals.calls;
            calls[i].self_ns = (double)gone->totals.cpu_ns;
        }
    }
    Rcu_read_unlock();
}

static int put_block(struct Recording *recording, enum RecordingKind kind,
                     const void *data, size_t size)
{
    struct RecordingBlock block = {.kind = kind};
    struct RecordingSlot slot = {0};

    return Recording_append(recording, &slot, &block, data, size);
}

static int put_stacks(struct Recording *recording, struct FlameTable *table)
{
    const struct Message message = {.type = MESSAGE_STACKS, .stacks = table};
    struct Bytes bytes;
    int error;

    Bytes_init(&bytes);
    error = Message_encode(&bytes, &message);
    while (bytes.size % 8 && !bytes.error)
        Bytes_put_u8(&bytes, 0);
    error = error ? error : bytes.error;
    if (!error)
        error = put_block(recording, RECORDING_STACKS, bytes.data, bytes.size);
    Bytes_release(&bytes);
    return error;
}

static int put_all(struct Session *session, struct Recording *recording,
                   struct FlameTable *table)
{
    size_t count = table->function_count;
    struct RecordingCalls *calls = Heap_zeroed(count + 1, sizeof *calls);
    struct RecordingHead head;
    int error;

    if (!calls)
        return -ENOMEM;
    // After Collect_drain, each function is either alive or in `retired`.
    Collect_drain(session);
    pthread_mutex_lock(&session->draining);
    describe(session, table, calls);
    pthread_mutex_unlock(&session->draining);
    Recorder_describe(session, &head);
    Recording_put_head(recording, &head);
    error = put_stacks(recording, table);
    if (!error)
        error =
            put_block(recording, RECORDING_CALLS, calls, count * sizeof *calls);
    Heap_free(calls);
    return error;
}

int Profiles_record(struct Session *session, struct Recording *recording)
{
    struct FlameTable *table;
    int error;

    if (session->stacks)
        return put_all(session, recording, session->stacks);
    if (!session->sampler)
        return -ENOTSUP;
    table = Sampler_stacks(session->sampler, FLAME_NODES);
    error = table ? put_all(session, recording, table) : -ENOMEM;
    FlameTable_free(table);
    return error;
}

void Profiles_keep(struct Session *session)
{
    if (session->config.profile && session->sampler)
        session->stacks = Sampler_stacks(session->sampler, FLAME_NODES);
}
