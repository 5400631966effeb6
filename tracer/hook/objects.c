// SPDX-License-Identifier: MIT
#include "tracer/hook/objects.h"
#include "tracer/code/means.h"
#include "tracer/code/spans.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Mean age in seconds of the objects from which the rates of births and deaths
// (RATE_S) and the rate of growth (GROWTH_S) are computed.
#define RATE_S 10.0
#define GROWTH_S 120.0
#define SHORTEST_S 1e-3 // Seconds of the shortest window.
#define LONGER 1.8      // Length of a longer window, divided by the mean.
// Seconds of the first window. The objects in the first window show how long
// the next windows can be.
#define FIRST_S 5e-3
// A type counts as growing if its growth is more than this number of standard
// deviations above 0. If there are few windows, more standard deviations are
// needed, because few windows do not show rare objects well.
#define SURE 4.0
// With n windows, about SURE_FEW / n standard deviations are added to SURE.
#define SURE_FEW 60.0
// If windows take a larger part of the time, they count as having no gaps.
#define WHOLE 0.95
// If there are gaps, and a larger part of the windows began after a long wait
// for the GIL, no type counts as growing.
#define LATE_PART 0.05
#define GROWTH_WINDOWS 8.0 // Least number of windows for a growth.
// A type counts as growing only after it has been counted for this number of
// seconds. Within this time, a batch of objects that is cleared every ten
// seconds has been cleared. Windows with gaps can miss the clearing of such a
// batch, so they need twice the time.
#define GROWTH_AGE_S 25.0
#define CHECKS 256.0 // Least clock readings in a window.
// One slow event takes as long as this number of events.
#define SLOW_EVENTS 20.0
#define LEAST_S 1e-6 // A window has at least this length.
// Numbers of objects are divided by CPU time if the program uses more than BUSY
// cores, by wall-clock time below IDLE cores, and by a mean of both in between.
#define IDLE 0.2
#define BUSY 0.6
// If the table is nearly full, pairs with fewer births are dropped.
#define DROPPED 0.5
// Seconds between two windows without a gap.
#define NO_GAP_S 1e-3

void Objects_init(struct Objects *objects, double hz, bool counts_deaths)
{
    memset(objects, 0, sizeof *objects);
    objects->hz = hz;
    objects->counts_deaths = counts_deaths;
    objects->names = objects->types = objects->pairs = 1;
    objects->epoch = 1;
    snprintf(objects->sums[0].name, OBJECT_NAME, "(others)");
}

// --- Tables ------------------------------------------------------------------

static void put(uint16_t *slots, uint32_t slot, uint16_t number)
{
    while (slots[slot])
        slot = (slot + 1) & (OBJECT_SLOTS - 1);
    slots[slot] = number;
}

// Returns the number of a type's name, or 0 if there is no room.
static uint16_t number_of(struct Objects *objects, const char *name)
{
    for (uint16_t i = 1; i < objects->names; i++)
        if (strcmp(objects->sums[i].name, name) == 0)
            return i;
    if (objects->names == OBJECT_NAMES)
        return 0;
    objects->sums[objects->names] = (struct ObjectSums){0};
    snprintf(objects->sums[objects->names].name, OBJECT_NAME, "%s", name);
    return objects->names++;
}

// Returns true if a type of the name `old` can have the name `name` now. A
// class that is being freed has lost its module.
static bool is_same(const char *old, const char *name)
{
    size_t size = strlen(old), end = strlen(name);

    return size == end ? strcmp(old, name) == 0
                       : size > end && old[size - end - 1] == '.' &&
                             strcmp(old + size - end, name) == 0;
}

uint32_t Objects_meet_type(struct Objects *objects, const void *type,
                           const char *name, bool names)
{
    uint32_t known = Objects_type_at(objects, type);
    struct ObjectType *found = known ? &objects->type[known] : NULL;

    objects->slow++;
    if (found && !is_same(objects->sums[found->of].name, name)) {
        // Another type has the address now.
        found->type = NULL;
        objects->stale = true;
        found = NULL;
    }
    if (!found && objects->types == OBJECT_TYPES)
        return 0;
    if (!found) {
        found = &objects->type[objects->types];
        *found = (struct ObjectType){
            .type = type, .of = number_of(objects, name), .names = names};
        put(objects->type_slots, Objects_slot(type, NULL), objects->types++);
    }
    found->epoch = objects->epoch;
    return (uint32_t)(found - objects->type);
}

