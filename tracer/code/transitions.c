// SPDX-License-Identifier: MIT
// Keeps two rings of specialisation changes, and a hash table (linear probing)
// of pairs of opcodes. The hash table never forgets a pair.
#include "tracer/code/transitions.h"
#include "ipc/base/heap.h"

#include <stdlib.h>
#include <string.h>

// Number of slots of the hash table that are tried for a pair.
#define PROBES 64

void Transitions_init(struct Transitions *transitions,
                      const struct Opcodes *opcodes, const struct Clock *clock,
                      uint64_t start_ticks)
{
    memset(transitions, 0, sizeof *transitions);
    pthread_mutex_init(&transitions->mutex, NULL);
    transitions->opcodes = opcodes;
    transitions->clock = clock;
    transitions->start_ticks = start_ticks;
    transitions->ms_ticks = (uint64_t)(Clock_hz(clock) / 1000);
}

static void forget(struct Transitions *transitions, struct Change *change)
{
    struct Label *label = change->label;

    change->label = NULL;
    if (!label || --label->refs)
        return;
    if (transitions->label == label)
        transitions->label = NULL;
    Heap_free(label);
}

static struct Label *make_label(const struct Change *change)
{
    size_t function = strlen(change->function) + 1;
    size_t file = strlen(change->file) + 1;
    struct Label *label = Heap_alloc(sizeof *label + function + file);

    if (!label)
        return NULL;
    label->refs = 1;
    label->file = label->function + function;
    memcpy(label->function, change->function, function);
    memcpy(label->function + function, change->file, file);
    return label;
}

// Returns the label of the newest change if it was in the same function,
// otherwise a new label. Returns NULL if memory is out.
static struct Label *label_of(struct Transitions *transitions,
                              const struct Change *change)
{
    if (transitions->label && transitions->label_id == change->id) {
        transitions->label->refs++;
        return transitions->label;
    }
    transitions->label = make_label(change);
    transitions->label_id = change->id;
    return transitions->label;
}

void Transitions_release(struct Transitions *transitions)
{
    size_t i;

    for (i = 0; i < TRANSITIONS_KEPT; i++) {
        forget(transitions, &transitions->first.changes[i]);
        forget(transitions, &transitions->turned.changes[i]);
    }
    pthread_mutex_destroy(&transitions->mutex);
}

void Transitions_lock(struct Transitions *transitions)
{
    pthread_mutex_lock(&transitions->mutex);
}

bool Transitions_try(struct Transitions *transitions)
{
    return pthread_mutex_trylock(&transitions->mutex) == 0;
}

void Transitions_unlock(struct Transitions *transitions)
{
    pthread_mutex_unlock(&transitions->mutex);
}

static void count_pair(struct Transitions *transitions, uint8_t from,
                       uint8_t to)
{
    size_t start = (from * 31u + to) % TRANSITIONS_PAIRS, i;

    for (i = 0; i < PROBES; i++) {
        struct PairCount *pair =
            &transitions->pairs[(start + i) % TRANSITIONS_PAIRS];

        if (pair->count && (pair->from != from || pair->to != to))
            continue;
        pair->from = from;
        pair->to = to;
        pair->count++;
        return;
    }
    transitions->other++;
}

void Transitions_add(struct Transitions *transitions,
                     const struct Change *change)
{
    const struct Opcodes *opcodes = transitions->opcodes;
    // Without memory for a label, the change has no name and no file.
    struct Label *label = label_of(transitions, change);
    struct ChangeLog *log = opcodes->base[change->from] == change->from
                                ? &transitions->first
                                : &transitions->turned;
    struct Change *slot = &log->changes[log->count++ % TRANSITIONS_KEPT];

    forget(transitions, slot);
    *slot = *change;
    slot->order = transitions->count++;
    slot->function = label ? label->function : NULL;
    slot->file = label ? label->file : NULL;
    slot->label = label;
    // Viewers identify a change by its time, so the time is computed only once.
    // A second computation could give another time, because the rate of the
    // clock is corrected during the run.
    slot->seen_at_s =
        (double)(int64_t)(change->ticks - transitions->start_ticks) /
        Clock_hz(transitions->clock);
    count_pair(transitions, change->from, change->to);
}

// --- Filling of a snapshot, with the mutex held ---

