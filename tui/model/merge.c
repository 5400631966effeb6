// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // qsort_r
#include "tui/model/merge.h"

#include "ipc/base/utf8.h"
#include "tui/model/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MOST 200 // Bytes of a thread's name.
// The pieces of a record that is merged from at most PIECES processes are on
// the C stack. If a record is merged from more pieces, their array is
// allocated.
#define PIECES 256
// Only a map with more ids is cleared of the ids of functions that are gone.
#define LEAST_IDS 64

// Returns the list with this name in the table of the snapshot.
static const struct Field *list_field(const char *name)
{
    for (size_t i = 0; i < SNAPSHOT_RECORD.field_count; i++)
        if (SNAPSHOT_RECORD.fields[i].type == FIELD_LIST &&
            !strcmp(SNAPSHOT_RECORD.fields[i].name, name))
            return &SNAPSHOT_RECORD.fields[i];
    return NULL;
}

// Returns the member with this name.
static const struct Field *member_of(const struct Record *record,
                                     const char *name)
{
    const struct Field *field = record->fields;
    while (strcmp(field->name, name) != 0)
        field++;
    return field;
}

const char *Merge_lacks(size_t index, const char **group)
{
    const struct Record *records[] = {&SNAPSHOT_RECORD,
                                      list_field("functions")->record};
    for (int r = 0; r < 2; r++)
        for (size_t i = 0; i < records[r]->field_count; i++) {
            const struct Field *field = &records[r]->fields[i];
            if (field->how != FOLD_NONE || index--)
                continue;
            *group = r ? "functions" : field->group;
            return field->name;
        }
    return NULL;
}

// --- The work

struct Work {
    struct Merge *merge;
    const struct MergeRequest *request;
    struct Snapshot *out;
    const struct Record *function; // The table of struct Function.
    bool failed;                   // Memory is out.
};

// struct Found is one process's record. All records that are merged into the
// same record are neighbours in struct FoundList.
struct Found {
    uint64_t group; // Number of the merged record, from 1 on.
    const void *record;
    uint32_t part;
};

struct FoundList {
    struct Found *items;
    size_t count;
    size_t *begins; // Index of each group's first item, and of the end.
};

// Returns a hash of the record's key fields, or 0 if the record has none.
static uint64_t hash_of(const struct Record *record, const void *value)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        const void *at = (const char *)value + field->offset;
        if (field->how != FOLD_KEY)
            continue;
        hash = hash ? hash : UINT64_C(0xCBF29CE484222325);
        if (field->type == FIELD_TEXT)
            hash = Utf8_hash(hash, *(const char *const *)at);
        else
            hash =
                (hash ^ *(const uint64_t *)at) * UINT64_C(0x9E3779B97F4A7C15);
    }
    return hash;
}

// Returns the id of a function's merged row. Returns 0 if memory is out.
static uint64_t take_id(struct Work *work, const struct MergePart *part,
                        const struct Function *function)
{
    if (!part->ids)
        return function->id;
    uint64_t *known = IdMap_at(part->ids, function->id);
    if (known && !*known) {
        uint64_t *id =
            IdMap_at(&work->merge->names, hash_of(work->function, function));
        if (id && !*id)
            *id = ++work->merge->last_id;
        *known = id ? *id : 0;
    }
    work->failed |= !known || !*known;
    return known ? *known : 0;
}

// Removes the ids of functions that no longer exist, if these are most of the
// process's ids.
static void forget_ids(const struct MergePart *part)
{
    const struct Snapshot *from = part->snapshot;
    struct IdMap kept = {.count = 0};
    if (!part->ids || part->ids->count < 2 * from->function_count + LEAST_IDS)
        return;
    for (size_t i = 0; i < from->function_count; i++) {
        uint64_t *merged = IdMap_at(&kept, from->functions[i].id);
        if (merged) // Otherwise take_id finds the merged id again.
            *merged = IdMap_find(part->ids, from->functions[i].id);
    }
    IdMap_release(part->ids);
    *part->ids = kept;
}

