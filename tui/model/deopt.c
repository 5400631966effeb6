// SPDX-License-Identifier: MIT
#include "tui/model/deopt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// A storm is shown for STORM_SHOWN_S seconds after its last change.
#define STORM_SHOWN_S 30.0

static bool is_deopt(uint64_t reported, const char *from, const char *to)
{
    size_t length = to ? strlen(to) : 0;
    if (reported != NULL_U64)
        return reported == 1;
    return from && length && strncmp(from, to, length) == 0 &&
           from[length] == '_';
}

bool Deopt_is(const struct Transition *one)
{
    return is_deopt(one->deopt, one->from, one->to);
}

double Deopt_total(const struct Snapshot *snapshot)
{
    double total = 0;
    for (size_t i = 0; i < snapshot->transition_pair_count; i++) {
        const struct TransitionPair *pair = &snapshot->transition_pairs[i];
        if (is_deopt(pair->deopt, pair->from, pair->to) &&
            pair->count != NULL_U64)
            total += (double)pair->count;
    }
    return total;
}

static int compare(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int Deopt_init(struct Deopt *deopt, const struct Snapshot *snapshot)
{
    *deopt = (struct Deopt){0};
    if (!snapshot->transition_count)
        return 0;
    deopt->ids = malloc(snapshot->transition_count * sizeof(uint64_t));
    if (!deopt->ids)
        return -ENOMEM;
    for (size_t i = 0; i < snapshot->transition_count; i++) {
        const struct Transition *one = &snapshot->transitions[i];
        if (one->seen_at_s >= snapshot->uptime_s - DEOPT_RECENT_S &&
            (Deopt_is(one) || one->storm == 1))
            deopt->ids[deopt->count++] = one->id;
    }
    qsort(deopt->ids, deopt->count, sizeof *deopt->ids, compare);
    return 0;
}

void Deopt_release(struct Deopt *deopt)
{
    free(deopt->ids);
    *deopt = (struct Deopt){0};
}

bool Deopt_has(const struct Deopt *deopt, const struct Function *function)
{
    if (!deopt->count)
        return false;
    return bsearch(&function->id, deopt->ids, deopt->count, sizeof *deopt->ids,
                   compare) != NULL;
}

static bool is_storm(const struct Snapshot *now, const struct Transition *one)
{
    return one->storm == 1 && one->seen_at_s >= now->uptime_s - STORM_SHOWN_S;
}

int Deopt_storms(const struct Snapshot *now, const struct Transition **first)
{
    int count = 0;
    *first = NULL;
    for (size_t i = 0; i < now->transition_count; i++) {
        const struct Transition *one = &now->transitions[i];
        bool known = !is_storm(now, one);
        for (size_t k = 0; k < i && !known; k++)
            known = is_storm(now, &now->transitions[k]) &&
                    now->transitions[k].id == one->id;
        if (known)
            continue;
        if (!*first)
            *first = one;
        count++;
    }
    return count;
}
