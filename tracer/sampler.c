// SPDX-License-Identifier: MIT
// The sampler's thread: when it wakes, what it does then, and the account of
// it. Nothing here waits for the interpreter.
#include "tracer/sampler.h"
#include "ipc/heap.h"

#include "tracer/interruption.h"
#include "tracer/rcu.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <time.h>

#define STACK_SIZE (128u << 10)
#define MAX_HZ 10000
#define BATCH 64 // threads a wake-up; the others have their turn at the next
#define ASKS 4   // threads a wake-up of which the kernel is asked the state
#define IDLE_NS 100e6    // a waiting thread is credited ten times a second
#define STILL_NS 100e6   // when nothing has run for so long, looks get rarer,
#define STRETCH_NS 125e6 // up to so far apart
#define STILL_BATCH 256  // threads a wake-up then
#define PACE_NS 2e9      // the rate achieved is a mean over this
#define NEARLY 0.9       // of the time of a look: all of it, but for interrupts
#define REFUSED_NS 3e9   // nothing can be read for so long: it is blind, and
#define RETRY_NS 2e9     // tries as often
#define OTHERS_NS 100000 // of CPU time: more than our other threads use
// An interruption, where it cannot be measured: 8 to 25 us were, elsewhere
// (docs/overhead.md).
#define ASSUMED_S 10e-6

struct Sampler {
    struct Ledger ledger;          // its registry is borrowed
    const struct Opcodes *opcodes; // borrowed
    struct Edges edges;
    struct Flame flame;
    struct Subjects subjects;
    struct Memory memory;
    struct Walk walk;
    struct SampleClock clock;
    uint64_t start_ns; // moved on by the time that it stood by
    uint64_t stood_ns; // when it began to stand by; 0: it does not
    uint64_t due_ns;   // of the next look; 0: not chosen yet
    uint64_t random;
    size_t next;        // whose turn it is in the table
    size_t still;       // threads looked at since one had run
    double ran_at;      // when one had
    bool refused;       // the newest stack, as all would have been
    double readable_at; // the newest look at which none was
    uint64_t used_ns;   // CPU time of all other threads; 0: not known
    double interval_ns; // to the next wake-up, in the mean
    bool stretched;     // the newest: longer than it is to be by itself
    struct InterruptionPlan measuring;

    struct Worker worker;
    pthread_mutex_t lock; // guards the six below
    pthread_cond_t wake;
    double mean_ns; // between wake-ups; 0: it stands by
    bool changed;   // mean_ns
    bool stop;
    uint64_t spins_ns;  // its CPU time when it began to measure; 0: it does not
    uint64_t spun_ns;   // CPU time that it has measured in before,
    uint64_t helped_ns; // and that of the threads which woke it

    cell_t now; // of the newest look; a double's bits
    cell_t hz;  // achieved; a double's bits
    cell_t wakeups;
    cell_t met; // of these, that the program has run before
    cell_t samples;
    cell_t unknown;
    cell_t truncated;
    cell_t interruption_s; // a double's bits
    cell_t blind;          // 1: yes
    struct ShareValue elsewhere;
};

static uint64_t read_ns(const struct Sampler *sampler, clockid_t id)
{
    return SampleClock_ns(&sampler->clock, id);
}

// Marsaglia's xorshift64*.
static uint64_t draw(struct Sampler *sampler)
{
    sampler->random ^= sampler->random >> 12;
    sampler->random ^= sampler->random << 25;
    sampler->random ^= sampler->random >> 27;
    return sampler->random * 0x2545f4914f6cdd1du;
}

// From 0 to 1.
static double draw_unit(struct Sampler *sampler)
{
    return (double)(draw(sampler) >> 11) / (double)(1ull << 53);
}

double Sampler_now(const struct Sampler *sampler)
{
    return Cell_get_double(&sampler->now);
}

bool Sampler_is_blind(const struct Sampler *sampler)
{
    return Cell_get(&sampler->blind);
}

// --- One wake-up -------------------------------------------------------------