// Converts a process's function id into the id of the merged row. Returns null
// if the function has no merged row.
static uint64_t map_id(const struct MergePart *part, uint64_t id)
{
    if (!part->ids || id == NULL_U64)
        return id;
    uint64_t merged = IdMap_find(part->ids, id);
    return merged ? merged : NULL_U64;
}

// Sorts the records by group (counting sort).
static void sort_found(struct Work *work, struct FoundList *list, size_t groups)
{
    struct Found *sorted = calloc(list->count + 1, sizeof *sorted);
    size_t *begins = calloc(groups + 2, sizeof *begins);
    work->failed |= !sorted || !begins;
    if (!work->failed) {
        for (size_t i = 0; i < list->count; i++)
            begins[list->items[i].group + 1]++;
        for (size_t i = 1; i < groups + 2; i++)
            begins[i] += begins[i - 1];
        for (size_t i = 0; i < list->count; i++)
            sorted[begins[list->items[i].group]++] = list->items[i];
        // Begins[g] is now the end of group g.
    }
    free(list->items);
    list->items = sorted;
    list->begins = begins;
}

static void release_found(struct FoundList *list)
{
    free(list->items);
    free(list->begins);
}

static double weight_of(const struct Function *function)
{
    double calls = function->calls_estimated;
    return isnan(calls) ? Row_u64(function->calls) : calls;
}

static struct FoldPiece piece_of(const struct Work *work, uint32_t part,
                                 const void *record)
{
    const struct MergePart *from = &work->request->parts[part];
    return (struct FoldPiece){
        .record = record,
        .age = from->age,
        .run = from->snapshot->uptime_s / work->request->uptime_s,
        .silent_s = from->age == FOLD_SILENT ? from->silent_s : 0};
}

static void fold_found(struct Work *work, const struct Record *record,
                       void *out, const struct Found *found, size_t count)
{
    struct FoldPiece few[PIECES], *pieces = few;
    if (count > PIECES)
        pieces = calloc(count, sizeof *pieces);
    work->failed |= !pieces;
    if (!pieces || !count)
        return;
    for (size_t i = 0; i < count; i++)
        pieces[i] = piece_of(work, found[i].part, found[i].record);
    if (record == work->function)
        for (size_t i = 0; i < count; i++)
            pieces[i].weight = weight_of(found[i].record);
    Fold_make(record, out, pieces, count);
    if (pieces != few)
        free(pieces);
}

static const char *own_text(struct Work *work, const char *text)
{
    const char *copy = Snapshot_text(work->out, text);
    work->failed |= text && !copy;
    return copy;
}

static void *allocate(struct Work *work, size_t count, size_t size)
{
    void *memory = Snapshot_alloc(work->out, (count + 1) * size);
    work->failed |= !memory;
    return memory;
}

// --- Functions

static void add_calls(struct Function *out, const struct Found *found,
                      size_t count)
{
    double sum = 0, squares = 0;
    bool known = false, sure = false;
    for (size_t i = 0; i < count; i++) {
        const struct Function *from = found[i].record;
        double estimated = from->calls_estimated;
        double error = from->calls_error * estimated;
        known |= isfinite(estimated);
        sure |= isfinite(error);
        estimated = isfinite(estimated) ? estimated : Row_u64(from->calls);
        sum += isfinite(estimated) ? estimated : 0;
        squares += isfinite(error) ? error * error : 0;
    }
    out->calls_estimated = known ? sum : NAN;
    out->calls_error = sure && sum > 0 ? sqrt(squares) / sum : NAN;
}

static void add_state(struct Work *work, struct Function *out,
                      const struct Found *found, size_t count)
{
    bool has[STATE_DARK + 1] = {false};
    int kinds = 0;
    for (size_t i = 0; i < count; i++) {
        const struct Function *from = found[i].record;
        if (work->request->parts[found[i].part].age == FOLD_ENDED ||
            from->state > STATE_DARK)
            continue;
        kinds += !has[from->state];
        has[from->state] = true;
        out->state = from->state;
    }
    if (kinds > 1)
        out->state = STATE_PARTIAL;
    uint64_t *states[] = {&work->out->states_armed, &work->out->states_partial,
                          &work->out->states_dark};
    if (out->state <= STATE_DARK)
        ++*states[out->state];
}

