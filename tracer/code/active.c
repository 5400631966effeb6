// SPDX-License-Identifier: MIT
// See active.h.
#include "tracer/code/active.h"
#include "ipc/base/heap.h"

void Active_init(struct Active *active)
{
    *active = (struct Active){0};
    pthread_mutex_init(&active->mutex, NULL);
}

void Active_release(struct Active *active)
{
    pthread_mutex_destroy(&active->mutex);
    Heap_free(active->codes);
    active->codes = NULL;
    active->count = active->room = 0;
}

// --- Waking up -------------------------------------------------------------

void Active_add(struct Active *active, struct Code *code)
{
    code->node.woken = &active->woken;
    Code_push_woken(code);
}

void Active_hit(struct Active *active, struct Code *code, uint64_t ticks)
{
    if (atomic_exchange(&code->hot.activity, CODE_ACTIVE) == CODE_IDLE)
        Code_push_woken(code);
    Code_join_slice(code, &active->slice, ticks);
}

// --- Going to sleep --------------------------------------------------------

// Its next event is a hit, which its hooks see, or a sample. Code that
// has run once and was never armed is not worth a hook. The mark of its recent
// calls is not to move any more.
static bool may_be_idle(const struct Code *code)
{
    const struct CodeSpans *spans = &code->spans;

    if (code->hot.dark)
        return code->cold.unarmed && !code->cold.again &&
               !Counter_get(&code->share.samples);
    if (code->hot.stop_at == CODE_NEVER || !Code_was_seen(code))
        return true;
    return Code_arming(code) == ARMED_ALWAYS && !spans->ended &&
           Counter_get(&spans->open_ticks) && !(spans->pending > 0) &&
           !code->cold.jumps &&
           !Recent_is_due(&code->plan.recent, &code->hot.self_calls);
}

static bool is_sampled(const struct Code *code)
{
    return (uint32_t)Counter_get(&code->share.cumulative.total_ns) !=
           code->plan.sampled_ns;
}

bool Active_let_go(struct Active *active, struct Code *code, uint64_t ticks)
{
    if (!may_be_idle(code) || Counter_get(&code->hot.last_seen) >= ticks ||
        is_sampled(code) || atomic_load(&code->hot.activity) == CODE_IDLE)
        return false;
    code->spans.gaps = active->slice.gaps;
    // Sequentially consistent, as in Code_touch: either this sees what was
    // sampled, or the sampler sees that it is idle.
    atomic_store(&code->hot.activity, CODE_IDLE);
    atomic_fetch_add(&active->let_go, 1);
    if (is_sampled(code))
        Code_wake(code);
    return true;
}

// --- The list --------------------------------------------------------------

static bool holds(const struct Active *active, const struct Code *code)
{
    return code->node.place < active->count &&
           active->codes[code->node.place] == code;
}

static bool append(struct Active *active, struct Code *code)
{
    if (active->count == active->room) {
        size_t room = active->room ? active->room / 2 * 3 : 256;
        struct Code **codes = Heap_resize(active->codes, room * sizeof *codes);

        if (!codes)
            return false;
        active->codes = codes;
        active->room = room;
    }
    code->node.place = (uint32_t)active->count;
    active->codes[active->count++] = code;
    return true;
}

// The last one takes its place.
static void take_off(struct Active *active, struct Code *code)
{
    struct Code *last = active->codes[--active->count];

    active->codes[code->node.place] = last;
    last->node.place = code->node.place;
}

// It may have been let go and woken up while it was on the list.
static void take_woken(struct Active *active)
{
    struct Code *code =
        atomic_exchange_explicit(&active->woken, NULL, memory_order_acquire);
    struct Code *next;

    for (; code; code = next) {
        next = code->node.next_woken;
        atomic_store(&code->node.pushed, false);
        if (!holds(active, code) && !append(active, code))
            Code_push_woken(code); // the next time
    }
}

static void drop_idle(struct Active *active)
{
    size_t i = 0;

    if (!atomic_exchange(&active->let_go, 0))
        return;
    while (i < active->count)
        if (atomic_load(&active->codes[i]->hot.activity) == CODE_IDLE)
            take_off(active, active->codes[i]);
        else
            i++;
}

void Active_begin(struct Active *active)
{
    pthread_mutex_lock(&active->mutex);
    drop_idle(active);
    take_woken(active);
}

void Active_end(struct Active *active)
{
    pthread_mutex_unlock(&active->mutex);
}

void Active_remove(struct Active *active, struct Code *code)
{
    Active_begin(active);
    if (holds(active, code))
        take_off(active, code);
    Active_end(active);
}

bool ActiveIds_add(struct ActiveIds *list, uint32_t id)
{
    if (list->count == list->room) {
        size_t room = list->room ? list->room / 2 * 3 : 256;
        uint32_t *ids = Heap_resize(list->ids, room * sizeof *ids);

        if (!ids)
            return false;
        list->ids = ids;
        list->room = room;
    }
    list->ids[list->count++] = id;
    return true;
}

bool Active_list(struct Active *active, struct ActiveIds *list)
{
    bool whole = true;

    list->count = 0;
    Active_begin(active);
    for (size_t i = 0; i < active->count && whole; i++) {
        Active_fetch(active, i);
        whole = ActiveIds_add(list, active->codes[i]->hot.id);
    }
    Active_end(active);
    return whole;
}

void ActiveIds_release(struct ActiveIds *list)
{
    Heap_free(list->ids);
    *list = (struct ActiveIds){0};
}