static void credit(struct Sampler *sampler, struct Subject *subject,
                   enum SubjectDoing doing, double now)
{
    ShareValue_add(&sampler->elsewhere, now,
                   Subject_credit(subject, doing, &sampler->ledger, now));
}

// One thread's clocks; true if it has run since, so that it must be walked.
static bool look(struct Sampler *sampler, struct Subject *subject, double now)
{
    enum SubjectLook seen = Subject_look(subject, &sampler->clock, now);

    if (seen == SUBJECT_NEW || seen == SUBJECT_GONE)
        return false;
    Cell_add(&sampler->samples, 1);
    if (seen == SUBJECT_RAN && sampler->stretched)
        Subject_woke(subject);
    // It idled on the stack that a walk is about to replace.
    if (seen == SUBJECT_RAN || subject->idle_ns > IDLE_NS)
        credit(sampler, subject, DOING_IDLED, now);
    return seen == SUBJECT_RAN;
}

static size_t look_all(struct Sampler *sampler, struct Subject **ran,
                       double now)
{
    const struct SubjectTable *table = sampler->subjects.table;
    size_t most = sampler->stretched ? STILL_BATCH : BATCH, count = 0;
    size_t turns = table->count < most ? table->count : most;

    for (size_t i = 0; i < turns && count < BATCH; i++) {
        struct Subject *subject =
            table->subjects[sampler->next++ % table->count];

        sampler->still++;
        if (look(sampler, subject, now))
            ran[count++] = subject;
    }
    if (count > 0) {
        sampler->still = 0;
        sampler->ran_at = now;
    }
    return count;
}

// All threads were looked at and none had run, for some time now.
static bool is_still(const struct Sampler *sampler)
{
    return sampler->still >= sampler->subjects.table->count &&
           Sampler_now(sampler) - sampler->ran_at >= STILL_NS;
}

// The instruction that the frame on top is at.
struct Place {
    uint16_t flags;  // of the base opcode; 0: it is not known
    uint32_t callee; // id of who is called there, as far as stacks have shown
    uintptr_t at;    // its address
    bool returning;  // 3.12: its frame is thrown away, or an exception left it
};

static struct Place find_place(const struct Sampler *sampler)
{
    const uint16_t *flags = sampler->opcodes->flags;
    const struct Ledger *ledger = &sampler->ledger;
    const struct WalkFrame *frame = &sampler->walk.frames[0];
    struct Code *code = Registry_find(ledger->registry, frame->code);
    uint32_t unit = code ? Ledger_unit(ledger, code, frame) : UINT32_MAX;
    uint32_t first = unit;
    uint16_t number;

    if (unit == UINT32_MAX)
        return (struct Place){0};
    number = code->units[unit].number;
    // While a frame is above it, 3.12 has a call at the last of its caches.
    while (first > 0 && number > 0 && code->units[first - 1].number == number)
        first--;
    while (first < unit && flags[code->bytecode[2 * first]] & OPCODE_EXTENDED)
        first++;
    return (struct Place){
        .flags = flags[code->bytecode[2 * first]],
        .callee = code->share.callees ? code->share.callees[number] : 0,
        .at = frame->instruction - (uintptr_t)2 * (unit - first),
        .returning = first != unit,
    };
}

// A specialised call as it lies in the bytecode: struct _PyCallCache
// (pycore_code.h) follows the opcode and its argument.
struct LiveCall {
    uint8_t opcode, argument;
    uint16_t counter;
    uint32_t version; // of the function that it is for
};

// The call that the frame on top is at has pushed no frame: a C function runs.
// Unless it is specialised to Python functions: then it is pushing the frame,
// or has just thrown it away, and while it is at that the time is the callee's,
// as it is in its cycles. Of a tiny function that is nearly all there is: some
// CPUs are never seen to have pushed its frame. So the instruction itself says
// who is called.
static bool calls_c(struct Sampler *sampler, const struct Place *place)
{
    const struct Ledger *ledger = &sampler->ledger;
    const struct Code *callee = NULL;
    struct LiveCall live;
    uint16_t flags;

    if (!Memory_read(&sampler->memory, place->at, &live, sizeof live))
        return true;
    flags = sampler->opcodes->flags[live.opcode];
    if (!(flags & OPCODE_PUSHES) && !place->returning)
        return true;
    if (sampler->walk.moved) // it is back, or has only just begun to push
        return false;
    if (flags & OPCODE_VERSIONED)
        callee = Registry_by_version(ledger->registry, live.version);
    if (!callee && place->callee)
        callee = Registry_by_id(ledger->registry, place->callee);
    if (callee)
        Walk_push(&sampler->walk,
                  (struct WalkFrame){callee->address,
                                     callee->address + ledger->code_bytecode});
    return false;
}

