// SPDX-License-Identifier: MIT
#include "tracer/session/object_board.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"

#include <math.h>
#include <string.h>
#include <time.h>

// Births and deaths of objects are counted for this number of ns after the last
// request.
#define ASKED_NS 10000000000ull
// The sums of births and deaths are kept for this number of ns after the last
// request.
#define KEPT_NS 80000000000ull
#define TYPES_MOST 57 // Types in a table, so that all their lines have room.
#define NOT_TRACED "(not traced)"

void ObjectBoard_init(struct ObjectBoard *board, bool always)
{
    memset(board, 0, sizeof *board);
    board->always = always;
    pthread_mutex_init(&board->mutex, NULL);
}

void ObjectBoard_release(struct ObjectBoard *board)
{
    Heap_free(board->table);
    pthread_mutex_destroy(&board->mutex);
}

static bool is_asked_within(const struct ObjectBoard *board, uint64_t ns)
{
    uint64_t asked =
        atomic_load_explicit(&board->asked_ns, memory_order_relaxed);

    return board->always || (asked && Now_ns(CLOCK_MONOTONIC) - asked < ns);
}

bool ObjectBoard_is_asked(const struct ObjectBoard *board)
{
    return is_asked_within(board, ASKED_NS);
}

bool ObjectBoard_is_kept(const struct ObjectBoard *board)
{
    return is_asked_within(board, KEPT_NS);
}

bool ObjectBoard_ask(struct ObjectBoard *board)
{
    bool asked = ObjectBoard_is_asked(board);

    atomic_store_explicit(&board->asked_ns, Now_ns(CLOCK_MONOTONIC),
                          memory_order_relaxed);
    return !asked;
}

struct ObjectTable *ObjectBoard_set(struct ObjectBoard *board,
                                    struct ObjectTable *table,
                                    const char *trouble)
{
    struct ObjectTable *old;

    pthread_mutex_lock(&board->mutex);
    old = board->table;
    board->table = table;
    board->trouble = trouble;
    pthread_mutex_unlock(&board->mutex);
    return old;
}

// --- The table -------------------------------------------------------------

struct Creator {
    // Id of the function, or 0 for all functions that are not traced.
    uint32_t id;
    double order; // The most important creator has the largest `order`.
    struct ObjectPairSums sums; // There are no births if there is no creator.
};

struct Choice {
    uint16_t name;
    double order; // The most important choice has the largest `order`.
    struct ObjectRates rates;
    // Sums of all functions that are not traced.
    struct ObjectPairSums not_traced;
    struct Creator creators[OBJECT_CREATORS]; // The most important creators.
};

// The table begins with types whose number of objects grows. The first type is
// the one whose number of objects surely grows most.
static double order_of(const struct ObjectRates *rates)
{
    double busy = rates->born + (isnan(rates->died) ? 0 : rates->died);

    return rates->grows ? 1e15 + rates->net - rates->net_error : busy;
}

// Chooses the most important names of types, and returns their number. The
// choices are sorted as they come, because the program's thread may have a
// small stack without room for all names.
static size_t choose(const struct Objects *objects,
                     struct Choice choices[TYPES_MOST + 1])
{
    size_t count = 0, at;

    for (uint16_t i = 0; i < objects->names; i++) {
        struct ObjectRates rates = Objects_rates(objects, &objects->sums[i]);
        double order = order_of(&rates);

        if (!(rates.born > 0 || rates.died > 0))
            continue;
        for (at = count; at && choices[at - 1].order < order; at--)
            choices[at] = choices[at - 1];
        choices[at] =
            (struct Choice){.name = i, .order = order, .rates = rates};
        count += count < TYPES_MOST;
    }
    return count;
}

// Adds a function to those that create objects of the type. Functions with the
// most births come first. If the number of objects grows, functions whose
// objects stay alive come first.
static void add_creator(struct Choice *choice, const struct Objects *objects,
                        uint32_t id, const struct ObjectPairSums *sums)
{
    struct Creator creator = {id, sums->born, *sums};

    if (choice->rates.grows)
        creator.order += 1e15 * fmax(Objects_pair_growth(objects, sums), 0);
    for (int i = 0; i < OBJECT_CREATORS; i++) {
        struct Creator there = choice->creators[i];

        if (creator.order > there.order) {
            choice->creators[i] = creator;
            creator = there;
        }
    }
}

