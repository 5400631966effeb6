// SPDX-License-Identifier: MIT
#include "tracer/code/retired.h"
#include "ipc/base/heap.h"
#include "ipc/base/utf8.h"

#include <string.h>

void Retired_release(struct Retired *retired)
{
    size_t i;

    for (i = 0; i < retired->count; i++) {
        Heap_free(retired->functions[i].name);
        Heap_free(retired->functions[i].file);
    }
    memset(retired, 0, sizeof *retired);
}

static void add_totals(struct RetiredTotals *to,
                       const struct RetiredTotals *from)
{
    to->objects += from->objects;
    to->calls += from->calls;
    to->resumed += from->resumed;
    to->events += from->events;
    to->self_calls += from->self_calls;
    to->self_cycles += from->self_cycles;
    to->total_cycles += from->total_cycles;
    to->waited_cycles += from->waited_cycles;
    to->cpu_ns += from->cpu_ns;
    to->samples += from->samples;
    to->run_samples += from->run_samples;
    to->inexact |= from->inexact;
}

static struct RetiredTotals totals_of(const struct Code *code)
{
    return (struct RetiredTotals){
        .objects = 1,
        .calls = Code_calls(code),
        .resumed = Counter_get(&code->hot.resumed),
        .events = Code_events(code),
        .self_calls = Counter_get(&code->hot.self_calls),
        .self_cycles = Counter_cycles(&code->hot.self_cycles),
        .total_cycles = Counter_cycles(&code->hot.total_cycles),
        .waited_cycles = Counter_get(&code->hot.waited_cycles),
        .cpu_ns = Counter_get(&code->share.cpu.total_ns),
        .samples = Counter_get(&code->share.samples),
        .run_samples = Counter_get(&code->share.run_samples),
        .inexact = !code->hot.calls_exact,
    };
}

static uint64_t hash_of(const struct Code *code)
{
    return Utf8_hash(Utf8_hash(code->who.line, code->who.name), code->who.file);
}

static struct RetiredFunction *find(struct Retired *retired, uint64_t hash,
                                    const struct Code *code)
{
    size_t i;

    for (i = 0; i < retired->count; i++) {
        struct RetiredFunction *function = &retired->functions[i];

        if (retired->hashes[i] == hash && function->line == code->who.line &&
            strcmp(function->name, code->who.name) == 0 &&
            strcmp(function->file, code->who.file) == 0)
            return function;
    }
    return NULL;
}

static bool is_less(const struct RetiredTotals *a,
                    const struct RetiredTotals *b)
{
    uint64_t x = a->self_cycles + a->cpu_ns, y = b->self_cycles + b->cpu_ns;

    return x != y ? x < y : a->calls < b->calls;
}

// Adds the smallest entry's totals to `others`. Returns the index of the
// smallest entry, which is free now.
static size_t fold(struct Retired *retired)
{
    struct RetiredFunction *functions = retired->functions;
    size_t least = 0, i;

    for (i = 1; i < retired->count; i++)
        if (is_less(&functions[i].totals, &functions[least].totals))
            least = i;
    add_totals(&retired->others, &functions[least].totals);
    Heap_free(functions[least].name);
    Heap_free(functions[least].file);
    return least;
}

// Returns a new entry, or NULL if memory is out. If the list is full, make
// first removes the entry with the smallest totals.
static struct RetiredFunction *make(struct Retired *retired, uint64_t hash,
                                    const struct Code *code)
{
    char *name = Heap_text(code->who.name), *file = Heap_text(code->who.file);
    size_t place;

    if (!name || !file) {
        Heap_free(name);
        Heap_free(file);
        return NULL;
    }
    place = retired->count < RETIRED_ROOM ? retired->count++ : fold(retired);
    retired->hashes[place] = hash;
    retired->functions[place] = (struct RetiredFunction){
        .name = name, .file = file, .line = code->who.line};
    return &retired->functions[place];
}

void Retired_add(struct Retired *retired, const struct Code *code)
{
    struct RetiredTotals totals = totals_of(code);
    uint64_t hash = hash_of(code);
    struct RetiredFunction *function;

    // A function that was never called or sampled has no row.
    if (!Code_was_seen(code))
        return;
    function = find(retired, hash, code);
    if (!function)
        function = make(retired, hash, code);
    if (function)
        function->id = code->hot.id;
    add_totals(function ? &function->totals : &retired->others, &totals);
    retired->events += totals.events;
}

const struct RetiredFunction *Retired_find(const struct Retired *retired,
                                           uint32_t id)
{
    for (size_t i = 0; id && i < retired->count; i++)
        if (retired->functions[i].id == id)
            return &retired->functions[i];
    return NULL;
}

const char *Retired_name(const struct Retired *retired, uint32_t id)
{
    const struct RetiredFunction *found = Retired_find(retired, id);

    return found ? found->name : NULL;
}