static struct SubjectTop judge_top(struct Sampler *sampler, bool active)
{
    struct SubjectTop top = {0};
    struct Place place;

    if (sampler->walk.depth == 0)
        return top;
    Rcu_read_lock();
    place = find_place(sampler);
    top.queued = !active && place.flags & (OPCODE_RESUME | OPCODE_LOOP);
    top.in_c = place.flags & OPCODE_CALL && calls_c(sampler, &place);
    Rcu_read_unlock();
    return top;
}

static void walk(struct Sampler *sampler, struct Subject *subject,
                 uint32_t newest_id)
{
    subject->start.state = subject->state;
    Walk_frames(&sampler->walk, &subject->start);
    sampler->refused = sampler->walk.torn && !Memory_recover(&sampler->memory);
    if (sampler->walk.torn)
        Cell_add(&sampler->unknown, 1);
    if (sampler->walk.truncated)
        Cell_add(&sampler->truncated, 1);
    Subject_set_stack(subject, &sampler->walk, newest_id,
                      judge_top(sampler, subject->start.active));
}

// What a thread does that has run since the look before; right after its walk.
static enum SubjectDoing find_doing(struct Sampler *sampler,
                                    struct Subject *subject, double now,
                                    size_t *asks)
{
    bool active = subject->start.active;
    enum SubjectDoing doing;
    double part = Subject_ran_part(subject, &sampler->clock);

    // Who runs for less than a look takes is met more often than that.
    if (part > 0)
        return part > NEARLY || part > draw_unit(sampler) ? DOING_RAN
                                                          : DOING_WAITED;
    if (!Subject_is_crowded(subject, now) || (!active && (*asks)++ >= ASKS))
        return DOING_WAITED;
    doing = Subject_ask(subject);
    // Who waits for the interpreter besides, or has been woken just now, has
    // not lost its CPU to us. Who works in C without it has: not where the
    // interpreter is taken away, and without sleeping from look to look.
    if (doing == DOING_RAN && !active &&
        (subject->top.queued || Subject_slept(subject)))
        return DOING_READY;
    return doing;
}

// Threads that have run since.
static size_t sample(struct Sampler *sampler, double now)
{
    struct Subject *ran[BATCH];
    size_t count = look_all(sampler, ran, now);
    size_t first = count ? draw(sampler) % count : 0, asks = 0;
    uint32_t newest_id = Registry_newest_id(sampler->ledger.registry);

    for (size_t i = 0; i < count; i++) {
        struct Subject *subject = ran[(first + i) % count]; // for who is asked

        walk(sampler, subject, newest_id);
        credit(sampler, subject, find_doing(sampler, subject, now, &asks), now);
    }
    return count;
}

// Whether this wake-up can have taken somebody's CPU. Not all threads may have
// been looked at, and those without Python are none of ours: where none was
// seen to have run, the process's clock tells, from one such look to the next.
static bool has_met(struct Sampler *sampler, size_t ran)
{
    uint64_t before = sampler->used_ns;

    sampler->used_ns = 0;
    if (ran > 0)
        return true;
    sampler->used_ns = read_ns(sampler, CLOCK_PROCESS_CPUTIME_ID) -
                       read_ns(sampler, CLOCK_THREAD_CPUTIME_ID);
    return before > 0 && sampler->used_ns > before + OTHERS_NS;
}

// --- Where nothing can be read -----------------------------------------------

