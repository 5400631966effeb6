// SPDX-License-Identifier: MIT
// The sampler's thread: when it wakes up, what it does then, and what that
// cost. Nothing here waits for the interpreter.
#include "tracer/sample/sampler.h"
#include "ipc/base/heap.h"

#include "tracer/base/rcu.h"

#include <errno.h>

#include <pthread.h>
#include <string.h>

#define STACK_SIZE (128u << 10)
#define MAX_HZ 10000
#define BATCH 256       // threads that are looked at at a time
#define FIRST_NS 10e6   // to the first step
#define LOOK_NS 250e6   // between two steps,
#define UNTIMED_NS 50e6 // ... where there are no timers,
#define IDLE_NS 1e9     // ... and where nothing has run, at most
#define REFUSED_NS 3e9  // nothing can be read for so long: it is blind, and
#define RETRY_NS 2e9    // tries as often
#define MOST_STARTS 100 // threads a second that are sampled from the start
#define RETRIES 3       // walks of a thread that goes on meanwhile
// What the kernel takes for a signal, beside the handler: to queue and deliver
// it, and to return (docs/overhead.md).
#define SIGNAL_S 2.5e-6

struct Sampler {
    struct Attribution attribution; // its registry is borrowed
    struct Edges edges;
    struct Flame flame;
    struct Subjects subjects;
    struct CpuTimers timers;
    struct Memory memory;
    struct Walk walk;
    struct WalkCopies copies;
    struct SampledStack stack; // of the sample that is being attributed
    struct SampleClock clock;
    struct ShareClock time;
    int signal;           // wanted; 0: any
    uint64_t stepped_ns;  // CLOCK_MONOTONIC of the newest step
    uint64_t due_ns;      // of the next
    double interval_ns;   // to that
    size_t next;          // whose turn it is in the table
    uint64_t found;       // samples that looks were, in the newest step
    bool refused;         // the newest stack, as all would have been
    uint64_t readable_ns; // when that was not so

    struct Worker worker;
    pthread_mutex_t lock; // guards `stop`
    pthread_cond_t wake;
    bool stop;

    cell_t hz;        // a double's bits: samples a second of CPU time, wanted
    cell_t collected; // ticks, before the newest step
    cell_t looks;
    cell_t samples;
    cell_t unknown;
    cell_t truncated;
    cell_t lost;
    cell_t ours;
    cell_t untimed;
    cell_t taken;
    cell_t handler_ticks;
    _Atomic uint64_t begun;          // threads that have begun, since the start
    _Atomic uint64_t begun_ticks;    // that their timers took to make
    _Atomic uint32_t one_in;         // so many gets one
    uint64_t begun_before, begun_ns; // at the newest step
    cell_t blind;                    // 1: yes
    cell_t signal_used, error;
    struct ShareValue elsewhere;
};

static uint64_t read_ns(const struct Sampler *sampler, clockid_t id)
{
    return SampleClock_ns(&sampler->clock, id);
}

struct ShareTime Sampler_now(const struct Sampler *sampler)
{
    return ShareClock_now(&sampler->time);
}

uint64_t Sampler_collected_ticks(const struct Sampler *sampler)
{
    return Sampler_is_blind(sampler) || !Cell_get(&sampler->signal_used)
               ? UINT64_MAX
               : Cell_get(&sampler->collected);
}

bool Sampler_is_blind(const struct Sampler *sampler)
{
    return Cell_get(&sampler->blind);
}

static void attribute(struct Sampler *sampler, struct Subject *subject,
                      const struct SampledStack *stack,
                      const struct ShareTime *now, double cpu_ns,
                      double wait_ns)
{
    ShareValue_add(&sampler->elsewhere, now,
                   Attribution_add(&sampler->attribution, stack, now,
                                   &subject->functions, cpu_ns, wait_ns));
}

// --- Samples -----------------------------------------------------------------