static void add_caller(struct Caller *callers, size_t *count,
                       struct Caller caller)
{
    for (size_t i = 0; i < *count; i++)
        if (callers[i].id == caller.id) {
            callers[i].share += caller.share;
            return;
        }
    callers[(*count)++] = caller;
}

static void add_callers(struct Work *work, struct Function *out,
                        const struct Found *found, size_t count)
{
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room += ((const struct Function *)found[i].record)->caller_count;
    struct Caller *callers = allocate(work, room, sizeof *callers);
    for (size_t i = 0; callers && i < count; i++) {
        const struct Function *from = found[i].record;
        const struct MergePart *part = &work->request->parts[found[i].part];
        for (size_t k = 0; part->age == FOLD_LIVE && k < from->caller_count;
             k++)
            add_caller(callers, &out->caller_count,
                       (struct Caller){map_id(part, from->callers[k].id),
                                       from->callers[k].share});
    }
    out->callers = callers;
}

static void add_shares(double *to, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = Row_sum(to[i], from[i]);
}

// Adds the parts of the waiting time and of the total time.
static void add_parts(struct Work *work, struct Function *out,
                      const struct Found *found, size_t count)
{
    struct WaitShares *waits = allocate(work, 1, sizeof *waits);
    struct PartShares *parts = allocate(work, 1, sizeof *parts);
    size_t wait_size = sizeof *waits / sizeof(double);
    size_t part_size = sizeof *parts / sizeof(double);
    for (size_t i = 0; waits && i < wait_size; i++)
        waits->of[i] = NAN;
    for (size_t i = 0; parts && i < part_size; i++)
        ((double *)parts)[i] = NAN;
    for (size_t i = 0; waits && parts && i < count; i++) {
        const struct Function *from = found[i].record;
        if (work->request->parts[found[i].part].age != FOLD_LIVE)
            continue;
        out->wait_count |= from->wait_count != 0;
        out->total_part_count |= from->total_part_count != 0;
        if (from->wait_count)
            add_shares(waits->of, from->waits->of, wait_size);
        if (from->total_part_count)
            add_shares((double *)parts, (const double *)from->total_parts,
                       part_size);
    }
    out->waits = waits;
    out->total_parts = parts;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Returns how slow a function is in one process, in seconds. The result is the
// function's P99, or the age of a call that hangs.
static double slowness(const struct Function *function, double silent_s)
{
    struct Function aged = *function;
    aged.oldest_s += silent_s;
    bool hangs = Row_hangs(&(struct Row){.now = &aged});
    return hangs ? fmax(aged.oldest_s, aged.wall_p99_s) : aged.wall_p99_s;
}

struct Rank { // The same number in all processes.
    pid_t top;
    double most;
    double sum; // Sum of the numbers of all processes.
    double values[PIECES];
    size_t count;
};

static void rank(struct Rank *rank, pid_t pid, double value)
{
    if (isnan(value) || rank->count == PIECES)
        return;
    if (!rank->count || value > rank->most) {
        rank->most = value;
        rank->top = pid;
    }
    rank->sum += value;
    rank->values[rank->count++] = value;
}

// Compares the largest number with the mean of the other workers. A worker that
// does not have the function counts with the number 0. The master is not a
// worker.
static struct Standout by_mean(const struct Work *work, const struct Rank *rank,
                               double least)
{
    double others = 0;
    for (size_t i = 0; i < work->request->count; i++) {
        const struct MergePart *part = &work->request->parts[i];
        others += part->age == FOLD_LIVE && part->pid != rank->top &&
                  (uint64_t)part->pid != work->request->pid;
    }
    double usual = others > 0 ? (rank->sum - rank->most) / others : NAN;
    bool any = rank->count && rank->most > 0;
    double times = any ? rank->most / usual : NAN;
    return (struct Standout){.pid = any ? rank->top : 0,
                             .times = times,
                             .out = times >= STANDOUT_TIMES &&
                                    rank->most >= least};
}

static struct Standout by_median(struct Rank *rank)
{
    double usual = NAN;
    qsort(rank->values, rank->count, sizeof *rank->values, by_value);
    // The last value is the largest one and belongs to the process `top`.
    if (rank->count > 1)
        usual = rank->values[(rank->count - 2) / 2];
    double times = rank->most / usual;
    return (struct Standout){.pid = rank->count ? rank->top : 0,
                             .times = times,
                             .out = times >= STANDOUT_TIMES &&
                                    rank->most >= STANDOUT_S};
}

static void stand_out(struct Work *work, struct FunctionStandouts *out,
                      const struct Found *found, size_t count)
{
    struct Rank busy = {.most = NAN}, rate = {.most = NAN}, slow = {.count = 0};
    slow.most = NAN;
    for (size_t i = 0; i < count;) {
        uint32_t number = found[i].part;
        const struct MergePart *part = &work->request->parts[number];
        double share = NAN, calls = NAN, slowest = NAN;
        double silent_s = part->age == FOLD_SILENT ? part->silent_s : 0;
        for (; i < count && found[i].part == number; i++) {
            const struct Function *from = found[i].record;
            share = Row_sum(share, from->share);
            calls = Row_sum(calls, from->calls_per_s);
            slowest = fmax(slowest, slowness(from, silent_s));
        }
        if (part->age != FOLD_ENDED)
            rank(&slow, part->pid, slowest);
        if (part->age != FOLD_LIVE)
            continue;
        rank(&busy, part->pid, share);
        rank(&rate, part->pid, calls);
    }
    out->busy = busy.count ? by_mean(work, &busy, STANDOUT_SHARE)
                           : by_mean(work, &rate, 0);
    out->slow = by_median(&slow);
}

static struct FoundList find_functions(struct Work *work)
{
    const struct MergeRequest *request = work->request;
    struct FoundList list = {.count = 0};
    size_t room = 1;
    for (size_t i = 0; i < request->count; i++)
        room += request->parts[i].snapshot->function_count;
    list.items = calloc(room, sizeof *list.items);
    work->failed |= !list.items;
    for (uint32_t i = 0; list.items && i < request->count; i++) {
        const struct Snapshot *from = request->parts[i].snapshot;
        forget_ids(&request->parts[i]);
        for (size_t k = 0; k < from->function_count; k++)
            list.items[list.count++] = (struct Found){
                .group = take_id(work, &request->parts[i], &from->functions[k]),
                .record = &from->functions[k],
                .part = i};
    }
    if (!work->failed)
        sort_found(work, &list, work->merge->last_id);
    return list;
}

static void merge_functions(struct Work *work, struct Standouts *standouts)
{
    struct FoundList list = find_functions(work);
    size_t groups = work->merge->last_id, count = 0;
    struct Function *functions = allocate(work, groups, sizeof *functions);
    work->out->states_armed = work->out->states_partial = 0;
    work->out->states_dark = 0;
    for (uint64_t id = 1; id <= groups && !work->failed; id++) {
        const struct Found *found = list.items + list.begins[id - 1];
        size_t pieces = list.begins[id] - list.begins[id - 1];
        struct Function *out = &functions[count];
        if (!pieces)
            continue;
        Record_clear(work->function, out);
        fold_found(work, work->function, out, found, pieces);
        out->id = id;
        out->name = own_text(work, out->name);
        out->file = own_text(work, out->file);
        add_calls(out, found, pieces);
        add_state(work, out, found, pieces);
        add_callers(work, out, found, pieces);
        add_parts(work, out, found, pieces);
        if (standouts)
            stand_out(work, &standouts->items[id - 1], found, pieces);
        count++;
    }
    release_found(&list);
    work->out->functions = functions;
    work->out->function_count = work->out->functions_total = count;
}

// --- Lists whose records are merged by their keys

// Returns the name of a thread or task, preceded by the process id.
static const char *own_thread(struct Work *work, const struct MergePart *part,
                              const char *name)
{
    char text[NAME_MOST];
    snprintf(text, sizeof text, "%d %s", (int)part->pid, name ? name : "");
    return own_text(work, text);
}

// Copies the await chain of a process's task. Sets *count to the number of
// places in the chain.
static const struct StackPlace *copy_chain(struct Work *work,
                                           const struct StackPlace *from,
                                           size_t *count,
                                           const struct MergePart *part)
{
    struct StackPlace *chain = allocate(work, *count, sizeof *chain);
    for (size_t i = 0; chain && i < *count; i++)
        chain[i] = (struct StackPlace){
            map_id(part, from[i].id), own_text(work, from[i].name),
            own_text(work, from[i].file), from[i].line};
    *count = chain ? *count : 0;
    return chain;
}

struct Order {
    const struct Field *member;
    int sign; // 1: the smallest number is first. -1: the largest one is.
};

static int compare(const void *a, const void *b, void *context)
{
    const struct Order *by = context;
    double x = Fold_value(by->member, a), y = Fold_value(by->member, b);
    return isnan(x) || isnan(y) ? isnan(x) - isnan(y)
                                : by->sign * ((x > y) - (x < y));
}

// Sorts records by a number. Records without this number come last.
static void sort(const struct Record *record, void *items, size_t count,
                 const char *member, int sign)
{
    struct Order by = {member_of(record, member), sign};
    if (count)
        qsort_r(items, count, record->size, compare, &by);
}

// Joins the lists of single tasks of all processes. The process id is put
// before a task's name, because each process has a task with the name Task-1.
static void join_tasks(struct Work *work, struct TaskGroup *out,
                       const struct Found *found, size_t count)
{
    const struct Record *groups = list_field("groups")->record;
    const struct Record *record = member_of(groups, "tasks")->record;
    size_t room = 0;
    for (size_t i = 0; i < count; i++)
        room += ((const struct TaskGroup *)found[i].record)->task_count;
    struct TaskRow *tasks = allocate(work, room, sizeof *tasks);
    out->tasks = tasks;
    out->task_count = 0;
    for (size_t i = 0; tasks && i < count; i++) {
        const struct TaskGroup *from = found[i].record;
        const struct MergePart *part = &work->request->parts[found[i].part];
        for (size_t k = 0; k < from->task_count; k++) {
            struct TaskRow *task = &tasks[out->task_count++];
            *task = from->tasks[k];
            task->name = own_thread(work, part, task->name);
            task->state = own_text(work, task->state);
            task->waits_for = own_text(work, task->waits_for);
            task->awaited_by = own_text(work, task->awaited_by);
            task->chain =
                copy_chain(work, task->chain, &task->chain_count, part);
        }
    }
    sort(record, tasks, out->task_count, "age_s", -1);
}

// For a merged group of tasks, copies the line at which most tasks of one
// process wait, and the await chain of the oldest task.
static void finish_task(struct Work *work, struct TaskGroup *out,
                        const struct Found *found, size_t count)
{
    const struct TaskGroup *most = NULL, *oldest = NULL;
    const struct MergePart *owner = NULL;
    for (size_t i = 0; i < count; i++) {
        const struct TaskGroup *from = found[i].record;
        const struct MergePart *part = &work->request->parts[found[i].part];
        if (from->chain_count && (!oldest || isnan(oldest->oldest_s) ||
                                  from->oldest_s > oldest->oldest_s)) {
            oldest = from;
            owner = part;
        }
        if (from->wait_count != NULL_U64 &&
            (!most || from->wait_count > most->wait_count))
            most = from;
    }
    join_tasks(work, out, found, count);
    if (oldest) {
        out->task = oldest->task;
        out->chain_count = oldest->chain_count;
        out->chain = copy_chain(work, oldest->chain, &out->chain_count, owner);
    }
    if (!most)
        return;
    out->waits_in = most->waits_in;
    out->wait_file = most->wait_file;
    out->wait_line = most->wait_line;
    out->wait_count = most->wait_count;
}

static void finish_exception(struct Work *work, struct ExceptionRow *out,
                             const struct Found *found, size_t count)
{
    double squares = 0;
    bool known = false;
    for (size_t i = 0; i < count; i++) {
        const struct ExceptionRow *from = found[i].record;
        double begin_s = work->request->parts[found[i].part].begin_s;
        double error = from->error * Row_u64(from->raised);
        known |= isfinite(error);
        squares += isfinite(error) ? error * error : 0;
        out->first_s = fmin(out->first_s, from->first_s + begin_s);
    }
    if (known && out->raised > 0 && out->raised != NULL_U64)
        out->error = sqrt(squares) / (double)out->raised;
}

static void own_texts(struct Work *work, const struct Record *record, char *out)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        const char *text;
        if (field->type != FIELD_TEXT)
            continue;
        memcpy(&text, out + field->offset, sizeof text);
        text = own_text(work, text);
        memcpy(out + field->offset, &text, sizeof text);
    }
}