// All that it knows of its threads is of before.
static void forget_all(struct Sampler *sampler)
{
    const struct SubjectTable *table = sampler->subjects.table;

    for (size_t i = 0; i < table->count; i++)
        Subject_forget(table->subjects[i]);
}

// After a look. The file that it reads by may only have been closed, and is
// there again in a while: Memory_keep.
static void note_sight(struct Sampler *sampler, double now)
{
    if (!sampler->refused)
        sampler->readable_at = now;
    else if (now - sampler->readable_at > REFUSED_NS)
        Cell_set(&sampler->blind, !Memory_recover(&sampler->memory));
}

// False: it still is. Else its clock goes on from where it stood.
static bool sees_again(struct Sampler *sampler, uint64_t began)
{
    double stood_at = Sampler_now(sampler);

    if (!Memory_recover(&sampler->memory))
        return false;
    sampler->start_ns = began - (uint64_t)stood_at;
    sampler->readable_at = stood_at;
    sampler->refused = false;
    forget_all(sampler);
    Cell_set(&sampler->blind, 0);
    return true;
}

// --- When ----------------------------------------------------------------

// 0.5 to 1.5 of the mean, so that no rhythm of the program can hide from it.
static uint64_t draw_interval(struct Sampler *sampler)
{
    return (uint64_t)(sampler->interval_ns * (0.5 + draw_unit(sampler)));
}

// While nothing runs, the intervals grow.
static void choose_interval(struct Sampler *sampler, double mean_ns)
{
    double longer = 2 * sampler->interval_ns;

    sampler->interval_ns = mean_ns;
    sampler->stretched = is_still(sampler) && mean_ns < STRETCH_NS;
    if (sampler->stretched)
        sampler->interval_ns = longer < STRETCH_NS ? longer : STRETCH_NS;
}

// While the rate is 0 it does, and what goes by is taken out of the shares'
// time.
static bool is_standing_by(struct Sampler *sampler, uint64_t now)
{
    bool stands;

    pthread_mutex_lock(&sampler->lock);
    stands = sampler->mean_ns == 0;
    if (stands)
        sampler->changed = false;
    pthread_mutex_unlock(&sampler->lock);
    if (stands && !sampler->stood_ns)
        sampler->stood_ns = now;
    if (!stands && sampler->stood_ns) {
        sampler->start_ns += now - sampler->stood_ns;
        sampler->stood_ns = sampler->due_ns = 0;
        forget_all(sampler);
    }
    return stands;
}

// By a rate that was changed. A look that is due sooner stays so.
static void choose_due(struct Sampler *sampler, uint64_t now)
{
    uint64_t due = sampler->due_ns, next;

    pthread_mutex_lock(&sampler->lock);
    if (sampler->changed || !due) {
        choose_interval(sampler, sampler->mean_ns);
        next = now + draw_interval(sampler);
        sampler->due_ns = due && due < next ? due : next;
    }
    sampler->changed = false;
    pthread_mutex_unlock(&sampler->lock);
}

// At all threads that have their turn; and when to look next.
static void look_around(struct Sampler *sampler, uint64_t began)
{
    double now = (double)(began - sampler->start_ns);
    double before = Cell_get_double(&sampler->now);
    double kept = exp(-(now - before) / PACE_NS);
    const struct SubjectTable *table = sampler->subjects.table;

    if (now > before)
        Cell_set_double(&sampler->hz, Cell_get_double(&sampler->hz) * kept +
                                          (1 - kept) * 1e9 / (now - before));
    Subjects_take(&sampler->subjects);
    if (sampler->subjects.table != table)
        sampler->still = 0; // there are new ones
    if (has_met(sampler, sample(sampler, now)))
        Cell_add(&sampler->met, 1);
    Cell_set_double(&sampler->now, now);
    note_sight(sampler, now);
    pthread_mutex_lock(&sampler->lock);
    choose_interval(sampler, sampler->mean_ns);
    sampler->changed = false;
    pthread_mutex_unlock(&sampler->lock);
    sampler->due_ns += draw_interval(sampler);
    if (sampler->due_ns < began) // no bursts
        sampler->due_ns = began + draw_interval(sampler);
}

