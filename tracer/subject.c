// SPDX-License-Identifier: MIT
// A sampled thread's clocks and what they are worth; see the header.
//
// A look finds a thread running or not, and the time since the look before goes
// to that: to CPU time or to waiting, of the function on top. Since the looks
// come at random times, that is right in the mean. It is then scaled by what
// the thread's CPU clock says: the looks do not see all of it running, since it
// may be us who took its CPU away.
//
// A thread that waits for a CPU is where the kernel took it away from it: at a
// system call more often than its share in time, since that is where kernels
// like to switch. So the CPU time goes by the looks that found it on a CPU, and
// to the others only the time that it waited. But where it hardly ever runs
// while it is looked at (on a machine with one CPU never), both are all there
// is to go by.
#define _GNU_SOURCE 1 // CPU_COUNT
#include "tracer/subject.h"

#include "ipc/heap.h"
#include "ipc/opened.h"
#include "tracer/rcu.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RATIO 10e9 // ns
// Seldom seen running: less than half of what its clock says.
#define RARE 2.0
#define SELDOM 1.2    // ... than five sixths of it
#define CHANCE 8.0    // looks that may have missed it by chance
#define OWED_NS 0.5e9 // in which what is outstanding is credited
#define STAT_STATE 3  // the number of a field
#define STAT_CPU 39
#define CROWD_NS 2e9     // in which what is known of its CPUs gets old,
#define CROWD_LOOKS 32   // ... but not in fewer looks
#define CROWD_CHANCE 3.0 // looks that may not have seen it run by chance
#define CROWD_KNOWN_NS 100000000 // that it has run: then its start says enough
#define CROWD 0.1                // of that, waiting for a CPU: often

void Subject_init(struct Subject *subject, uintptr_t state, pid_t tid)
{
    memset(subject, 0, sizeof(*subject));
    subject->state = state;
    subject->tid = tid;
}

enum SubjectLook Subject_look(struct Subject *subject,
                              const struct SampleClock *clock, double now)
{
    uint64_t cpu_ns = SampleClock_ns(clock, Now_clock_of(subject->tid));
    uint64_t wall_ns = SampleClock_ns(clock, CLOCK_MONOTONIC);
    double ran = (double)(int64_t)(cpu_ns - subject->cpu_ns);
    double since = (double)(int64_t)(wall_ns - subject->wall_ns);
    double fade = 1 / (1 + since / RATIO);
    bool known = subject->known;

    if (cpu_ns == 0) // it has ended
        return SUBJECT_GONE;
    subject->before_ns = subject->cpu_ns;
    subject->cpu_ns = cpu_ns;
    subject->wall_ns = wall_ns;
    subject->known = true;
    if (!known || ran < 0) { // below zero: another thread with that number
        subject->walked = subject->readied = false;
        return SUBJECT_NEW;
    }
    subject->since_ns = since;
    subject->woke = false;
    subject->ran_ns = subject->ran_ns * fade + ran;
    subject->owed_ns = subject->owed_ns * fade + ran;
    subject->seen_ns *= fade;
    subject->ready_ns *= fade;
    ShareValue_add(&subject->cpu, now, ran);
    ShareValue_add(&subject->wait, now, since - ran);
    Cell_add(&subject->samples, 1);
    if (ran > 0 || !subject->walked)
        return SUBJECT_RAN;
    subject->idle_ns += since;
    return SUBJECT_IDLE;
}

// Looks that are rare only while nothing runs do not come at random: if all of
// the span were credited to what is on top now, whatever a program does first
// when it wakes would be too much, by half a long interval each time.
void Subject_woke(struct Subject *subject)
{
    double ran = (double)(subject->cpu_ns - subject->before_ns);

    ran = ran < subject->since_ns ? ran : subject->since_ns;
    subject->idle_ns += subject->since_ns - ran;
    subject->since_ns = ran;
    subject->woke = true;
}

void Subject_forget(struct Subject *subject)
{
    subject->known = subject->walked = false;
    subject->idle_ns = 0;
}