static size_t size_of(const struct Field *list, const struct Snapshot *from)
{
    const char *count = (const char *)from + list->count_offset;
    return *(const size_t *)(const void *)count;
}

static const char *items_of(const struct Field *list,
                            const struct Snapshot *from)
{
    const char *items = (const char *)from + list->offset;
    return *(const char *const *)(const void *)items;
}

static void set_list(const struct Field *list, struct Snapshot *out,
                     const char *items, size_t count)
{
    memcpy((char *)out + list->offset, &items, sizeof items);
    memcpy((char *)out + list->count_offset, &count, sizeof count);
}

// Finds the records of a list in all processes. Records without keys belong
// together if they have the same index in their lists. Sets *groups to the
// number of merged records.
static struct FoundList find_records(struct Work *work,
                                     const struct Field *list, size_t *groups)
{
    const struct MergeRequest *request = work->request;
    struct FoundList found = {.count = 0};
    struct IdMap numbers = {.count = 0};
    size_t room = 1;
    for (size_t i = 0; i < request->count; i++)
        room += size_of(list, request->parts[i].snapshot);
    found.items = calloc(room, sizeof *found.items);
    work->failed |= !found.items;
    *groups = 0;
    for (uint32_t i = 0; i < request->count; i++) {
        const struct MergePart *part = &request->parts[i];
        const char *record = items_of(list, part->snapshot);
        size_t size =
            part->age < list->from ? 0 : size_of(list, part->snapshot);
        for (size_t k = 0; k < size && !work->failed; k++) {
            uint64_t hash = hash_of(list->record, record);
            uint64_t *group = IdMap_at(&numbers, hash ? hash : k + 1);
            work->failed |= !group;
            if (group && !*group)
                *group = ++*groups;
            found.items[found.count++] =
                (struct Found){group ? *group : 0, record, i};
            record += list->record->size;
        }
    }
    IdMap_release(&numbers);
    if (!work->failed)
        sort_found(work, &found, *groups);
    return found;
}

