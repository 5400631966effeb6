// SPDX-License-Identifier: MIT
#include "tui/model/deopt.h"

#include <string.h>

// A lost specialised form is marked for RECENT_S seconds.
#define RECENT_S 10.0
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

bool Deopt_is_recent(const struct Snapshot *now, const struct Transition *one)
{
    return one->seen_at_s >= now->uptime_s - RECENT_S &&
           (Deopt_is(one) || one->storm == 1);
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