static void take_sample(struct Sampler *sampler, struct Subject *subject,
                        const struct SampleHead *head,
                        const struct ShareTime *now)
{
    struct SampledStack *stack = &sampler->stack;

    Cell_add(&sampler->samples, 1);
    Cell_add(&sampler->unknown, (head->flags & SAMPLE_TORN) != 0);
    Cell_add(&sampler->truncated, (head->flags & SAMPLE_TRUNCATED) != 0);
    Cell_add(&sampler->ours, (head->flags & SAMPLE_OURS) != 0);
    stack->newest_id = head->newest_id;
    stack->ticks = head->ticks;
    stack->depth = head->depth;
    stack->cut = head->flags & (SAMPLE_TORN | SAMPLE_TRUNCATED);
    Attribution_judge(&sampler->attribution, stack,
                      head->flags & SAMPLE_ACTIVE);
    attribute(sampler, subject, stack, now, (double)head->cpu_ns, 0);
}

// What its handlers took since this was asked last.
static void take_costs(struct Sampler *sampler, struct CpuTimer *timer)
{
    uint64_t taken = Cell_get(&timer->taken);
    uint64_t handler_ticks = Cell_get(&timer->handler_ticks);
    uint64_t lost = Cell_get(&timer->ring.lost);

    Cell_add(&sampler->taken, taken - timer->seen_taken);
    Cell_add(&sampler->handler_ticks, handler_ticks - timer->seen_ticks);
    Cell_add(&sampler->lost, lost - timer->seen_lost);
    timer->seen_taken = taken;
    timer->seen_ticks = handler_ticks;
    timer->seen_lost = lost;
}

static void drop_unlisted(struct Subject **link)
{
    struct Subject *subject = *link;

    *link = subject->next;
    CpuTimer_free(subject->timer);
    Heap_free(subject);
}

// Where more threads start than MOST_STARTS a second, one in several gets a
// timer and represents the others.
static void take_begun(struct Sampler *sampler)
{
    struct CpuTimers *timers = &sampler->timers;
    struct CpuTimer *timer = CpuTimers_take_begun(timers), *next;
    uint64_t begun =
        atomic_load_explicit(&sampler->begun, memory_order_relaxed);
    double s = (double)(sampler->stepped_ns - sampler->begun_ns) * 1e-9;
    double rate = (double)(begun - sampler->begun_before) / (s > 0 ? s : 1);

    for (; timer; timer = next) {
        next = timer->next;
        // Of a signal that has been given up since?
        if (timer->signal != timers->signal ||
            !Subjects_add_unlisted(&sampler->subjects, timer))
            CpuTimer_free(timer);
    }
    sampler->begun_before = begun;
    sampler->begun_ns = sampler->stepped_ns;
    atomic_store_explicit(&sampler->one_in, 1 + (uint32_t)(rate / MOST_STARTS),
                          memory_order_relaxed);
}

static void free_timers(struct Sampler *sampler)
{
    const struct SubjectTable *table = sampler->subjects.table;

    for (size_t i = 0; i < table->count; i++)
        Subject_drop_timer(table->subjects[i]);
    take_begun(sampler);
    while (sampler->subjects.unlisted)
        drop_unlisted(&sampler->subjects.unlisted);
}

static void note_signal(struct Sampler *sampler)
{
    Cell_set(&sampler->signal_used, (uint64_t)sampler->timers.signal);
    Cell_set(&sampler->error, (uint64_t)-sampler->timers.error);
}

// Begins anew where another handler has come in place of ours, which asks for
// another signal, and where nothing can be read any more.
static void check_timers(struct Sampler *sampler, bool unread)
{
    struct CpuTimers *timers = &sampler->timers;

    if (CpuTimers_is_robbed(timers) ||
        (unread && !Memory_is_readable((uintptr_t)timers))) {
        free_timers(sampler);
        CpuTimers_close(timers);
        CpuTimers_open(timers, sampler->signal);
    }
    note_signal(sampler);
}

static uint64_t count_of(const struct Subject *subject)
{
    const struct CpuTimer *timer = subject->timer;

    return timer ? Cell_get(&timer->taken) - timer->seen_taken : 0;
}

static uint64_t count_new(const struct Sampler *sampler)
{
    const struct SubjectTable *table = sampler->subjects.table;
    const struct Subject *unlisted = sampler->subjects.unlisted;
    uint64_t count = 0;

    for (size_t i = 0; i < table->count; i++)
        count += count_of(table->subjects[i]);
    for (; unlisted; unlisted = unlisted->next)
        count += count_of(unlisted);
    return count;
}