void Objects_meet_pair(struct Objects *objects, const void *object,
                       uint32_t number, const void *code, uint32_t id)
{
    struct ObjectType *type = &objects->type[number];
    uint32_t known = number ? Objects_pair_at(objects, type->type, code) : 0;
    struct ObjectPair *pair = known ? &objects->pair[known] : NULL;

    objects->slow++;
    if (pair && pair->of == type->of && !pair->id)
        pair->id = id; // The function is traced now.
    if (pair && (pair->of != type->of || pair->id != id)) {
        // Other code or another type has the address now.
        pair->type = NULL;
        objects->stale = true;
        pair = NULL;
    }
    if (!pair && number && objects->pairs < OBJECT_PAIRS) {
        pair = &objects->pair[objects->pairs];
        *pair = (struct ObjectPair){
            .type = type->type, .code = code, .id = id, .of = type->of};
        objects->pair_sums[objects->pairs] = (struct ObjectPairSums){0};
        put(objects->pair_slots, Objects_slot(type->type, code),
            objects->pairs++);
    }
    if (!pair) {
        type->born++;
        return;
    }
    pair->epoch = objects->epoch;
    pair->born++;
    Objects_follow(objects, object, (uint32_t)(pair - objects->pair));
}

// --- Room --------------------------------------------------------------------

static void leave_all(struct Objects *objects)
{
    memset(&objects->followed, 0, sizeof objects->followed);
}

static bool is_short(uint16_t used, uint16_t most)
{
    return used > most * 3 / 4;
}

// Drops names with fewer objects than `fewest` until there is room, and adds
// their totals to those of all others. A program can make classes with new
// names for ever.
static void drop_names(struct Objects *objects, double fewest)
{
    uint16_t to[OBJECT_NAMES] = {0}, names = 1;

    for (uint16_t i = 1; i < objects->names; i++) {
        const struct ObjectSums *sums = &objects->sums[i];

        if (sums->born + sums->died + sums->gc_born + sums->gc_died +
                    fabs(sums->net + sums->gc_net) <
                fewest &&
            is_short(objects->names - i + names, OBJECT_NAMES)) {
            objects->sums[0].counted_born += sums->counted_born;
            objects->sums[0].counted_died += sums->counted_died;
            continue;
        }
        objects->sums[names] = *sums;
        to[i] = names++;
    }
    // Types without a name of their own can get a name in the table now.
    for (uint16_t i = 1; i < objects->types; i++)
        if (!(objects->type[i].of = to[objects->type[i].of]))
            objects->type[i].type = NULL;
    for (uint16_t i = 1; i < objects->pairs; i++)
        if (!(objects->pair[i].of = to[objects->pair[i].of]))
            objects->pair[i].type = NULL;
    objects->names = names;
}

// Drops entries that are stale or have no objects, and fills both hash tables
// again.
static void tidy(struct Objects *objects)
{
    uint16_t types = 1, pairs = 1;

    for (double fewest = DROPPED; is_short(objects->names, OBJECT_NAMES);
         fewest *= 4)
        drop_names(objects, fewest);
    memset(objects->type_slots, 0, sizeof objects->type_slots);
    memset(objects->pair_slots, 0, sizeof objects->pair_slots);
    for (uint16_t i = 1; i < objects->types; i++) {
        const struct ObjectType *type = &objects->type[i];

        // The epoch shows whether the type had an event in the newest window.
        if (!type->type || type->epoch < objects->opened_epoch)
            continue;
        put(objects->type_slots, Objects_slot(type->type, NULL), types);
        objects->type[types++] = *type;
    }
    for (uint16_t i = 1; i < objects->pairs; i++) {
        const struct ObjectPair *pair = &objects->pair[i];

        if (!pair->type || objects->pair_sums[i].born < DROPPED)
            continue;
        put(objects->pair_slots, Objects_slot(pair->type, pair->code), pairs);
        objects->pair_sums[pairs] = objects->pair_sums[i];
        objects->pair[pairs++] = *pair;
    }
    if (pairs < objects->pairs)
        leave_all(objects); // The pairs have other numbers now.
    objects->types = types;
    objects->pairs = pairs;
    objects->stale = false;
}