static void add_lines(struct ObjectTable *table, const struct Objects *objects,
                      const struct Choice *choice)
{
    const struct ObjectSums *sums = &objects->sums[choice->name];
    struct ObjectLine *line = &table->lines[table->count++];

    *line = (struct ObjectLine){.total = true,
                                .rates = choice->rates,
                                .born = sums->counted_born,
                                .died = sums->counted_died};
    memcpy(line->type, sums->name, sizeof line->type);
    for (int i = 0; i < OBJECT_CREATORS && choice->creators[i].order > 0; i++) {
        struct ObjectLine *creator = &table->lines[table->count++];

        *creator = (struct ObjectLine){
            .id = choice->creators[i].id,
            .rates = {Objects_pair_rate(objects, &choice->creators[i].sums),
                      NAN, NAN, NAN, NAN, false},
            .born = NULL_U64,
            .died = NULL_U64};
        memcpy(creator->type, sums->name, sizeof creator->type);
    }
}

void ObjectTable_fill(struct ObjectTable *table, const struct Objects *objects)
{
    struct Choice choices[TYPES_MOST + 1];
    size_t count = choose(objects, choices);
    // 1 plus the index of the name's choice, or 0.
    uint8_t of[OBJECT_NAMES] = {0};

    for (size_t i = 0; i < count; i++)
        of[choices[i].name] = (uint8_t)(i + 1);
    for (uint32_t i = 1; i < objects->pairs; i++) {
        const struct ObjectPair *pair = &objects->pair[i];
        const struct ObjectPairSums *sums = &objects->pair_sums[i];
        struct Choice *choice;

        if (!of[pair->of])
            continue;
        choice = &choices[of[pair->of] - 1];
        if (pair->id) {
            add_creator(choice, objects, pair->id, sums);
        } else {
            choice->not_traced.born += sums->born;
            choice->not_traced.net += sums->net;
            choice->not_traced.net_s += sums->net_s;
        }
    }
    table->count = 0;
    table->part = Objects_part(objects);
    for (size_t i = 0; i < count; i++) {
        add_creator(&choices[i], objects, 0, &choices[i].not_traced);
        add_lines(table, objects, &choices[i]);
    }
}

// --- The snapshot ----------------------------------------------------------

// Fills in the function of a row.
static void fill_function(struct Snapshot *snapshot, struct ObjectRow *row,
                          struct NameQuery *query, uint32_t id)
{
    struct PerfettoName name;

    row->function = Snapshot_text(snapshot, NOT_TRACED);
    if (!id || !NameQuery_find(query, id, &name))
        return;
    row->id = id;
    row->line = name.line;
    row->function = Snapshot_text(snapshot, name.name);
    row->file = Snapshot_text(snapshot, name.file);
}

static void fill_row(struct Snapshot *snapshot, struct ObjectRow *row,
                     const struct ObjectLine *line, struct NameQuery *query)
{
    Record_clear(&OBJECT_RECORD, row);
    row->type = Snapshot_text(snapshot, line->type);
    row->born_per_s = line->rates.born;
    row->died_per_s = line->rates.died;
    row->net_per_s = line->rates.net;
    row->born_error = line->rates.born_error;
    row->net_error = line->rates.net_error;
    row->born = line->born;
    row->died = isnan(line->rates.died) ? NULL_U64 : line->died;
    if (line->total)
        row->grows = isnan(line->rates.net) ? NULL_U64 : line->rates.grows;
    else
        fill_function(snapshot, row, query, line->id);
}

void ObjectBoard_fill(struct ObjectBoard *board, struct Snapshot *snapshot,
                      struct Engine *engine)
{
    const struct ObjectTable *table;
    struct ObjectRow *rows = NULL;
    struct NameQuery query;

    NameQuery_init(&query, &engine->names, engine->registry);
    pthread_mutex_lock(&board->mutex);
    snapshot->objects_trouble = Snapshot_text(snapshot, board->trouble);
    table = board->table;
    if (table && table->count)
        rows = Snapshot_alloc(snapshot, table->count * sizeof *rows);
    for (size_t i = 0; rows && i < table->count; i++)
        fill_row(snapshot, &rows[i], &table->lines[i], &query);
    if (table)
        snapshot->objects_part = table->part;
    if (rows)
        snapshot->objects_type_count = table->count;
    snapshot->objects_types = rows;
    pthread_mutex_unlock(&board->mutex);
    NameQuery_release(&query);
}