// Returns whether one of its stacks could not be read at all.
static bool collect_from(struct Sampler *sampler, struct Subject *subject,
                         const struct ShareTime *now)
{
    struct SampleHead head;
    bool unread = false;

    if (!subject->timer)
        return false;
    while (CpuTimer_pop(subject->timer, &head, sampler->stack.frames)) {
        unread |= (head.flags & SAMPLE_UNREAD) != 0;
        take_sample(sampler, subject, &head, now);
    }
    take_costs(sampler, subject->timer);
    return unread;
}

static void collect(struct Sampler *sampler, const struct ShareTime *now)
{
    const struct SubjectTable *table = sampler->subjects.table;
    struct Subject **unlisted = &sampler->subjects.unlisted;
    uint64_t ticks = Clock_read(sampler->timers.clock);
    bool unread = false;

    for (size_t i = 0; i < table->count; i++)
        unread |= collect_from(sampler, table->subjects[i], now);
    while (*unlisted) {
        // Asked before: what it has sampled until then is there.
        bool gone = !read_ns(sampler, Now_clock_of((*unlisted)->tid));

        unread |= collect_from(sampler, *unlisted, now);
        if (gone)
            drop_unlisted(unlisted);
        else
            unlisted = &(*unlisted)->next;
    }
    Cell_set(&sampler->collected, ticks);
    check_timers(sampler, unread);
}

// --- A look at all threads ---------------------------------------------------

static void walk(struct Sampler *sampler, struct Subject *subject)
{
    struct SampledStack *stack = &subject->stack;
    struct Walk *walk = &sampler->walk;

    // Before the walk: code that has come to one of the addresses since is not
    // what was seen there.
    stack->newest_id = Registry_newest_id(sampler->attribution.registry);
    stack->ticks = UINT64_MAX;
    subject->start.state = subject->state;
    for (int i = 0; i < RETRIES; i++) {
        Walk_frames(walk, &subject->start);
        if (!walk->torn || !subject->start.read)
            break;
    }
    sampler->refused = walk->torn && !Memory_recover(&sampler->memory);
    stack->cut = walk->torn || walk->truncated;
    stack->depth = walk->depth;
    memcpy(stack->frames, walk->frames, walk->depth * sizeof(walk->frames[0]));
    Attribution_judge(&sampler->attribution, stack, subject->start.active);
    subject->walked = true;
}

static void make_timer(struct Sampler *sampler, struct Subject *subject)
{
    uint64_t refused = sampler->timers.refused;

    subject->timer =
        CpuTimer_new(&sampler->timers, subject->state, subject->tid);
    if (sampler->timers.refused == refused || subject->untimed)
        return;
    subject->untimed = true;
    Cell_add(&sampler->untimed, 1);
}

static void set_timer(struct Sampler *sampler, struct Subject *subject)
{
    if (!subject->timer)
        make_timer(sampler, subject);
    if (subject->timer)
        CpuTimer_set(subject->timer,
                     (uint64_t)(1e9 / Cell_get_double(&sampler->hz)));
}

// What a thread waited in, from a look to the next, is what it waits in now; a
// look that finds it running leaves that to a later one. Returns whether it
// ran.
static bool look(struct Sampler *sampler, struct Subject *subject,
                 const struct ShareTime *now)
{
    enum SubjectLook seen = Subject_look(subject, &sampler->clock, now);
    double cpu_ns, wait_ns = subject->wait_ns;
    bool running = false;

    if (seen == SUBJECT_GONE)
        return false;
    set_timer(sampler, subject);
    if (seen == SUBJECT_NEW)
        return true;
    if (seen == SUBJECT_RAN) {
        walk(sampler, subject);
        // Who has the interpreter and no CPU has lost that, perhaps to us.
        running = Subject_is_running(subject, &sampler->clock) ||
                  subject->start.active;
    }
    cpu_ns = (double)Subject_overdue_ns(subject, running);
    if (cpu_ns > 0) {
        Subject_account(subject);
        Cell_add(&sampler->samples, 1);
        sampler->found++;
    }
    if (running)
        wait_ns = 0;
    else
        subject->wait_ns = 0;
    attribute(sampler, subject, &subject->stack, now, cpu_ns, wait_ns);
    return subject->ran;
}