// Returns the newest change of a log that is older than the `taken` newest
// ones, or NULL.
static const struct Change *newest(const struct ChangeLog *log, size_t taken)
{
    size_t kept =
        log->count < TRANSITIONS_KEPT ? (size_t)log->count : TRANSITIONS_KEPT;

    if (taken == kept)
        return NULL;
    return &log->changes[(log->count - 1 - taken) % TRANSITIONS_KEPT];
}

// Returns true if a specialised form was replaced by the base opcode or by
// another specialised form.
static bool is_deopt(const struct Opcodes *opcodes, uint8_t from, uint8_t to)
{
    return opcodes->flags[from] & OPCODE_SPECIALIZED &&
           !(opcodes->flags[to] & OPCODE_EXECUTOR);
}

static void fill_row(const struct Transitions *transitions,
                     struct Transition *row, const struct Change *change,
                     struct Snapshot *snapshot)
{
    row->seen_at_s = change->seen_at_s;
    row->function = Snapshot_text(snapshot, change->function);
    row->file = Snapshot_text(snapshot, change->file);
    row->line = change->line ? change->line : NULL_U64;
    row->offset = change->offset;
    row->from = Opcodes_text(transitions->opcodes, change->from);
    row->to = Opcodes_text(transitions->opcodes, change->to);
    row->storm = change->storm;
    row->id = change->id;
    row->deopt = is_deopt(transitions->opcodes, change->from, change->to);
}

static void fill_log(const struct Transitions *transitions,
                     struct Snapshot *snapshot)
{
    size_t first = 0, turned = 0;
    struct Transition *rows =
        Snapshot_alloc(snapshot, (2 * TRANSITIONS_KEPT) * sizeof *rows);

    if (!rows)
        return;
    for (;;) {
        const struct Change *a = newest(&transitions->first, first);
        const struct Change *b = newest(&transitions->turned, turned);

        if (!a && !b)
            break;
        if (a && (!b || a->order > b->order)) {
            fill_row(transitions, &rows[first + turned], a, snapshot);
            first++;
        } else {
            fill_row(transitions, &rows[first + turned], b, snapshot);
            turned++;
        }
    }
    snapshot->transitions = rows;
    snapshot->transition_count = first + turned;
}

static int more_first(const void *left, const void *right)
{
    const struct TransitionPair *a = left, *b = right;
    int order = strcmp(a->from, b->from);

    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return order ? order : strcmp(a->to, b->to);
}

static void fill_pairs(const struct Transitions *transitions,
                       struct Snapshot *snapshot)
{
    struct TransitionPair *rows;
    size_t i, room = transitions->other != 0, count = 0;

    for (i = 0; i < TRANSITIONS_PAIRS; i++)
        room += transitions->pairs[i].count != 0;
    rows = Snapshot_alloc(snapshot, (room + 1) * sizeof *rows);
    if (!rows)
        return;
    for (i = 0; i < TRANSITIONS_PAIRS; i++) {
        const struct PairCount *pair = &transitions->pairs[i];

        if (pair->count)
            rows[count++] = (struct TransitionPair){
                Opcodes_text(transitions->opcodes, pair->from),
                Opcodes_text(transitions->opcodes, pair->to), pair->count,
                is_deopt(transitions->opcodes, pair->from, pair->to)};
    }
    if (transitions->other)
        rows[count++] = (struct TransitionPair){"(other)", "(other)",
                                                transitions->other, NULL_U64};
    qsort(rows, count, sizeof *rows, more_first);
    snapshot->transition_pairs = rows;
    snapshot->transition_pair_count = count;
}

void Transitions_fill(struct Transitions *transitions,
                      struct Snapshot *snapshot)
{
    pthread_mutex_lock(&transitions->mutex);
    fill_log(transitions, snapshot);
    fill_pairs(transitions, snapshot);
    pthread_mutex_unlock(&transitions->mutex);
}

size_t Transitions_since(struct Transitions *transitions, uint64_t *from,
                         struct Change changes[2 * TRANSITIONS_KEPT])
{
    const struct ChangeLog *logs[] = {&transitions->first,
                                      &transitions->turned};
    const struct Change *change;
    size_t i, taken, count = 0;

    pthread_mutex_lock(&transitions->mutex);
    for (i = 0; i < sizeof logs / sizeof *logs; i++)
        for (taken = 0; (change = newest(logs[i], taken)) != NULL &&
                        change->order >= *from;
             taken++) {
            changes[count] = *change;
            changes[count].function = changes[count].file = NULL;
            changes[count++].label = NULL;
        }
    *from = transitions->count;
    pthread_mutex_unlock(&transitions->mutex);
    return count;
}