// Sets the ids of functions in a merged record.
static void set_ids(const struct Work *work, const struct Record *record,
                    char *out, const struct Found *found, size_t count)
{
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        uint64_t id = NULL_U64;
        if (field->how != FOLD_ID)
            continue;
        for (size_t k = 0; k < count && id == NULL_U64; k++) {
            const char *from = (const char *)found[k].record + field->offset;
            id = map_id(&work->request->parts[found[k].part],
                        *(const uint64_t *)(const void *)from);
        }
        memcpy(out + field->offset, &id, sizeof id);
    }
}

// Merges the lists of all processes. The merged list has the order in which its
// records were found.
static void match(struct Work *work, const struct Field *list)
{
    const struct Record *record = list->record;
    size_t count;
    struct FoundList all = find_records(work, list, &count);
    char *out = allocate(work, count, record->size);
    for (size_t i = 0; i < count && !work->failed; i++) {
        void *at = out + i * record->size;
        const struct Found *found = all.items + all.begins[i];
        size_t pieces = all.begins[i + 1] - all.begins[i];
        Record_clear(record, at);
        fold_found(work, record, at, found, pieces);
        set_ids(work, record, at, found, pieces);
        if (record == list_field("groups")->record)
            finish_task(work, at, found, pieces);
        if (record == &EXCEPTION_RECORD)
            finish_exception(work, at, found, pieces);
        own_texts(work, record, at);
    }
    release_found(&all);
    if (!work->failed)
        set_list(list, work->out, out, count);
}

