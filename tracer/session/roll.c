// SPDX-License-Identifier: MIT
#include "tracer/session/roll.h"
#include "ipc/base/heap.h"
#include "tracer/base/rcu.h"
#include "tracer/session/c_rates.h"
#include "tracer/session/exception_rows.h"
#include "tracer/session/function_row.h"

#include <string.h>

// The number of sites with hooks in a snapshot is used for this number of
// seconds.
#define FRESH_S 1.5
// While an entry of the roll is read, the entry that is this number of entries
// further is prefetched.
#define AHEAD 16

void Roll_release(struct Roll *roll)
{
    Heap_free(roll->entries);
    Heap_free(roll->due);
    *roll = (struct Roll){0};
}

// --- The functions on the roll

static bool is_on(const struct Roll *roll, const struct Code *code)
{
    return code->row.place < roll->count &&
           roll->entries[code->row.place].code == code;
}

static bool reserve(struct Roll *roll, size_t more)
{
    size_t room = roll->room ? roll->room : 256;
    struct RollEntry *entries;
    uint32_t *due;

    while (room < roll->count + more)
        room *= 2;
    if (room == roll->room)
        return true;
    entries = Heap_resize(roll->entries, room * sizeof *entries);
    if (entries)
        roll->entries = entries;
    due = entries ? Heap_resize(roll->due, room * sizeof *due) : NULL;
    if (!due)
        return false;
    roll->due = due;
    roll->room = room;
    return true;
}

static void add(struct Roll *roll, struct Code *code)
{
    if (is_on(roll, code))
        return;
    code->row.place = (uint32_t)roll->count;
    roll->entries[roll->count++] = (struct RollEntry){.code = code};
}

// Adds to the roll all code objects that were registered before the session
// began. Code that is registered later is in the registry's list of new code.
static bool begin(struct Roll *roll, struct Registry *registry)
{
    struct Code *code;

    roll->begun = true;
    Rcu_read_lock();
    for (code = Registry_first(registry); roll->begun && code;
         code = Registry_next(code)) {
        roll->begun = reserve(roll, 1);
        if (roll->begun)
            add(roll, code);
    }
    Rcu_read_unlock();
    return roll->begun;
}

bool Roll_add_new(struct Roll *roll, struct Registry *registry)
{
    bool whole = roll->begun || begin(roll, registry);
    struct Code *code = Registry_take_new(registry), *next;

    for (; code; code = next) {
        next = code->node.next_new;
        whole = whole && reserve(roll, 1);
        if (whole)
            add(roll, code);
    }
    // If there was no memory, begin() adds this code in the next call.
    roll->begun = whole;
    return whole;
}

// --- Sums

static void count_row(struct Roll *roll, const struct SharedRow *row, int sign)
{
    uint64_t one = (uint64_t)(int64_t)sign; // `sign` as an unsigned number.
    const struct Function *f = &row->function;

    roll->events += one * row->events;
    roll->sites_dark += one * f->dark_sites;
    roll->sites_armed += one * (f->sites - f->dark_sites);
    roll->states[f->state] += one;
}

static void fill_sums(const struct Roll *roll, struct Snapshot *snapshot)
{
    snapshot->events += roll->events;
    snapshot->sites_armed = roll->sites_armed;
    snapshot->sites_dark = roll->sites_dark;
    snapshot->states_armed = roll->states[STATE_ARMED];
    snapshot->states_partial = roll->states[STATE_PARTIAL];
    snapshot->states_dark = roll->states[STATE_DARK];
}

// --- Which rows are filled

static void drop_row(struct Roll *roll, struct RowLog *log,
                     struct RollEntry *entry, double uptime_s)
{
    if (!entry->row)
        return;
    count_row(roll, entry->row, -1);
    RowLog_drop(log, entry->row, uptime_s);
    entry->row = NULL;
}

// Removes an entry of the roll. The last entry takes the place of the removed
// one.
static void take_off(struct Roll *roll, struct RowLog *log, size_t place,
                     double uptime_s)
{
    struct RollEntry *entry = &roll->entries[place];

    if (entry->row)
        RowLog_note_gone(log, entry->row->function.id, uptime_s);
    drop_row(roll, log, entry, uptime_s);
    roll->armed -= entry->armed;
    *entry = roll->entries[--roll->count];
    if (place == roll->count)
        return;
    if (entry->code)
        entry->code->row.place = (uint32_t)place;
    if (entry->row)
        entry->row->slot = (uint32_t)place;
}

void Roll_remove(struct Roll *roll, const struct Code *code)
{
    struct RollEntry *entry = &roll->entries[code->row.place];

    if (!is_on(roll, code))
        return;
    entry->code = NULL;
    if (!entry->row)
        take_off(roll, NULL, code->row.place, 0);
}

// Returns true if the function has a row in snapshots. Functions without time
// of their own, such as Thread.run of an older thread, also have rows, because
// the rows of their callees name them as callers, or because calls hang.
static bool is_listed(const struct Code *code)
{
    return Code_was_seen(code) || Code_latency(code) ||
           Counter_get(&Share_parts(&code->share)->cumulative.total_ns);
}

static void fetch_ahead(const struct Roll *roll, size_t place)
{
    const struct RollEntry *entry = &roll->entries[place + AHEAD];

    if (place + AHEAD < roll->count && entry->code)
        __builtin_prefetch(&entry->code->hot.touched);
}