static void measure(struct Sampler *sampler)
{
    uint64_t helped_ns;
    double cost_s;

    pthread_mutex_lock(&sampler->lock);
    sampler->spins_ns = Worker_cpu_ns(&sampler->worker);
    pthread_mutex_unlock(&sampler->lock);
    cost_s = sampler->clock.measure(sampler->clock.context, &helped_ns);
    pthread_mutex_lock(&sampler->lock);
    sampler->helped_ns += helped_ns;
    sampler->spun_ns += Worker_cpu_ns(&sampler->worker) - sampler->spins_ns;
    sampler->spins_ns = 0;
    pthread_mutex_unlock(&sampler->lock);
    InterruptionPlan_done(&sampler->measuring, Sampler_now(sampler),
                          Cell_get(&sampler->wakeups), cost_s > 0);
    // Where it could not be measured, it costs what it did.
    if (cost_s <= 0 && Cell_get_double(&sampler->interruption_s) <= 0)
        cost_s = ASSUMED_S;
    if (cost_s > 0)
        Cell_set_double(&sampler->interruption_s, cost_s);
}

static void wake_up(struct Sampler *sampler, uint64_t began)
{
    Cell_add(&sampler->wakeups, 1);
    Memory_keep(&sampler->memory, began);
    if (Sampler_is_blind(sampler) && !sees_again(sampler, began)) {
        sampler->due_ns = began + (uint64_t)RETRY_NS;
        return;
    }
    look_around(sampler, began);
    if (InterruptionPlan_is_due(&sampler->measuring, Sampler_now(sampler),
                                Cell_get(&sampler->wakeups)))
        measure(sampler);
}

uint64_t Sampler_step(struct Sampler *sampler)
{
    uint64_t now = read_ns(sampler, CLOCK_MONOTONIC);

    if (is_standing_by(sampler, now))
        return UINT64_MAX;
    if (sampler->due_ns && now >= sampler->due_ns)
        wake_up(sampler, now);
    else
        choose_due(sampler, now);
    return sampler->due_ns;
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
    while (!sampler->stop && !sampler->changed && error == 0) {
        if (due_ns == UINT64_MAX)
            pthread_cond_wait(&sampler->wake, &sampler->lock);
        else
            error =
                pthread_cond_timedwait(&sampler->wake, &sampler->lock, &due);
    }
    stop = sampler->stop;
    pthread_mutex_unlock(&sampler->lock);
    return !stop;
}

static void run(void *argument)
{
    struct Sampler *sampler = argument;

    Rcu_register();
    // Or the kernel lets the program's thread on our CPU have its turn first,
    // and who works for less than that would be seen asleep, always.
    Worker_take_short_turns();
    Worker_leave_descriptors();
    while (wait_until(sampler, Sampler_step(sampler)))
        continue;
}

static int start_thread(struct Sampler *sampler)
{
    sampler->stop = false;
    sampler->due_ns = 0;
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
    error = Walk_init(&sampler->walk, &sampler->memory, layout);
    return error ? error : Subjects_init(&sampler->subjects);
}

static double measure_interruption(void *context, uint64_t *cpu_ns)
{
    (void)context;
    return Interruption_measure(cpu_ns);
}

static void set_parts(struct Sampler *sampler, const struct SamplerParts *parts)
{
    static const struct SampleClock kernel = {SampleClock_kernel_ns,
                                              measure_interruption, NULL};

    sampler->clock = parts->clock ? *parts->clock : kernel;
    sampler->opcodes = parts->opcodes;
    sampler->ledger = (struct Ledger){
        .registry = parts->registry,
        .edges = &sampler->edges,
        .flame = &sampler->flame,
        .code_bytecode = parts->layout->code_bytecode,
    };
}