double Subject_ran_part(const struct Subject *subject,
                        const struct SampleClock *clock)
{
    uint64_t cpu_ns = SampleClock_ns(clock, Now_clock_of(subject->tid));
    uint64_t wall_ns = SampleClock_ns(clock, CLOCK_MONOTONIC);

    if (cpu_ns <= subject->cpu_ns)
        return 0;
    return fmin(1, (double)(cpu_ns - subject->cpu_ns) /
                       (double)(wall_ns - subject->wall_ns));
}

// The text of a file of the kernel's about it; false: there is none.
static bool read_task(const struct Subject *subject, const char *name,
                      char *text, size_t room)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/task/%d/%s", (int)subject->tid,
             name);
    return Opened_read(path, text, room) > 0;
}

// It may use one CPU only: then we are on it.
static bool is_pinned(const struct Subject *subject)
{
    cpu_set_t set;

    return sched_getaffinity(subject->tid, sizeof(set), &set) == 0 &&
           CPU_COUNT(&set) == 1;
}

// ns that it ran, and that it waited for a CPU: /proc/self/task/TID/schedstat.
static bool read_delay(const struct Subject *subject, uint64_t *run,
                       uint64_t *delay)
{
    char text[128];

    return read_task(subject, "schedstat", text, sizeof(text)) &&
           sscanf(text, "%" SCNu64 " %" SCNu64, run, delay) == 2 && *run > 0;
}

// At first by all that it has run so far, if that says anything.
static void learn_crowd(struct Subject *subject, double now)
{
    uint64_t run, delay;

    subject->crowd_at = now;
    subject->crowded = true;
    if (is_pinned(subject) || !read_delay(subject, &run, &delay))
        return;
    if (subject->crowd_run > 0 || run > CROWD_KNOWN_NS)
        subject->crowded = (double)(delay - subject->crowd_delay) >
                           CROWD * (double)(run - subject->crowd_run);
    subject->crowd_run = run;
    subject->crowd_delay = delay;
}

// Where looks are rare, asking with one in a few would be most of their cost.
static bool is_crowd_old(const struct Subject *subject, double now)
{
    double kept = fmax(CROWD_NS, fmin(CROWD_LOOKS * subject->since_ns, RATIO));

    return subject->crowd_at <= 0 || now - subject->crowd_at > kept;
}

bool Subject_is_crowded(struct Subject *subject, double now)
{
    double chance = CROWD_CHANCE * subject->since_ns;

    if (is_crowd_old(subject, now))
        learn_crowd(subject, now);
    // It ran, but not while it was looked at: it may be our looking that takes
    // its CPU away, which costs it too little time to show.
    return subject->crowded ||
           subject->ran_ns > SELDOM * subject->seen_ns + chance;
}

// Its CPU, in /proc/self/task/TID/stat, or -1.
static int read_cpu_number(char *field)
{
    for (int number = STAT_STATE; field && number < STAT_CPU; number++)
        field = strchr(field + 1, ' ');
    return field ? atoi(field) : -1;
}

enum SubjectDoing Subject_ask(const struct Subject *subject)
{
    char text[1024], *end;

    if (!read_task(subject, "stat", text, sizeof(text)))
        return DOING_WAITED;
    end = strrchr(text, ')'); // of its name, which may hold anything
    if (!end || strncmp(end, ") R", 3) != 0)
        return DOING_WAITED;
    return read_cpu_number(end + 1) == sched_getcpu() ? DOING_RAN : DOING_READY;
}

bool Subject_slept(struct Subject *subject)
{
    static const char name[] = "\nvoluntary_ctxt_switches:";
    uint64_t before = subject->sleeps;
    char text[4096], *found;

    if (!read_task(subject, "status", text, sizeof(text)))
        return true;
    found = strstr(text, name);
    if (!found)
        return true;
    subject->sleeps = strtoull(found + sizeof(name) - 1, NULL, 10) + 1;
    return subject->sleeps != before;
}

void Subject_set_stack(struct Subject *subject, const struct Walk *walk,
                       uint32_t newest_id, struct SubjectTop top)
{
    subject->newest_id = newest_id;
    subject->top = top;
    subject->cut = walk->truncated || walk->torn;
    subject->depth = walk->depth;
    memcpy(subject->stack, walk->frames, walk->depth * sizeof(walk->frames[0]));
    subject->walked = true;
}

// Is what it did while it waited for a CPU as good as what it did on one?
static bool counts_ready(const struct Subject *subject)
{
    return subject->ran_ns >
           RARE * subject->seen_ns + CHANCE * subject->since_ns;
}