// --- Lists whose records follow one another

static struct Caller *own_callers(struct Work *work,
                                  const struct MergePart *part,
                                  const struct Caller *from, size_t *count)
{
    struct Caller *callers = allocate(work, *count, sizeof *callers);
    size_t merged = 0;
    for (size_t i = 0; callers && i < *count; i++)
        add_caller(callers, &merged,
                   (struct Caller){map_id(part, from[i].id), from[i].share});
    *count = merged;
    return callers;
}

// Removes the shares from the thread of a silent process.
static void fade(struct Thread *thread)
{
    thread->cpu_share = thread->wait_share = NAN;
    thread->gil_held_share = thread->gil_wait_share = NAN;
    thread->function_count = 0;
}

// In a record that was copied from a process, converts the ids, the times, the
// texts and the names of threads for the merged snapshot.
static void own_record(struct Work *work, const struct MergePart *part,
                       const struct Record *record, char *out)
{
    bool is_thread = record == list_field("threads")->record;
    if (is_thread && part->age == FOLD_SILENT)
        fade((struct Thread *)(void *)out);
    own_texts(work, record, out);
    for (size_t i = 0; i < record->field_count; i++) {
        const struct Field *field = &record->fields[i];
        void *at = out + field->offset;
        if (!strcmp(field->name, "id"))
            *(uint64_t *)at = map_id(part, *(uint64_t *)at);
        else if (!strcmp(field->name, "at_s") ||
                 !strcmp(field->name, "seen_at_s"))
            *(double *)at += part->begin_s;
        else if (!strcmp(field->name, is_thread ? "name" : "thread"))
            *(const char **)at = own_thread(work, part, *(const char **)at);
        else if (field->type == FIELD_LIST) // The functions of a thread.
            *(struct Caller **)at =
                own_callers(work, part, *(const struct Caller **)at,
                            (size_t *)(void *)(out + field->count_offset));
    }
}