// --- Sums over time ----------------------------------------------------------

// Multiplies the sums by `kept` and adds a window to them.
static void add_totals(struct ObjectsTotals *to, double kept,
                       const struct ObjectsTotals *window)
{
    to->windows = to->windows * kept + window->windows;
    to->late = to->late * kept + window->late;
    to->open_s = to->open_s * kept + window->open_s;
    to->window_s = to->window_s * kept + window->window_s;
    to->squares = to->squares * kept + window->squares;
    to->window_cpu_s = to->window_cpu_s * kept + window->window_cpu_s;
    to->events = to->events * kept + window->events;
    to->gc_events = to->gc_events * kept + window->gc_events;
    to->cpu_s = to->cpu_s * kept + window->cpu_s;
    to->wall_s = to->wall_s * kept + window->wall_s;
}

// Returns the factor by which a number of objects per second of windows is
// multiplied to get their number per second of all time. On a busy machine, the
// program gets more CPU time in windows than between them, because a window
// begins while it runs. CPU time has no influence for a program that hardly
// runs, because most of its CPU time is Ocular's.
static double factor(const struct ObjectsTotals *totals)
{
    double cores = totals->cpu_s / totals->wall_s;
    double in_windows = totals->window_cpu_s / totals->window_s;
    double weight = fmin(fmax((cores - IDLE) / (BUSY - IDLE), 0), 1);

    return cores > 0 && in_windows > 0 ? pow(cores / in_windows, weight) : 1;
}

// Returns the births and deaths of objects per second.
static double events_per_s(const struct ObjectsTotals *totals)
{
    return totals->windows > 0 && totals->wall_s > 0
               ? totals->events / totals->window_s * factor(totals)
               : 0;
}

// --- Windows -----------------------------------------------------------------

static double seconds(const struct Objects *objects,
                      const struct ObjectsTime *from,
                      const struct ObjectsTime *to)
{
    return fmax((double)(int64_t)(to->ticks - from->ticks) / objects->hz, 0);
}

void Objects_open(struct Objects *objects, const struct ObjectsTime *at,
                  double s, double events, bool ends)
{
    objects->phase = OBJECTS_OPEN;
    objects->opened_epoch = ++objects->epoch;
    // It is unknown which followed objects have died since the last window. A
    // full table of followed objects has no room for new objects.
    if (seconds(objects, &objects->ended, at) > NO_GAP_S ||
        objects->followed.count > OBJECT_SLOTS / 2)
        leave_all(objects);
    objects->opened = *at;
    objects->planned_s = s;
    objects->stop_ticks =
        ends ? at->ticks + (uint64_t)(s * objects->hz) : UINT64_MAX;
    objects->events_left = events;
    objects->slow = 0;
    // If few events are expected, the clock is read at each event, so that the
    // window ends at the right time.
    objects->check = (uint32_t)fmin(
        fmax(events_per_s(&objects->now) * s / CHECKS, 1), OBJECT_CHECK);
    objects->left = objects->check;
}

bool Objects_is_over(struct Objects *objects, uint64_t ticks)
{
    objects->events_left -= objects->check;
    return ticks >= objects->stop_ticks || objects->events_left < 0;
}

void Objects_end(struct Objects *objects, const struct ObjectsTime *at)
{
    objects->phase = OBJECTS_ENDED;
    objects->ended = *at;
}