// Splits what is to be credited into CPU time and waiting.
static void split(struct Subject *subject, enum SubjectDoing doing, double *cpu,
                  double *wait)
{
    double since = subject->since_ns, ran = subject->ran_ns;
    double seen, off;

    *cpu = 0;
    *wait = since;
    if (doing == DOING_IDLED) {
        *wait = subject->idle_ns;
        subject->idle_ns = 0;
        return;
    }
    if (doing == DOING_WAITED) {
        if (subject->woke) // it ran, nobody saw where: the ratio makes up
            *wait = 0;
        return;
    }
    if (doing == DOING_RAN)
        subject->seen_ns += since;
    else
        subject->ready_ns += since;
    seen = subject->seen_ns;
    if (doing == DOING_READY && !counts_ready(subject)) {
        off = (seen + subject->ready_ns - ran) / subject->ready_ns;
        *wait = since * fmin(fmax(off, 0), 1);
        return;
    }
    if (counts_ready(subject))
        seen += subject->ready_ns;
    // What its clock says, no more and in the end no less: the ratio settles
    // only with time, and the time of looks that did not count may be
    // outstanding.
    *cpu = fmax(since * ran / seen, subject->owed_ns * since / OWED_NS);
    *cpu = fmin(*cpu, subject->owed_ns);
    subject->owed_ns -= *cpu;
    *wait = fmax(since - *cpu, 0);
}

// --- Credit ----------------------------------------------------------------

// What a function gets at its first sample; where memory is out, at a later.
static void prepare(struct Code *code)
{
    struct Share *share = &code->share;
    size_t count = Code_spot_count(code), spots = 2 * count; // and those in C
    void *room;

    if (atomic_load_explicit(&share->callers, memory_order_relaxed))
        return;
    // Both pair with the acquire of whoever reads.
    if (!Code_spots(code)) {
        room = Heap_zeroed(spots + 1, sizeof(*share->spots));
        atomic_store_explicit(&share->spots, room, memory_order_release);
    }
    if (!share->callees)
        share->callees = Heap_zeroed(count + 1, sizeof(*share->callees));
    if (!Code_spots(code) || !share->callees)
        return;
    room = Heap_zeroed(1, sizeof(struct Split));
    atomic_store_explicit(&share->callers, room, memory_order_release);
    Cell_set(&share->bytes, sizeof(struct Split) + (spots + count + 2) * 4);
}

// Dark code cannot tell by itself who calls it. Seen twice, that a torn stack
// makes nobody a caller.
static void tell(struct Ledger *ledger, struct SplitPart *part,
                 const struct Code *caller, const struct Code *callee)
{
    struct Edge edge = {caller->id, callee->id};

    if (part->told || part->seen < 2 ||
        !atomic_load_explicit(&callee->dark, memory_order_relaxed))
        return;
    part->told = Edges_push(ledger->edges, edge);
}

// The code of a frame that may be credited, or NULL.
static struct Code *code_of(const struct Subject *subject,
                            const struct Ledger *ledger, unsigned frame)
{
    struct Code *code =
        Registry_find(ledger->registry, subject->stack[frame].code);

    return code && !Code_is_after(code, subject->newest_id) ? code : NULL;
}

uint32_t Ledger_unit(const struct Ledger *ledger, const struct Code *code,
                     const struct WalkFrame *frame)
{
    uintptr_t offset =
        frame->instruction - code->address - ledger->code_bytecode;

    return offset % 2 == 0 && offset / 2 < code->unit_count
               ? (uint32_t)(offset / 2)
               : UINT32_MAX;
}

// The frame on top was called from where the one below it is.
static void learn_callee(const struct Subject *subject,
                         const struct Ledger *ledger, struct Code *caller,
                         const struct Code *callee)
{
    uint32_t unit = Ledger_unit(ledger, caller, &subject->stack[1]);

    if (caller->share.callees && unit != UINT32_MAX)
        caller->share.callees[caller->units[unit].number] = callee->id;
}

// The outermost frame of each function, from the bottom of the stack up. Sets
// *top to the innermost frame that counts, and returns its code or NULL.
static struct Code *credit_stack(struct Subject *subject, struct Ledger *ledger,
                                 struct ShareCredit *credit, unsigned *top)
{
    struct Code *caller = NULL;
    unsigned caller_at = 0;