// Joins a list of the processes from `first` up to, not including, `last`.
// Leaves out processes in a state below `age` (enum FoldAge).
static void chain(struct Work *work, const struct Field *list, size_t first,
                  size_t last, enum FoldAge age)
{
    size_t room = 0, count = 0, size = list->record->size;
    for (size_t i = first; i < last; i++)
        room += size_of(list, work->request->parts[i].snapshot);
    char *out = allocate(work, room, size);
    for (size_t i = first; out && i < last; i++) {
        const struct MergePart *part = &work->request->parts[i];
        size_t more = size_of(list, part->snapshot);
        if (part->age < age || !more)
            continue;
        memcpy(out + count * size, items_of(list, part->snapshot), more * size);
        for (size_t k = 0; k < more; k++)
            own_record(work, part, list->record, out + (count + k) * size);
        count += more;
    }
    if (out)
        set_list(list, work->out, out, count);
}

// The lists of a snapshot that are sorted. All other lists have the order in
// which their records were found.
static const struct {
    const char *list, *member;
    int sign; // As in struct Order.
} orders[] = {{"exceptions", "age_s", 1}, {"lines", "share", -1},
              {"groups", "count", -1},    {"places", "count", -1},
              {"stalls", "at_s", 1},      {"transitions", "seen_at_s", -1}};
#define ORDERS (sizeof orders / sizeof *orders)