// Adds the window's births and deaths of each type and pair to those of the
// type's name. Returns the number of events.
static double gather(struct Objects *objects)
{
    double events = 0;

    for (uint16_t i = 0; i < objects->types; i++) {
        struct ObjectType *type = &objects->type[i];

        objects->sums[type->of].window_born += type->born;
        objects->sums[type->of].window_died += type->died;
        objects->sums[type->of].window_gc_born += type->gc_born;
        objects->sums[type->of].window_gc_died += type->gc_died;
        type->born = type->died = type->gc_born = type->gc_died = 0;
    }
    for (uint16_t i = 1; i < objects->pairs; i++) {
        struct ObjectPair *pair = &objects->pair[i];

        objects->sums[pair->of].window_born += pair->born;
        objects->pair_sums[i].born += pair->born * objects->scale;
        pair->born = 0;
    }
    for (uint16_t i = 0; i < objects->names; i++)
        events += (double)objects->sums[i].window_born +
                  (double)objects->sums[i].window_died;
    return events;
}

// Adds the births and deaths in garbage collections since the last fold, which
// was `wall_s` seconds ago. Returns the number of events.
static double add_collections(struct Objects *objects, double wall_s)
{
    double events = 0;

    for (uint16_t i = 0; i < objects->names; i++) {
        struct ObjectSums *sums = &objects->sums[i];
        double born = sums->window_gc_born, died = sums->window_gc_died;

        sums->age_s += wall_s;
        sums->counted_born += sums->window_gc_born;
        sums->counted_died += sums->window_gc_died;
        sums->window_gc_born = sums->window_gc_died = 0;
        sums->gc_born += born;
        sums->gc_died += died;
        sums->gc_net += born - died;
        sums->gc_squares += (born - died) * (born - died);
        events += born + died;
    }
    return events;
}

// Adds the followed objects of a window, which took `s` seconds.
static void add_pairs(struct Objects *objects, double s)
{
    for (uint16_t i = 1; i < objects->pairs; i++) {
        double net = objects->pair[i].net * objects->scale;

        objects->pair_sums[i].net += net;
        objects->pair_sums[i].net_s += net * s;
        objects->pair[i].net = 0;
    }
}

static void forget_window(struct Objects *objects)
{
    objects->scale = 0;
    gather(objects);
    add_pairs(objects, 0);
    leave_all(objects);
    for (uint16_t i = 0; i < objects->names; i++)
        objects->sums[i].window_born = objects->sums[i].window_died = 0;
}

// Adds the window's births and deaths to the sums of a type's name. The window
// took `s` seconds.
static void add(struct ObjectSums *sums, double scale, double s)
{
    double born = sums->window_born * scale, died = sums->window_died * scale;
    double net = born - died;

    sums->counted_born += sums->window_born;
    sums->counted_died += sums->window_died;
    sums->window_born = sums->window_died = 0;
    sums->born += born;
    sums->died += died;
    sums->born_squares += born * born / s;
    sums->net += net;
    sums->net_squares += net * net;
    sums->net_s += net * s;
    sums->grew += net > 0;
    sums->shrank += net < 0;
}

// Makes older windows weigh less in the sums of names and pairs.
static void decay(struct Objects *objects, double kept, double kept_long)
{
    for (uint16_t i = 1; i < objects->pairs; i++) {
        objects->pair_sums[i].born *= kept;
        objects->pair_sums[i].net *= kept_long;
        objects->pair_sums[i].net_s *= kept_long;
    }
    for (uint16_t i = 0; i < objects->names; i++) {
        struct ObjectSums *sums = &objects->sums[i];

        sums->born *= kept;
        sums->died *= kept;
        sums->born_squares *= kept;
        sums->net *= kept_long;
        sums->net_squares *= kept_long;
        sums->net_s *= kept_long;
        sums->gc_born *= kept;
        sums->gc_died *= kept;
        sums->gc_net *= kept_long;
        sums->gc_squares *= kept_long;
        sums->grew *= kept_long;
        sums->shrank *= kept_long;
    }
}

static double cpu_seconds(const struct ObjectsTime *from,
                          const struct ObjectsTime *to)
{
    return fmax((double)(int64_t)(to->cpu_ns - from->cpu_ns) * 1e-9, 0);
}