static bool look_at_all(struct Sampler *sampler, const struct ShareTime *now)
{
    const struct SubjectTable *table = sampler->subjects.table;
    size_t turns = table->count < BATCH ? table->count : BATCH;
    bool ran = table->count > turns; // others may have

    for (size_t i = 0; i < turns; i++)
        ran |=
            look(sampler, table->subjects[sampler->next++ % table->count], now);
    return ran;
}

// --- Where nothing can be read -----------------------------------------------

// After a look. The file that it reads by may only have been closed, and is
// there again in a while: Memory_keep.
static void note_sight(struct Sampler *sampler, uint64_t now_ns)
{
    if (!sampler->refused)
        sampler->readable_ns = now_ns;
    else if ((double)(now_ns - sampler->readable_ns) > REFUSED_NS)
        Cell_set(&sampler->blind, !Memory_recover(&sampler->memory));
}

// False: it still is. Else all that it knows of its threads is of before.
static bool sees_again(struct Sampler *sampler, uint64_t now_ns)
{
    const struct SubjectTable *table = sampler->subjects.table;

    if (!Memory_recover(&sampler->memory))
        return false;
    for (size_t i = 0; i < table->count; i++)
        Subject_forget(table->subjects[i]);
    sampler->readable_ns = sampler->stepped_ns = now_ns;
    sampler->refused = false;
    Cell_set(&sampler->blind, 0);
    return true;
}

// --- A step ------------------------------------------------------------------

// The time since the step before; a machine that slept had no time meanwhile.
static struct ShareTime advance(struct Sampler *sampler, uint64_t now_ns,
                                uint64_t samples)
{
    uint64_t since = now_ns - sampler->stepped_ns;

    sampler->stepped_ns = now_ns;
    ShareClock_advance(&sampler->time, (double)since, (double)samples);
    return Sampler_now(sampler);
}

static void choose_due(struct Sampler *sampler, uint64_t now_ns, bool ran)
{
    double least = sampler->timers.signal ? LOOK_NS : UNTIMED_NS;

    sampler->interval_ns = ran ? least : 2 * sampler->interval_ns;
    if (sampler->interval_ns < least)
        sampler->interval_ns = least;
    if (sampler->interval_ns > IDLE_NS)
        sampler->interval_ns = IDLE_NS;
    sampler->due_ns = now_ns + (uint64_t)sampler->interval_ns;
}

static void wake_up(struct Sampler *sampler, uint64_t now_ns)
{
    struct ShareTime now;
    bool ran;

    Cell_add(&sampler->looks, 1);
    Memory_keep(&sampler->memory, now_ns);
    if (Sampler_is_blind(sampler) && !sees_again(sampler, now_ns)) {
        sampler->stepped_ns = now_ns;
        sampler->due_ns = now_ns + (uint64_t)RETRY_NS;
        return;
    }
    take_begun(sampler);
    now = advance(sampler, now_ns, count_new(sampler) + sampler->found);
    sampler->found = 0;
    collect(sampler, &now);
    Subjects_take(&sampler->subjects);
    ran = look_at_all(sampler, &now) || sampler->subjects.unlisted;
    note_sight(sampler, now_ns);
    choose_due(sampler, now_ns, ran);
}

uint64_t Sampler_step(struct Sampler *sampler)
{
    uint64_t now_ns = read_ns(sampler, CLOCK_MONOTONIC);

    if (now_ns >= sampler->due_ns)
        wake_up(sampler, now_ns);
    return sampler->due_ns;
}

void Sampler_collect(struct Sampler *sampler)
{
    sampler->due_ns = 0;
    Sampler_step(sampler);
}

// --- The thread --------------------------------------------------------------

// false: it is to stop.
static bool wait_until(struct Sampler *sampler, uint64_t due_ns)
{
    struct timespec due = {(time_t)(due_ns / 1000000000u),
                           (long)(due_ns % 1000000000u)};
    bool stop;
    int error = 0;

    pthread_mutex_lock(&sampler->lock);
    while (!sampler->stop && error == 0)
        error = pthread_cond_timedwait(&sampler->wake, &sampler->lock, &due);
    stop = sampler->stop;
    pthread_mutex_unlock(&sampler->lock);
    return !stop;
}