int Sampler_new(struct Sampler **result, const struct SamplerParts *parts,
                double hz)
{
    struct Sampler *sampler;
    int error;

    if (!(hz > 0 && hz <= MAX_HZ))
        return -EINVAL;
    sampler = Heap_zeroed(1, sizeof(*sampler));
    if (sampler == NULL)
        return -ENOMEM;
    set_parts(sampler, parts);
    Flame_init(&sampler->flame);
    sampler->memory.fd = -1;
    sampler->mean_ns = sampler->interval_ns = 1e9 / hz;
    sampler->start_ns = read_ns(sampler, CLOCK_MONOTONIC);
    sampler->random = sampler->start_ns ^ (uintptr_t)sampler;
    init_waiting(sampler);
    error = init(sampler, parts->layout);
    if (error) {
        free_all(sampler);
        return error;
    }
    *result = sampler;
    return 0;
}

int Sampler_start(struct Sampler **result, struct Registry *registry,
                  const struct FrameLayout *layout,
                  const struct Opcodes *opcodes, double hz)
{
    const struct SamplerParts parts = {registry, layout, opcodes, NULL};
    struct Sampler *sampler;
    int error = Sampler_new(&sampler, &parts, hz);

    if (error)
        return error;
    error = start_thread(sampler);
    if (error) {
        free_all(sampler);
        return error;
    }
    *result = sampler;
    return 0;
}

int Sampler_set_hz(struct Sampler *sampler, double hz)
{
    double mean_ns = hz > 0 ? 1e9 / hz : 0;

    if (!(hz >= 0 && hz <= MAX_HZ))
        return -EINVAL;
    pthread_mutex_lock(&sampler->lock);
    if (mean_ns != sampler->mean_ns) {
        sampler->mean_ns = mean_ns;
        sampler->changed = true;
        pthread_cond_signal(&sampler->wake);
    }
    pthread_mutex_unlock(&sampler->lock);
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
    if (sampler == NULL)
        return;
    Sampler_pause(sampler);
    pthread_cond_destroy(&sampler->wake);
    pthread_mutex_destroy(&sampler->lock);
    Flame_release(&sampler->flame);
    free_all(sampler);
}

void Sampler_abandon(struct Sampler *sampler)
{
    // In the child nobody will ever unlock or wake what the thread held: locks
    // and condition are left as they are.
    if (!sampler)
        return;
    Flame_abandon(&sampler->flame);
    free_all(sampler);
}

// --- Threads in, shares out --------------------------------------------------

int Sampler_set_threads(struct Sampler *sampler,
                        const struct SampledThread *threads, size_t count)
{
    return Subjects_offer(&sampler->subjects, threads, count);
}

long Sampler_threads(struct Sampler *sampler, struct ThreadShares **shares)
{
    return Subjects_shares(&sampler->subjects, Sampler_now(sampler), shares);
}

struct FlameTable *Sampler_stacks(struct Sampler *sampler)
{
    struct FlameTable *table = Flame_ask(&sampler->flame, Sampler_now(sampler));

    if (table && Flame_name(table, sampler->ledger.registry))
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
    double now = Sampler_now(sampler);
    uint64_t cpu_ns, measure_ns;
    bool stands_by;

    pthread_mutex_lock(&sampler->lock);
    stands_by = sampler->mean_ns == 0;
    cpu_ns = Worker_cpu_ns(&sampler->worker);
    measure_ns = sampler->spun_ns + sampler->helped_ns;
    if (sampler->spins_ns)
        measure_ns += cpu_ns - sampler->spins_ns;
    cpu_ns += sampler->helped_ns;
    pthread_mutex_unlock(&sampler->lock);
    totals->hz = 0;
    if (now > 0 && !stands_by)
        totals->hz = Cell_get_double(&sampler->hz) / -expm1(-now / PACE_NS);
    totals->wakeups = Cell_get(&sampler->wakeups);
    totals->met = Cell_get(&sampler->met);
    totals->samples = Cell_get(&sampler->samples);
    totals->unknown = Cell_get(&sampler->unknown);
    totals->truncated = Cell_get(&sampler->truncated);
    totals->elsewhere = ShareValue_window(&sampler->elsewhere, now);
    totals->interruption_s = Cell_get_double(&sampler->interruption_s);
    totals->measure_s = (double)measure_ns * 1e-9;
    totals->cpu_s = (double)cpu_ns * 1e-9;
}
