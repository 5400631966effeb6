// SPDX-License-Identifier: MIT
// docs/architecture.md explains the constants in the section "The budget".
#include "tracer/budget/slices.h"
#include "tracer/base/random.h"

#include <math.h>

// A slice is a time in which all functions have hooks. Slices may use this
// fraction of the hooks' time.
#define PART 0.5
// A slice may cost what tracing may cost in this many seconds.
#define INTERVAL_S 15.0
#define SHORTEST_INTERVAL_S 2.0
#define LONGEST_INTERVAL_S 60.0
#define LENGTH_S 0.5 // Length of the first slice in seconds.
#define SHORTEST_S 0.1
#define LONGEST_S 1.0
// Most that the first slice may cost, as a fraction of a later slice's cost.
#define FIRST 0.2
// Fraction of the hooks' time for hooks in slices of own functions.
#define OWN_PART 0.25
#define OWN_INTERVAL_S 4.0 // Least seconds between two slices of own functions.
#define OWN_SHORTEST_S 0.2
// If many functions are newer than the newest slice, the interval to the next
// slice is multiplied by this factor.
#define NEW_PART 0.25
// Many functions are newer than the newest slice if more than 1/8 of all
// functions are newer.
#define NEW_CODES 8
// Largest factor between the lengths of two consecutive slices.
#define CHANGE 2.0

void Slices_init(struct Slices *slices, double now_s)
{
    *slices = (struct Slices){.phase = SLICE_COUNTS,
                              .begun_s = now_s,
                              .ends_s = now_s + LENGTH_S,
                              .length_s = LENGTH_S,
                              .interval_s = SHORTEST_INTERVAL_S,
                              .random = 1};
}

double Slices_means(double rate)
{
    return PART * rate * INTERVAL_S;
}

// Returns true if a slice that was planned for the time `due_s` may begin now.
// If the token bucket is in debt, the slice waits for at most `interval_s`
// seconds.
static bool is_due(const struct SlicesReading *reading, double due_s,
                   double interval_s)
{
    double late_s = reading->now_s - due_s;

    // If the clock was set far back, the slice does not wait for the old time.
    if (late_s < -2 * LONGEST_INTERVAL_S)
        return true;
    return late_s >= 0 && (!reading->overdrawn || late_s >= interval_s);
}

// Returns true if the slice must end now. A slice that costs too much ends
// early. The calls of a single function hardly influence when the slice ends,
// because the hooks of all functions add to its cost.
static bool is_over(const struct Slices *slices,
                    const struct SlicesReading *reading)
{
    double s = reading->now_s - slices->begun_s;

    if (reading->now_s >= slices->ends_s || s < 0)
        return true;
    return s >= SHORTEST_S &&
           reading->spent_s - slices->spent_s > Slices_means(reading->rate);
}

// Returns the time at which the next slice of all functions is due.
static double due_s(const struct Slices *slices,
                    const struct SlicesReading *reading)
{
    uint32_t newer = reading->codes - slices->codes;

    if (newer <= reading->codes / NEW_CODES)
        return slices->due_s;
    return fmin(slices->due_s, slices->ends_s + NEW_PART * slices->interval_s);
}

// A slice during imports would count code that runs only once, and would spend
// the budget before the program's real work begins.
static bool may_begin(const struct Slices *slices,
                      const struct SlicesReading *reading)
{
    double due = due_s(slices, reading);

    return is_due(reading, due, slices->interval_s) &&
           (!reading->burst || slices->all ||
            fabs(reading->now_s - due) > LONGEST_INTERVAL_S);
}

enum SlicePhase Slices_step(struct Slices *slices,
                            const struct SlicesReading *reading)
{
    if (slices->phase == SLICE_RESTS && may_begin(slices, reading)) {
        slices->phase = SLICE_BEGINS;
        // A slice of all functions has begun, so the slice of the program's own
        // functions ends.
        slices->own_open = false;
        slices->begun_s = reading->now_s;
        slices->spent_s = reading->spent_s;
        slices->codes = reading->codes;
        slices->count++;
    } else if (slices->phase == SLICE_COUNTS && is_over(slices, reading)) {
        slices->phase = SLICE_ENDS;
    }
    return slices->phase;
}

void Slices_armed(struct Slices *slices, double now_s)
{
    slices->phase = SLICE_COUNTS;
    slices->all = false;
    slices->begun_s = now_s;
    slices->ends_s = now_s + slices->length_s;
}

static double clamp(double value, double least, double most)
{
    return fmin(fmax(value, least), most);
}

void Slices_ended(struct Slices *slices, const struct SlicesReading *reading)
{
    double cost = fmax(reading->spent_s - slices->spent_s, 1e-6);

    // The first slice costs more than later slices, because Ocular sees all
    // code for the first time.
    if (slices->count == 0)
        cost = fmin(cost, Slices_means(reading->rate) * FIRST);
    slices->phase = SLICE_RESTS;
    slices->interval_s = clamp(cost / (PART * reading->rate),
                               SHORTEST_INTERVAL_S, LONGEST_INTERVAL_S);
    // The random factor prevents that each slice meets a periodic program in
    // the same phase.
    slices->due_s =
        reading->now_s + slices->interval_s * Random_factor(&slices->random);
    // The slice of all functions has also counted the calls of the program's
    // own functions, so they soon need no slice of their own.
    slices->own_due_s =
        fmax(slices->own_due_s, reading->now_s + OWN_INTERVAL_S);
    slices->length_s =
        clamp(slices->length_s *
                  clamp(Slices_means(reading->rate) / cost, 1 / CHANGE, CHANGE),
              SHORTEST_S, LONGEST_S);
}

enum OwnSlice Slices_step_own(struct Slices *slices,
                              const struct SlicesReading *reading)
{
    double s = reading->now_s - slices->own_begun_s;
    double cost = reading->hooks_s - slices->own_hooks_s - reading->stays * s;

    if (slices->phase != SLICE_RESTS)
        return OWN_SLICE_NONE;
    if (!slices->own_open) {
        if (!is_due(reading, slices->own_due_s, OWN_INTERVAL_S))
            return OWN_SLICE_NONE;
        slices->own_open = true;
        slices->own_begun_s = reading->now_s;
        slices->own_hooks_s = reading->hooks_s;
        return OWN_SLICE_BEGINS;
    }
    if (s >= 0 && s < OWN_SHORTEST_S)
        return OWN_SLICE_NONE;
    slices->own_open = false;
    slices->own_due_s =
        reading->now_s + clamp(cost / (OWN_PART * reading->rate),
                               OWN_INTERVAL_S, LONGEST_INTERVAL_S) *
                             Random_factor(&slices->random);
    return OWN_SLICE_ENDS;
}

void Slices_hurry(struct Slices *slices)
{
    slices->all = true;
    slices->due_s = -INFINITY;
}