// Returns the length of the window. The first event after the planned end
// closes the window. On a busy machine, this event can come much later, because
// the program got no CPU. The objects that the program makes then to catch up
// are not in the window, so the time without CPU must not be in it, either.
static double window_seconds(const struct Objects *objects)
{
    struct ObjectsTime end = objects->ended;

    if (end.ticks > objects->stop_ticks)
        end.ticks = objects->stop_ticks;
    return seconds(objects, &objects->opened, &end);
}

// Adds the window that has ended to the sums and to `time`. Returns the seconds
// that its events took.
static double add_window(struct Objects *objects, struct ObjectsTotals *time)
{
    double s = window_seconds(objects);
    double cpu_s = cpu_seconds(&objects->opened, &objects->ended), cost_s;

    // If a window ended early because it was too expensive, its numbers are
    // scaled up, as if it had gone on in the same way to its planned end. Times
    // with many events would count too little if such windows were not scaled
    // up.
    objects->scale = objects->events_left < 0 && s > 0 && objects->planned_s > s
                         ? objects->planned_s / s
                         : 1;
    time->open_s = s;
    time->events = gather(objects);
    cost_s = (time->events + SLOW_EVENTS * objects->slow) * objects->event_s;
    s = fmax(fmax(s - cost_s, s / 4), LEAST_S) * objects->scale;
    for (uint16_t i = 0; i < objects->names; i++)
        add(&objects->sums[i], objects->scale, s);
    add_pairs(objects, s);
    time->windows = 1;
    time->late = objects->late;
    time->window_s = s;
    time->squares = s * s;
    time->window_cpu_s = fmax(cpu_s - cost_s, cpu_s / 4) * objects->scale;
    time->events *= objects->scale;
    return cost_s;
}

double Objects_fold(struct Objects *objects, const struct ObjectsTime *at)
{
    struct ObjectsTotals time = {0};
    double cost_s = 0, passed_s = 0, kept, kept_long;

    if (objects->folded.ticks)
        passed_s = seconds(objects, &objects->folded, at);
    // If no window was open, no objects were counted since the last fold, not
    // even those of garbage collections.
    if (objects->phase != OBJECTS_CLOSED) {
        time.wall_s = passed_s;
        time.cpu_s = cpu_seconds(&objects->folded, at);
    }
    objects->folded = *at;
    kept = exp(-passed_s / RATE_S);
    kept_long = exp(-passed_s / GROWTH_S);
    decay(objects, kept, kept_long);
    if (objects->phase == OBJECTS_ENDED)
        cost_s = add_window(objects, &time);
    else
        forget_window(objects);
    time.gc_events = add_collections(objects, time.wall_s);
    cost_s += time.gc_events * objects->event_s;
    time.cpu_s = fmax(time.cpu_s - cost_s, time.cpu_s / 4);
    add_totals(&objects->now, kept, &time);
    add_totals(&objects->longer, kept_long, &time);
    objects->phase = OBJECTS_CLOSED;
    if (objects->stale || is_short(objects->names, OBJECT_NAMES) ||
        is_short(objects->types, OBJECT_TYPES) ||
        is_short(objects->pairs, OBJECT_PAIRS))
        tidy(objects);
    return cost_s;
}

bool Objects_may_collect(const struct Objects *objects, double rate)
{
    const struct ObjectsTotals *now = &objects->now;

    return now->gc_events * objects->event_s <= rate * fmax(now->wall_s, 1);
}

double Objects_plan(const struct Objects *objects, double rate, double period_s,
                    bool longer)
{
    double cost = events_per_s(&objects->now) * objects->event_s;
    double part = rate / cost;

    if (!(objects->now.windows > 0))
        return FIRST_S;
    if (!(cost > 0) || part >= WHOLE)
        return period_s;
    return fmax(part * period_s * (longer ? LONGER : 2 - LONGER), SHORTEST_S);
}

// --- Rates -------------------------------------------------------------------

double Objects_part(const struct Objects *objects)
{
    const struct ObjectsTotals *now = &objects->now;

    return now->wall_s > 0 ? fmin(now->open_s / now->wall_s, 1) : NAN;
}

