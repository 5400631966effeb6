// SPDX-License-Identifier: MIT
// See profile.h.
#include "tracer/timeline/profile.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static int by_id(const void *key, const void *element)
{
    uint64_t id = *(const uint64_t *)key;
    uint64_t other = ((const struct FlameFunction *)element)->id;

    return (id > other) - (id < other);
}

// The function of a row; where it has none, the first or second one more.
static size_t find_function(const struct FlameTable *table, size_t row)
{
    uint64_t id = table->rows[row].id;
    const struct FlameFunction *found = NULL;

    if (id != NULL_U64 && table->function_count)
        found = bsearch(&id, table->functions, table->function_count,
                        sizeof *found, by_id);
    if (found)
        return (size_t)(found - table->functions);
    return table->function_count + (row == 0);
}

static struct ProfileFunction named(const struct FlameFunction *function)
{
    return (struct ProfileFunction){
        .name = function->name ? function->name : "<gone>",
        .file = function->file ? function->file : "",
        .line = function->line == NULL_U64 ? 0 : function->line,
        .calls = NAN,
    };
}

int Profile_init(struct Profile *profile, const struct FlameTable *table)
{
    static const char *const others[] = {"<deeper stacks>", "<untraced>"};
    size_t known = table->function_count, i;

    *profile = (struct Profile){.table = table, .function_count = known + 2};
    profile->command = "";
    profile->functions =
        Heap_zeroed(profile->function_count, sizeof *profile->functions);
    profile->row_functions =
        Heap_zeroed(table->row_count + 1, sizeof *profile->row_functions);
    if (!profile->functions || !profile->row_functions) {
        Profile_release(profile);
        return -ENOMEM;
    }
    for (i = 0; i < known; i++)
        profile->functions[i] = named(&table->functions[i]);
    for (i = 0; i < 2; i++)
        profile->functions[known + i] =
            (struct ProfileFunction){others[i], "", 0, NAN};
    for (i = 0; i < table->row_count; i++)
        profile->row_functions[i] = (uint32_t)find_function(table, i);
    return 0;
}

static bool is_same(const struct ProfileFunction *a,
                    const struct ProfileFunction *b)
{
    return a->line == b->line && !strcmp(a->name, b->name) &&
           !strcmp(a->file, b->file);
}

static uint32_t first_like(const struct Profile *profile, uint32_t number)
{
    uint32_t i = 0;

    while (!is_same(&profile->functions[i], &profile->functions[number]))
        i++;
    return i;
}

static void add_calls(struct ProfileFunction *to,
                      const struct ProfileFunction *from)
{
    if (isnan(to->calls))
        to->calls = from->calls;
    else if (!isnan(from->calls))
        to->calls += from->calls;
}

void Profile_merge(struct Profile *profile)
{
    uint32_t *firsts =
        Heap_alloc((profile->function_count + 1) * sizeof *firsts);
    uint32_t i;

    if (!firsts) // they stay apart
        return;
    for (i = 0; i < profile->function_count; i++) {
        firsts[i] = first_like(profile, i);
        if (firsts[i] != i)
            add_calls(&profile->functions[firsts[i]], &profile->functions[i]);
    }
    for (i = 0; i < profile->table->row_count; i++)
        profile->row_functions[i] = firsts[profile->row_functions[i]];
    Heap_free(firsts);
}

void Profile_release(struct Profile *profile)
{
    Heap_free(profile->functions);
    Heap_free(profile->row_functions);
    profile->functions = NULL;
    profile->row_functions = NULL;
}

// The root is on no stack but its own.
size_t Profile_stack(const struct Profile *profile, size_t row, uint32_t *stack,
                     size_t room)
{
    size_t depth = 0;

    do {
        if (depth < room)
            stack[depth] = profile->row_functions[row];
        depth++;
        row = row ? (size_t)profile->table->rows[row].parent : 0;
    } while (row);
    return depth;
}
