// SPDX-License-Identifier: MIT
// See looks.h.
#include "tracer/sample/looks.h"

#include <string.h>

#define BATCH 256      // threads that are looked at at a time
#define REFUSED_NS 3e9 // nothing can be read for so long: denied
#define RETRIES 3      // walks of a thread that goes on meanwhile

static void walk(struct Looks *looks, struct Subject *subject)
{
    struct SampledStack *stack = &subject->stack;
    struct Walk *walk = &looks->walk;

    // Before the walk: code that has come to one of the addresses since is not
    // what was seen there.
    stack->newest_id =
        Registry_newest_id(looks->sampling->attribution.registry);
    stack->ticks = UINT64_MAX;
    subject->start.state = subject->state;
    for (int i = 0; i < RETRIES; i++) {
        Walk_frames(walk, &subject->start);
        if (!walk->torn || !subject->start.read)
            break;
    }
    looks->refused = walk->torn && !Memory_recover(&looks->sampling->memory);
    stack->cut = walk->torn || walk->truncated;
    stack->depth = walk->depth;
    memcpy(stack->frames, walk->frames, walk->depth * sizeof(walk->frames[0]));
    Attribution_judge(&looks->sampling->attribution, stack,
                      subject->start.active);
    subject->walked = true;
}

static void make_timer(struct Looks *looks, struct Subject *subject)
{
    uint64_t refused = looks->sampling->timers.refused;

    subject->timer =
        CpuTimer_new(&looks->sampling->timers, subject->state, subject->tid);
    if (looks->sampling->timers.refused == refused || subject->untimed)
        return;
    subject->untimed = true;
    Cell_add(&looks->untimed, 1);
}

static void set_timer(struct Looks *looks, struct Subject *subject)
{
    if (!subject->timer)
        make_timer(looks, subject);
    if (subject->timer)
        CpuTimer_set(subject->timer, Sampling_period_ns(looks->sampling));
}

// What a thread waited in, from a look to the next, is what it waits in now; a
// look that finds it running leaves that to a later one. Returns whether it
// ran.
static bool look(struct Looks *looks, struct Subject *subject,
                 const struct ShareTime *now)
{
    enum SubjectLook seen = Subject_look(subject, &looks->sampling->clock, now);
    double cpu_ns, wait_ns = subject->wait_ns;
    bool running = false;

    if (seen == SUBJECT_GONE)
        return false;
    set_timer(looks, subject);
    if (seen == SUBJECT_NEW)
        return true;
    if (seen == SUBJECT_RAN) {
        walk(looks, subject);
        // Who has the interpreter and no CPU has lost that, perhaps to us.
        running = Subject_is_running(subject, &looks->sampling->clock) ||
                  subject->start.active;
    }
    cpu_ns = (double)Subject_overdue_ns(subject, running);
    if (cpu_ns > 0) {
        Subject_account(subject);
        Cell_add(&looks->sampling->samples, 1);
        looks->found++;
    }
    if (running)
        wait_ns = 0;
    else
        subject->wait_ns = 0;
    Sampling_attribute(looks->sampling, subject, &subject->stack, now, cpu_ns,
                       wait_ns);
    return subject->ran;
}

bool Looks_at_all(struct Looks *looks, const struct ShareTime *now)
{
    const struct SubjectTable *table = looks->sampling->subjects.table;
    size_t turns = table->count < BATCH ? table->count : BATCH;
    bool ran = table->count > turns; // others may have

    for (size_t i = 0; i < turns; i++)
        ran |= look(looks, table->subjects[looks->next++ % table->count], now);
    return ran;
}

// --- Where nothing can be read -----------------------------------------------

// The file that is read by may only have been closed, and is
// there again in a while: Memory_keep.
void Looks_note_sight(struct Looks *looks, uint64_t now_ns)
{
    if (!looks->refused)
        looks->readable_ns = now_ns;
    else if ((double)(now_ns - looks->readable_ns) > REFUSED_NS)
        Cell_set(&looks->denied, !Memory_recover(&looks->sampling->memory));
}

bool Looks_recover(struct Looks *looks, uint64_t now_ns)
{
    const struct SubjectTable *table = looks->sampling->subjects.table;

    if (!Memory_recover(&looks->sampling->memory))
        return false;
    for (size_t i = 0; i < table->count; i++)
        Subject_forget(table->subjects[i]);
    looks->readable_ns = now_ns;
    looks->refused = false;
    Cell_set(&looks->denied, 0);
    return true;
}

bool Looks_are_denied(const struct Looks *looks)
{
    return Cell_get(&looks->denied);
}

int Looks_init(struct Looks *looks, struct Sampling *sampling,
               const struct FrameLayout *layout)
{
    looks->sampling = sampling;
    looks->copies.memory = &sampling->memory;
    looks->readable_ns = sampling->stepped_ns;
    return Walk_init(&looks->walk, layout, &looks->copies);
}