static void merge_lists(struct Work *work)
{
    const struct Record *record = &SNAPSHOT_RECORD;
    for (size_t i = 0; i < record->field_count && !work->failed; i++) {
        const struct Field *list = &record->fields[i];
        if (list->how == FOLD_MATCH)
            match(work, list);
        else if (list->how == FOLD_JOIN)
            chain(work, list, 0, work->request->count, list->from);
        for (size_t k = 0; k < ORDERS && !work->failed; k++)
            if (!strcmp(list->name, orders[k].list))
                sort(list->record, (void *)items_of(list, work->out),
                     size_of(list, work->out), orders[k].member,
                     orders[k].sign);
    }
}

// Copies those lists that come from a single process. The filter comes from the
// first process, because all processes of a service have the same filter. The
// stack of the longest time with the GIL comes from the process with the
// longest such time.
static void chain_ones(struct Work *work)
{
    const struct MergeRequest *request = work->request;
    size_t first = 0, longest = 0, count = request->count;
    while (first < count && request->parts[first].age == FOLD_ENDED)
        first++;
    while (longest < count && request->parts[longest].snapshot->gil_longest_s !=
                                  work->out->gil_longest_s)
        longest++;
    if (longest < count)
        chain(work, list_field("longest"), longest, longest + 1, FOLD_ENDED);
    if (first == count)
        return;
    chain(work, list_field("exclude"), first, first + 1, FOLD_SILENT);
    chain(work, list_field("include_only"), first, first + 1, FOLD_SILENT);
}

// --- The whole

// Returns the CPU time of a process as a part of one core, or 0 if it is not
// known. The CPU time is computed from the overhead, which the process reports
// both as a part of one core and as a part of its CPU time.
static double cpu_of(const struct Snapshot *from)
{
    double cpu = from->overhead_measured > 0
                     ? from->overhead_cores / from->overhead_measured
                     : from->overhead_cores_allowed / from->overhead_allowed;
    return isfinite(cpu) ? cpu : 0;
}

static void merge_whole(struct Work *work)
{
    const struct MergeRequest *request = work->request;
    struct FoldPiece *pieces = calloc(request->count + 1, sizeof *pieces);
    if (!pieces) {
        work->failed = true;
        return;
    }
    for (uint32_t i = 0; i < request->count; i++) {
        pieces[i] = piece_of(work, i, request->parts[i].snapshot);
        pieces[i].weight = cpu_of(request->parts[i].snapshot);
    }
    Fold_make(&SNAPSHOT_RECORD, work->out, pieces, request->count);
    free(pieces);
    own_texts(work, &SNAPSHOT_RECORD, (char *)work->out);
    work->out->pid = request->pid;
    work->out->uptime_s = request->uptime_s;
}

// Makes room in `standouts` for each id that the merge may give.
static void reserve(struct Work *work, struct Standouts *standouts)
{
    size_t most = work->merge->last_id;
    for (size_t i = 0; i < work->request->count; i++)
        most += work->request->parts[i].snapshot->function_count;
    struct FunctionStandouts *items =
        realloc(standouts->items, (most + 1) * sizeof *items);
    work->failed |= !items;
    if (!items)
        return;
    memset(items, 0, (most + 1) * sizeof *items);
    standouts->items = items;
    standouts->count = most;
}

struct Snapshot *Merge_make(struct Merge *merge,
                            const struct MergeRequest *request,
                            struct Standouts *standouts)
{
    struct Work work = {.merge = merge,
                        .request = request,
                        .out = Snapshot_new(),
                        .function = list_field("functions")->record};
    if (!work.out)
        return NULL;
    if (standouts)
        reserve(&work, standouts);
    merge_whole(&work);
    if (!work.failed)
        merge_functions(&work, standouts);
    if (!work.failed)
        merge_lists(&work);
    if (!work.failed)
        chain_ones(&work);
    if (!work.failed)
        return work.out;
    Snapshot_free(work.out);
    return NULL;
}

void Merge_release(struct Merge *merge)
{
    IdMap_release(&merge->names);
    *merge = (struct Merge){0};
}