static void run(void *argument)
{
    struct Sampler *sampler = argument;

    Worker_leave_descriptors();
    while (wait_until(sampler, Sampler_step(sampler)))
        continue;
}

static int start_thread(struct Sampler *sampler)
{
    sampler->stop = false;
    sampler->worker.prepare = Rcu_register;
    return Worker_start(&sampler->worker, "ocular-sampler", run, sampler,
                        STACK_SIZE);
}

static void free_all(struct Sampler *sampler)
{
    Memory_close(&sampler->memory);
    Subjects_release(&sampler->subjects);
    Heap_free(sampler);
}

static void init_waiting(struct Sampler *sampler)
{
    pthread_condattr_t attributes;

    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_mutex_init(&sampler->lock, NULL);
    pthread_cond_init(&sampler->wake, &attributes);
    pthread_condattr_destroy(&attributes);
}

static int init(struct Sampler *sampler, const struct FrameLayout *layout)
{
    int error = Memory_open(&sampler->memory);

    if (error)
        return error;
    sampler->copies.memory = &sampler->memory;
    error = Walk_init(&sampler->walk, layout, &sampler->copies);
    return error ? error : Subjects_init(&sampler->subjects);
}

static void set_parts(struct Sampler *sampler, const struct SamplerParts *parts)
{
    static const struct SampleClock kernel = {SampleClock_kernel_ns, NULL};

    sampler->clock = parts->clock ? *parts->clock : kernel;
    sampler->signal = parts->signal;
    sampler->attribution = (struct Attribution){
        .registry = parts->registry,
        .opcodes = parts->opcodes,
        .memory = &sampler->memory,
        .edges = &sampler->edges,
        .flame = &sampler->flame,
        .code_bytecode = parts->layout->code_bytecode,
    };
    sampler->timers.registry = parts->registry;
    sampler->timers.layout = parts->layout;
    sampler->timers.clock = parts->counter;
}

int Sampler_new(struct Sampler **result, const struct SamplerParts *parts,
                double hz)
{
    struct Sampler *sampler = Heap_zeroed(1, sizeof(*sampler));
    int error;

    if (sampler == NULL)
        return -ENOMEM;
    set_parts(sampler, parts);
    Flame_init(&sampler->flame);
    sampler->memory.fd = -1;
    init_waiting(sampler);
    error = Sampler_set_hz(sampler, hz);
    if (!error)
        error = init(sampler, parts->layout);
    if (error) {
        free_all(sampler);
        return error;
    }
    if (sampler->signal >= 0)
        CpuTimers_open(&sampler->timers, sampler->signal);
    note_signal(sampler);
    sampler->one_in = 1;
    sampler->stepped_ns = read_ns(sampler, CLOCK_MONOTONIC);
    sampler->readable_ns = sampler->stepped_ns;
    sampler->due_ns = sampler->stepped_ns + (uint64_t)FIRST_NS;
    *result = sampler;
    return 0;
}

int Sampler_start(struct Sampler **result, const struct SamplerParts *parts,
                  double hz)
{
    struct Sampler *sampler;
    int error = Sampler_new(&sampler, parts, hz);

    if (error)
        return error;
    error = start_thread(sampler);
    if (error) {
        Sampler_stop(sampler);
        return error;
    }
    *result = sampler;
    return 0;
}

void Sampler_pause(struct Sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    sampler->stop = true;
    pthread_cond_signal(&sampler->wake);
    pthread_mutex_unlock(&sampler->lock);
    Worker_join(&sampler->worker);
}

int Sampler_resume(struct Sampler *sampler)
{
    return sampler->worker.started ? 0 : start_thread(sampler);
}

void Sampler_stop(struct Sampler *sampler)
{
    Sampler_pause(sampler);
    free_timers(sampler);
    CpuTimers_close(&sampler->timers);
    pthread_mutex_destroy(&sampler->lock);
    pthread_cond_destroy(&sampler->wake);
    Flame_release(&sampler->flame);
    free_all(sampler);
}

void Sampler_abandon(struct Sampler *sampler)
{
    CpuTimers_abandon(&sampler->timers);
    Flame_abandon(&sampler->flame);
    free_all(sampler);
}