static void count_armed(struct Roll *roll, struct RollEntry *entry)
{
    uint64_t sites, dark;

    if (Code_take_touch(entry->code)) {
        // The function's row must be filled again, because Code_touch was
        // called.
        entry->until = 0;
        entry->counted = false;
    }
    if (entry->counted || !is_listed(entry->code))
        return;
    Code_count_sites(entry->code, &sites, &dark);
    roll->armed += sites - dark - entry->armed;
    entry->armed = (uint32_t)(sites - dark) & 0x3fffffff;
    entry->counted = true;
}

uint64_t Roll_count_armed(struct Roll *roll, struct Registry *registry,
                          double now_s)
{
    if (now_s - roll->filled_s < FRESH_S)
        return roll->sites_armed;
    Roll_add_new(roll, registry);
    for (size_t i = 0; i < roll->count; i++) {
        fetch_ahead(roll, i);
        if (roll->entries[i].code)
            count_armed(roll, &roll->entries[i]);
    }
    return roll->armed;
}

static bool is_due(const struct Roll *roll, struct RollEntry *entry,
                   uint64_t ticks)
{
    uint32_t stamp = Code_stamp(entry->code);
    bool touched = Code_take_touch(entry->code), same = stamp == entry->stamp;

    entry->counted &= !touched;
    if (same && !touched && ticks < entry->until && !roll->all)
        return false;
    // After a time without calls, calls per second are counted from the last
    // snapshot on.
    if (entry->until && entry->code->row.rate_at < roll->rate_s)
        entry->code->row.rate_at = roll->rate_s;
    entry->quiet = same && !touched;
    entry->stamp = stamp;
    return true;
}

static void choose(struct Roll *roll, struct RowLog *log, uint64_t ticks,
                   double uptime_s)
{
    roll->due_count = 0;
    for (size_t i = 0; i < roll->count; i++) {
        struct RollEntry *entry = &roll->entries[i];

        fetch_ahead(roll, i);
        while (i < roll->count && !entry->code)
            take_off(roll, log, i, uptime_s);
        if (i == roll->count || !is_due(roll, entry, ticks))
            continue;
        drop_row(roll, log, entry, uptime_s);
        if (is_listed(entry->code))
            roll->due[roll->due_count++] = (uint32_t)i;
    }
}

static void note_moved(void *context, struct SharedRow *row)
{
    struct Roll *roll = context;

    roll->entries[row->slot].row = row;
}

// Fills in the rows that must be filled, either those of C functions or those
// of all other functions.
static void fill_due(struct Roll *roll, struct RowLog *log,
                     const struct Moment *at, bool c_functions)
{
    if (c_functions)
        CRates_update(at);
    for (size_t i = 0; i < roll->due_count; i++) {
        struct RollEntry *entry = &roll->entries[roll->due[i]];
        struct SharedRow *row;
        uint64_t until;

        if (entry->code->who.c_function != c_functions)
            continue;
        row = RowLog_add(log);
        row->slot = roll->due[i];
        FunctionRow_fill(&log->begun->arena, row, entry->code, at);
        until = FunctionRow_settled_until(&row->function, entry->code);
        entry->until = entry->quiet ? until : 0;
        entry->row = row;
        count_row(roll, row, 1);
    }
}

// Drops all rows, so that the next snapshot uses no row of older snapshots.
static void give_up(struct Roll *roll, struct RowLog *log, double uptime_s)
{
    for (size_t i = 0; i < roll->count; i++)
        roll->entries[i].row = NULL;
    RowLog_fail(log, uptime_s);
    roll->all = true;
    roll->events = roll->sites_armed = roll->sites_dark = 0;
    memset(roll->states, 0, sizeof roll->states);
}

static void look_for_all(struct Roll *roll, const struct Moment *at)
{
    uint8_t exceptions = ExceptionRows_state(at);

    roll->all |= roll->sees != at->sees || roll->sampled != !!at->sampled ||
                 roll->waits != at->waits || roll->exceptions != exceptions;
    roll->exceptions = exceptions;
    roll->sees = at->sees;
    roll->waits = at->waits;
    roll->sampled = at->sampled;
}

static struct RowMoment moment_of(const struct Moment *at)
{
    struct RowMoment moment = {
        .uptime_s = at->now - at->started,
        .ticks_s = (double)(at->ticks - at->start_ticks) / at->hz,
    };

    if (!at->sampled)
        return moment;
    moment.window_age = at->sampled->age;
    moment.window_ns = at->sampled->full_ns;
    moment.run_ns = at->sampled->ns;
    return moment;
}

void Roll_fill(struct Roll *roll, struct RowLog *log, struct Snapshot *snapshot,
               const struct Moment *at)
{
    const struct RowMoment moment = moment_of(at);

    snapshot->arena.failed |= !Roll_add_new(roll, at->registry);
    if (snapshot->arena.failed)
        return;
    look_for_all(roll, at);
    choose(roll, log, at->ticks, moment.uptime_s);
    if (RowLog_begin(log, &moment, roll->due_count, note_moved, roll)) {
        fill_due(roll, log, at, false);
        fill_due(roll, log, at, true);
    }
    if (!log->begun || log->begun->arena.failed) {
        give_up(roll, log, moment.uptime_s);
        snapshot->arena.failed = true;
        return;
    }
    if (at->now - roll->rate_s >= RATE_WINDOW)
        roll->rate_s = at->now;
    roll->filled_s = at->now;
    roll->all = false;
    snapshot->shared = RowLog_end(log, &moment, snapshot);
    snapshot->functions_total = log->count;
    fill_sums(roll, snapshot);
}