    ledger->stamp++;
    for (unsigned i = subject->depth; i-- > 0;) {
        struct Code *code = code_of(subject, ledger, i);
        struct Split *callers;

        if (!code)
            continue;
        *top = i;
        if (code->share.stamp != ledger->stamp) {
            code->share.stamp = ledger->stamp;
            prepare(code);
            ShareValue_credit(&code->share.under, credit);
            callers = code->share.callers;
            if (callers && caller)
                tell(ledger, Split_add(callers, caller->id, credit), caller,
                     code);
            else if (callers && subject->cut)
                Split_add(callers, 0, credit);
        }
        if (i == 0 && caller_at == 1)
            learn_callee(subject, ledger, caller, code);
        caller = code;
        caller_at = i;
    }
    return caller;
}

static void count_look(_Atomic uint32_t *looks)
{
    uint32_t seen = atomic_load_explicit(looks, memory_order_relaxed);

    if (seen < UINT32_MAX)
        atomic_store_explicit(looks, seen + 1, memory_order_relaxed);
}

static void count_spot(const struct Ledger *ledger, struct Code *code,
                       const struct WalkFrame *frame, bool in_c)
{
    _Atomic uint32_t *spots = code->share.spots;
    uint32_t unit = Ledger_unit(ledger, code, frame);

    if (!spots || unit == UINT32_MAX)
        return;
    spots += code->units[unit].number;
    count_look(spots);
    if (in_c)
        count_look(spots + Code_spot_count(code));
}

// Who is on the stack, outermost first. Only while somebody looks at the
// stacks: it is looked up once more. Returns how many.
static size_t find_path(const struct Subject *subject,
                        const struct Ledger *ledger, uint32_t *path)
{
    size_t depth = 0;

    if (subject->cut)
        path[depth++] = 0;
    for (unsigned i = subject->depth; i-- > 0;) {
        const struct Code *code = code_of(subject, ledger, i);

        if (code)
            path[depth++] = code->id;
    }
    return depth;
}

double Subject_credit(struct Subject *subject, enum SubjectDoing doing,
                      struct Ledger *ledger, double now)
{
    struct ShareCredit all, ran, waited;
    uint32_t path[WALK_DEPTH + 1];
    size_t depth = 0;
    unsigned top = 0;
    double cpu, wait;
    struct Code *code;
    bool queued, is_kept;

    split(subject, doing, &cpu, &wait);
    if (!(cpu + wait > 0))
        return 0;
    ShareCredit_init(&all, now, cpu + wait);
    ShareCredit_init(&ran, now, cpu);
    ShareCredit_init(&waited, now, wait);
    // Who ran or was about to has waited for a CPU, if for anything; and goes
    // on to, until its clock moves.
    if (doing != DOING_IDLED)
        subject->readied = doing == DOING_READY;
    queued = doing == DOING_RAN || subject->readied || subject->top.queued;
    Rcu_read_lock();
    code = credit_stack(subject, ledger, &all, &top);
    if (code) {
        ShareValue_credit(&code->share.cpu, &ran);
        ShareValue_credit(&code->share.wait, &waited);
        if (queued && wait > 0)
            ShareValue_credit(&code->share.queued, &waited);
        if (top == 0 && subject->top.in_c)
            ShareValue_credit(&code->share.in_c, &ran);
        if (cpu > 0)
            count_spot(ledger, code, &subject->stack[top],
                       top == 0 && subject->top.in_c);
        Cell_add(&code->share.samples, 1);
        if (cpu > 0)
            Cell_add(&code->share.run_samples, 1);
    }
    if (cpu > 0)
        Split_add(&subject->functions, code ? code->id : 0, &ran);
    is_kept = cpu > 0 && Flame_is_wanted(ledger->flame);
    if (is_kept)
        depth = find_path(subject, ledger, path);
    Rcu_read_unlock();
    // Whoever asks for all of it has its lock for some time.
    if (is_kept)
        Flame_add(ledger->flame,
                  &(struct FlameSample){
                      path, depth, top == 0 && subject->top.in_c, now, cpu});
    return code && top == 0 ? 0 : cpu;
}