// --- Any thread --------------------------------------------------------------

int Sampler_set_hz(struct Sampler *sampler, double hz)
{
    if (!(hz > 0 && hz <= MAX_HZ))
        return -EINVAL;
    Cell_set_double(&sampler->hz, hz);
    return 0;
}

// A number that nobody else gets (splitmix64 by Vigna: public domain).
static uint64_t scatter(uint64_t number)
{
    number = (number ^ number >> 30) * 0xbf58476d1ce4e5b9u;
    number = (number ^ number >> 27) * 0x94d049bb133111ebu;
    return number ^ number >> 31;
}

void Sampler_begin_thread(struct Sampler *sampler, uintptr_t state)
{
    const struct Clock *clock = sampler->timers.clock;
    uint64_t begin = Clock_read(clock);
    uint64_t number =
        scatter(begin + 0x9e3779b97f4a7c15u *
                            atomic_fetch_add_explicit(&sampler->begun, 1,
                                                      memory_order_relaxed));
    uint32_t one_in =
        atomic_load_explicit(&sampler->one_in, memory_order_relaxed);
    uint64_t took;

    if (!Cell_get(&sampler->signal_used) || number % one_in)
        return;
    CpuTimer_begin(&sampler->timers, state,
                   (uint64_t)(1e9 / Cell_get_double(&sampler->hz)), one_in,
                   number / one_in);
    took = Clock_read(clock) - begin;
    atomic_fetch_add_explicit(
        &sampler->begun_ticks,
        took < sampler->timers.most ? took : sampler->timers.most,
        memory_order_relaxed);
}

int Sampler_set_threads(struct Sampler *sampler,
                        const struct SampledThread *threads, size_t count)
{
    return Subjects_offer(&sampler->subjects, threads, count);
}

long Sampler_threads(struct Sampler *sampler, struct ThreadShares **shares)
{
    struct ShareTime now = Sampler_now(sampler);

    return Subjects_shares(&sampler->subjects, &now, shares);
}

struct FlameTable *Sampler_stacks(struct Sampler *sampler)
{
    struct ShareTime now = Sampler_now(sampler);
    struct FlameTable *table = Flame_read(&sampler->flame, &now);

    if (table && Flame_name(table, sampler->attribution.registry))
        return table;
    FlameTable_free(table);
    return NULL;
}

bool Sampler_take_edge(struct Sampler *sampler, struct Edge *edge)
{
    return Edges_pop(&sampler->edges, edge);
}

uint64_t Sampler_threads_dropped(struct Sampler *sampler)
{
    return Subjects_dropped(&sampler->subjects);
}

void Sampler_totals(struct Sampler *sampler, struct SamplerTotals *totals)
{
    struct ShareTime now = Sampler_now(sampler);

    *totals = (struct SamplerTotals){
        .window_s = ShareClock_window_s(&sampler->time),
        .window_samples = ShareClock_samples(&sampler->time),
        .looks = Cell_get(&sampler->looks),
        .samples = Cell_get(&sampler->samples),
        .unknown = Cell_get(&sampler->unknown),
        .truncated = Cell_get(&sampler->truncated),
        .lost = Cell_get(&sampler->lost),
        .ours = Cell_get(&sampler->ours),
        .untimed = Cell_get(&sampler->untimed),
        .signal = (int)Cell_get(&sampler->signal_used),
        .error = -(int)Cell_get(&sampler->error),
        .elsewhere = ShareValue_window(&sampler->elsewhere, &now),
        .cpu_s = (double)Worker_cpu_ns(&sampler->worker) * 1e-9 +
                 (double)atomic_load_explicit(&sampler->begun_ticks,
                                              memory_order_relaxed) /
                     Clock_hz(sampler->timers.clock),
        .taken = Cell_get(&sampler->taken),
    };
    totals->handlers_s = (double)Cell_get(&sampler->handler_ticks) /
                             Clock_hz(sampler->timers.clock) +
                         SIGNAL_S * (double)totals->taken;
    if (now.full_ns > 0)
        totals->hz =
            Cell_get_double(&sampler->time.samples) / now.full_ns * 1e9;
}