// Returns true if the windows have no gaps.
static bool has_no_gaps(const struct ObjectsTotals *totals)
{
    return totals->open_s > WHOLE * totals->wall_s;
}

// Returns the growth per second of windows. Without gaps, each window begins as
// the last one ends. With gaps, a window begins when another thread gets the
// GIL, but ends while an object is born or dies. At the end of a window with
// gaps, more objects therefore live than at its beginning. This error of the
// number of objects is the same in short and in long windows, unless a thread
// holds the GIL for long. The growth is therefore the slope of a line, which is
// fitted to the windows' lengths and the numbers of objects gained in them.
// Windows have different lengths, so that this slope can be computed.
static double slope(const struct ObjectsTotals *totals, double net,
                    double net_s)
{
    double n = totals->windows;
    double xx = totals->squares - totals->window_s * totals->window_s / n;

    return has_no_gaps(totals) ? net / totals->window_s
                               : (net_s - totals->window_s * net / n) / xx;
}

// Returns the standard deviation of the growth per second, which is `net`.
static double error_of(const struct ObjectsTotals *totals,
                       const struct ObjectSums *sums, double net)
{
    double n = totals->windows, rest = sums->net_squares;
    // The error is at least the square root of the number of objects, as for
    // objects that are born at random times.
    double least = fabs(sums->net) + 1;
    double xx = totals->squares - totals->window_s * totals->window_s / n;

    if (has_no_gaps(totals)) {
        rest += net * net * totals->squares - 2 * net * sums->net_s;
        return sqrt(fmax(rest * n / (n - 1), least)) / totals->window_s;
    }
    rest -= sums->net * sums->net / n +
            net * (sums->net_s - totals->window_s * sums->net / n);
    return sqrt(fmax(rest, least) / (n - 2) / xx);
}

static void fill_growth(const struct ObjectsTotals *totals,
                        const struct ObjectSums *sums,
                        struct ObjectRates *rates)
{
    double per_s = factor(totals), sure;
    bool gapless = has_no_gaps(totals);

    if (totals->windows < GROWTH_WINDOWS)
        return;
    rates->net = slope(totals, sums->net, sums->net_s);
    rates->net_error = sum_error(error_of(totals, sums, rates->net) * per_s,
                                 sqrt(sums->gc_squares) / totals->wall_s);
    rates->net = rates->net * per_s + sums->gc_net / totals->wall_s;
    // If a thread held the GIL while many objects died, a window begins just
    // after these deaths and misses them.
    if (!gapless && totals->late > LATE_PART * totals->windows)
        return;
    sure = SURE + SURE_FEW / (totals->windows - 2);
    rates->grows = rates->net > sure * rates->net_error &&
                   sums->grew > sums->shrank &&
                   sums->age_s > GROWTH_AGE_S * (gapless ? 1 : 2);
}

struct ObjectRates Objects_rates(const struct Objects *objects,
                                 const struct ObjectSums *sums)
{
    const struct ObjectsTotals *now = &objects->now;
    struct ObjectRates rates = {NAN, NAN, NAN, NAN, NAN, false};
    double part = Objects_part(objects), per_s, clump;

    if (!(now->windows > 0) || !(now->wall_s > 0))
        return rates;
    per_s = factor(now) / now->window_s;
    clump = Spans_clump(sums->born, now->window_s, sums->born_squares,
                        now->windows);
    rates.born = sums->born * per_s + sums->gc_born / now->wall_s;
    rates.born_error = sqrt(clump * (sums->born + 1) * (1 - part)) * per_s;
    if (!objects->counts_deaths)
        return rates;
    rates.died = sums->died * per_s + sums->gc_died / now->wall_s;
    fill_growth(&objects->longer, sums, &rates);
    return rates;
}

double Objects_pair_rate(const struct Objects *objects,
                         const struct ObjectPairSums *sums)
{
    const struct ObjectsTotals *now = &objects->now;

    return sums->born / now->window_s * factor(now);
}

double Objects_pair_growth(const struct Objects *objects,
                           const struct ObjectPairSums *sums)
{
    return slope(&objects->longer, sums->net, sums->net_s);
}
