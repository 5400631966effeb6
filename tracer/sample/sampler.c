// SPDX-License-Identifier: MIT
// Runs the sampler's thread, and adds up what the sampler costs. The sampler's
// thread never waits for the GIL.
#include "tracer/sample/sampler.h"
#include "ipc/base/heap.h"
#include "ipc/base/now.h"
#include "tracer/base/random.h"
#include "tracer/base/rcu.h"
#include "tracer/base/tsc_guard.h"
#include "tracer/sample/observer.h"
#include "tracer/sample/samples.h"
#include "tracer/sample/stall_watch.h"

#include <errno.h>
#include <pthread.h>

#define STACK_SIZE (128u << 10)
#define MAX_HZ 10000
#define FIRST_NS 10e6 // ns before the sampler's first step.
// ns between two steps of the sampler, if no other limit applies.
#define LOOK_NS 250e6
// ns between two steps if the program uses less than LIGHT_CORES cores.
#define LIGHT_NS 1e9
// ns between two steps of the sampler if no running thread has a timer.
#define UNTIMED_NS 50e6
// Largest number of ns between two steps of the sampler, which is reached if no
// thread runs.
#define IDLE_NS 1e9
// If reads of memory were denied, memory is tried again after these ns.
#define RETRY_NS 2e9
#define LIGHT_CORES 0.2
// Seconds that the kernel needs for one signal, in addition to the handler's
// time. In this time the kernel queues and delivers the signal, and returns
// from the handler (docs/overhead.md).
#define SIGNAL_S 2.5e-6

struct Sampler {
    struct Sampling sampling;
    struct Samples samples;
    struct Observer observer;
    struct StallWatch stalls;
    uint64_t due_ns; // CLOCK_MONOTONIC in ns at which the next step is due.
    // Mean ns between two steps of the sampler. The time between two steps is
    // random, and up to a quarter shorter or longer.
    double interval_ns;
    uint32_t random; // State of the generator of random numbers.

    struct Worker worker;
    pthread_mutex_t lock; // Guards `stop` and `woken`.
    pthread_cond_t wake;
    bool stop;
    // True if a step of an event loop has woken the sampler's thread.
    bool woken;
};

// --- A step ------------------------------------------------------------------

// Returns the smallest number of ns until the sampler's next step. A step of
// the sampler begins with cold caches, because other code has run since the
// last step. A step with few samples therefore costs nearly as much as a step
// with many samples.
static double choose_least_ns(const struct Sampler *sampler, uint64_t samples)
{
    const struct Sampling *sampling = &sampler->sampling;
    double of_a_core =
        Counter_get_double(&sampling->hz) * sampler->interval_ns * 1e-9;

    if (!sampling->timers.signal || sampler->observer.alone)
        return UNTIMED_NS;
    return (double)samples < LIGHT_CORES * of_a_core ? LIGHT_NS : LOOK_NS;
}

// The random factor prevents that all steps meet a periodic program in the same
// phase.
static void choose_due(struct Sampler *sampler, uint64_t now_ns,
                       uint64_t samples, bool ran)
{
    double least = choose_least_ns(sampler, samples);

    sampler->interval_ns = ran ? least : 2 * sampler->interval_ns;
    if (sampler->interval_ns < least)
        sampler->interval_ns = least;
    if (sampler->interval_ns > IDLE_NS)
        sampler->interval_ns = IDLE_NS;
    sampler->due_ns = now_ns + (uint64_t)(sampler->interval_ns *
                                          Random_factor(&sampler->random));
}

static void wake_up(struct Sampler *sampler, uint64_t now_ns)
{
    struct Sampling *sampling = &sampler->sampling;
    struct Observer *observer = &sampler->observer;
    struct ShareTime now;
    uint64_t samples;
    size_t first;
    bool ran;

    Memory_keep(&sampler->sampling.memory, now_ns);
    if (Observer_is_denied(observer)) {
        // The time in which reads were denied does not count for shares.
        sampling->stepped_ns = now_ns;
        if (!Observer_recover(observer, now_ns)) {
            sampler->due_ns = now_ns + (uint64_t)RETRY_NS;
            return;
        }
    }
    Native_step(&sampling->native, now_ns);
    Samples_take_begun(&sampler->samples);
    samples = Samples_waiting(&sampler->samples) + observer->found;
    now = Sampling_advance(sampling, now_ns, samples);
    observer->found = 0;
    Samples_collect(&sampler->samples, &now);
    SampledThreads_take(&sampling->threads, &sampling->attribution, &now,
                        atomic_load(&sampling->native.table));
    WaitChoice_begin(&sampling->attribution.choice);
    first = GilWatch_begin(&sampling->gil, sampling->step_ns, &now);
    ran = Observer_observe_all(observer, first, &now);
    GilWatch_end(&sampling->gil, &now);
    Observer_note_reads(observer, now_ns);
    choose_due(sampler, now_ns, samples, ran);
}

uint64_t Sampler_step(struct Sampler *sampler)
{
    uint64_t now_ns = Sampling_ns(&sampler->sampling, CLOCK_MONOTONIC);
    uint64_t stalls_ns = StallWatch_step(&sampler->stalls, now_ns);

    if (now_ns >= sampler->due_ns)
        wake_up(sampler, now_ns);
    return stalls_ns < sampler->due_ns ? stalls_ns : sampler->due_ns;
}

void Sampler_collect(struct Sampler *sampler)
{
    sampler->due_ns = 0;
    Sampler_step(sampler);
}

// --- The thread --------------------------------------------------------------

// Waits until CLOCK_MONOTONIC is `due_ns` or a step of an event loop wakes the
// thread. Returns false if the sampler's thread must end.
static bool wait_until(struct Sampler *sampler, uint64_t due_ns)
{
    struct timespec due = Now_timespec(due_ns);
    bool stop;
    int error = 0;

    pthread_mutex_lock(&sampler->lock);
    while (!sampler->stop && !sampler->woken && error == 0)
        error = pthread_cond_clockwait(&sampler->wake, &sampler->lock,
                                       CLOCK_MONOTONIC, &due);
    stop = sampler->stop;
    sampler->woken = false;
    pthread_mutex_unlock(&sampler->lock);
    return !stop;
}

// A thread of the program calls wake_for_step when its event loop begins a
// step.
static void wake_for_step(void *argument)
{
    struct Sampler *sampler = argument;

    pthread_mutex_lock(&sampler->lock);
    sampler->woken = true;
    pthread_cond_signal(&sampler->wake);
    pthread_mutex_unlock(&sampler->lock);
}

static void run(void *argument)
{
    struct Sampler *sampler = argument;

    sampler->sampling.gil.own_files = Worker_leave_descriptors();
    while (wait_until(sampler, Sampler_step(sampler)) &&
           !TscGuard_has_tripped())
        continue;
}

static int start_thread(struct Sampler *sampler)
{
    sampler->stop = false;
    sampler->sampling.native.gave_up = false;
    sampler->worker.prepare = Rcu_register;
    return Worker_start(&sampler->worker, "ocular-sampler", run, sampler,
                        STACK_SIZE);
}

static void free_all(struct Sampler *sampler)
{
    Memory_close(&sampler->sampling.memory);
    SampledThreads_release(&sampler->sampling.threads);
    Heap_free(atomic_load(&sampler->sampling.attribution.tasks));
    Heap_free(sampler);
}

static int init(struct Sampler *sampler, const struct FrameLayout *layout)
{
    struct Sampling *sampling = &sampler->sampling;
    int error = Memory_open(&sampling->memory);

    if (!error)
        error = Observer_init(&sampler->observer, sampling, layout);
    return error ? error : SampledThreads_init(&sampling->threads);
}

static void set_parts(struct Sampler *sampler, const struct SamplerParts *parts)
{
    struct Sampling *sampling = &sampler->sampling;
    const struct Attribution attribution = {
        .registry = parts->registry,
        .opcodes = parts->opcodes,
        .code_bytecode = parts->layout->code_bytecode,
        .call_ticks = parts->call_ticks,
        .hz = Clock_hz(parts->counter),
        .long_calls = parts->long_calls,
        .sink = parts->sink,
    };

    Sampling_init(sampling, &attribution, parts->clock, parts->native_reader);
    sampling->timers.registry = parts->registry;
    sampling->timers.layout = parts->layout;
    sampling->gil.loops = parts->loops;
    GilWatch_init(&sampling->gil, parts->layout->gil, parts->counter);
    sampling->timers.clock = parts->counter;
    sampling->stepped_ns = Sampling_ns(sampling, CLOCK_MONOTONIC);
    sampler->due_ns = sampling->stepped_ns + (uint64_t)FIRST_NS;
    sampler->stalls = (struct StallWatch){.loops = parts->loops,
                                          .attribution = &sampling->attribution,
                                          .walk = &sampler->observer.walk,
                                          .clock = parts->counter};
}

int Sampler_new(struct Sampler **result, const struct SamplerParts *parts,
                double hz)
{
    struct Sampler *sampler = Heap_zeroed(1, sizeof(*sampler));
    int error;

    if (sampler == NULL)
        return -ENOMEM;
    set_parts(sampler, parts);
    pthread_mutex_init(&sampler->lock, NULL);
    pthread_cond_init(&sampler->wake, NULL);
    error = Sampler_set_hz(sampler, hz);
    if (!error)
        error = init(sampler, parts->layout);
    if (error) {
        free_all(sampler);
        return error;
    }
    Samples_open(&sampler->samples, &sampler->sampling, parts->signal);
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
    if (parts->loops)
        EventLoops_watch(parts->loops, wake_for_step, sampler);
    *result = sampler;
    return 0;
}

void Sampler_pause(struct Sampler *sampler)
{
    pthread_mutex_lock(&sampler->lock);
    sampler->stop = true;
    pthread_cond_signal(&sampler->wake);
    pthread_mutex_unlock(&sampler->lock);
    atomic_store(&sampler->sampling.native.ends, true);
    Worker_join(&sampler->worker);
    // Another file can be read for the last samples, if that was not given up.
    atomic_store(&sampler->sampling.native.ends, false);
}

int Sampler_resume(struct Sampler *sampler)
{
    return sampler->worker.started ? 0 : start_thread(sampler);
}

void Sampler_stop(struct Sampler *sampler)
{
    if (sampler->stalls.loops)
        EventLoops_watch(sampler->stalls.loops, NULL, NULL);
    Sampler_pause(sampler);
    Samples_close(&sampler->samples);
    pthread_mutex_destroy(&sampler->lock);
    pthread_cond_destroy(&sampler->wake);
    Flame_release(&sampler->sampling.flame);
    Native_release(&sampler->sampling.native);
    free_all(sampler);
}

void Sampler_abandon(struct Sampler *sampler)
{
    CpuTimers_abandon(&sampler->sampling.timers);
    Flame_abandon(&sampler->sampling.flame);
    Native_abandon(&sampler->sampling.native);
    free_all(sampler);
}

// --- Any thread --------------------------------------------------------------

struct ShareTime Sampler_now(const struct Sampler *sampler)
{
    return ShareClock_now(&sampler->sampling.time);
}

bool Sampler_is_denied(const struct Sampler *sampler)
{
    return Observer_is_denied(&sampler->observer);
}

uint64_t Sampler_collected_ticks(const struct Sampler *sampler)
{
    return Sampler_is_denied(sampler) ||
                   !Counter_get(&sampler->samples.signal_used)
               ? UINT64_MAX
               : Counter_get(&sampler->samples.collected);
}

int Sampler_set_hz(struct Sampler *sampler, double hz)
{
    if (!(hz > 0 && hz <= MAX_HZ))
        return -EINVAL;
    Counter_set_double(&sampler->sampling.hz, hz);
    return 0;
}

void Sampler_begin_thread(struct Sampler *sampler, uintptr_t state)
{
    struct Sampling *sampling = &sampler->sampling;
    bool timed = Counter_get(&sampler->samples.signal_used);

    Starts_begin(&sampler->samples.starts, &sampling->timers, state,
                 timed ? Sampling_period_ns(sampling) : 0);
}

int Sampler_set_threads(struct Sampler *sampler,
                        const struct ListedThread *threads, size_t count)
{
    return SampledThreads_offer(&sampler->sampling.threads, threads, count);
}

struct Thread *Sampler_threads(struct Sampler *sampler,
                               struct Snapshot *snapshot, size_t more)
{
    bool gil = sampler->sampling.gil.gil, waits = Sampler_knows_waits(sampler);
    struct ShareTime now = Sampler_now(sampler);
    struct Thread *rows =
        SampledThreads_fill(&sampler->sampling.threads, &now, snapshot, more);

    for (size_t i = 0; rows && i < snapshot->thread_count; i++) {
        if (!gil)
            rows[i].gil_held_share = rows[i].gil_held_s = NULL_F64;
        if (!waits)
            rows[i].gil_wait_share = rows[i].gil_wait_s = NULL_F64;
    }
    return rows;
}

double Sampler_task_share(struct Sampler *sampler, uint32_t id)
{
    struct TaskShares *_Atomic *place = &sampler->sampling.attribution.tasks;
    struct TaskShares *tasks =
        atomic_load_explicit(place, memory_order_relaxed);
    struct ShareTime now = Sampler_now(sampler);

    if (tasks)
        return TaskShares_read(tasks, id, &now);
    tasks = Heap_zeroed(1, sizeof *tasks);
    if (tasks)
        tasks->begin = now;
    // This store pairs with the acquire load in credit_task.
    atomic_store_explicit(place, tasks, memory_order_release);
    return NAN;
}

double Sampler_single_share(struct Sampler *sampler, uintptr_t root,
                            uint64_t key)
{
    struct Sampling *sampling = &sampler->sampling;
    // This load pairs with the release store in Sampler_task_share.
    struct TaskShares *tasks = atomic_load_explicit(
        &sampling->attribution.tasks, memory_order_acquire);
    struct ShareTime now = Sampler_now(sampler);

    return tasks && root && !Sampler_is_denied(sampler)
               ? TaskShares_read_single(
                     tasks, root, key, Clock_read(sampling->timers.clock), &now)
               : NAN;
}

static void name_one(struct FlameTable *table, struct FlameFunction *function,
                     struct Registry *registry)
{
    const struct Code *code;

    Rcu_read_lock();
    code = Registry_by_id(registry, (uint32_t)function->id);
    if (code) {
        function->name = Arena_text(&table->arena, code->who.name);
        function->file = Arena_text(&table->arena, code->who.file);
        function->line = code->who.line;
    }
    Rcu_read_unlock();
}

// Sets the names of the table's functions that still exist.
static void name_all(struct FlameTable *table, struct Registry *registry,
                     struct Native *native)
{
    struct FlameFunction *functions = Flame_list(table);

    for (size_t i = 0; functions && i < table->function_count; i++)
        if (FlameNative_is(functions[i].id))
            Native_describe(native, &functions[i], &table->arena);
        else
            name_one(table, &functions[i], registry);
}

struct FlameTable *Sampler_stacks(struct Sampler *sampler, size_t most)
{
    struct ShareTime now = Sampler_now(sampler);
    struct FlameTable *table = Flame_read(&sampler->sampling.flame, &now, most);

    if (!table)
        return NULL;
    name_all(table, sampler->sampling.attribution.registry,
             &sampler->sampling.native);
    if (!table->arena.failed)
        return table;
    FlameTable_free(table);
    return NULL;
}

void Sampler_want_natives(struct Sampler *sampler, uint64_t until_ns)
{
    _Atomic uint64_t *wanted = &sampler->sampling.native.wanted_ns;
    uint64_t before = atomic_load(wanted);

    while (before < until_ns &&
           !atomic_compare_exchange_weak(wanted, &before, until_ns))
        continue;
}

bool Sampler_has_natives(const struct Sampler *sampler)
{
    return atomic_load(&sampler->sampling.native.table);
}

bool Sampler_misses_loop(const struct Sampler *sampler)
{
    return Native_misses_loop(&sampler->sampling.native);
}

void Sampler_natives_of(struct Sampler *sampler, uint32_t id, FlameVisit *visit,
                        void *context)
{
    Flame_below(&sampler->sampling.native.lines, id, visit, context);
}

void Sampler_describe_native(struct Sampler *sampler,
                             struct FlameFunction *function,
                             struct Arena *arena)
{
    Native_describe(&sampler->sampling.native, function, arena);
}

bool Sampler_take_edge(struct Sampler *sampler, struct CallEdge *edge)
{
    return CallEdges_pop(&sampler->sampling.edges, edge);
}

void Sampler_totals(struct Sampler *sampler, struct SamplerTotals *totals)
{
    const struct Sampling *sampling = &sampler->sampling;
    const struct Samples *samples = &sampler->samples;
    const struct Clock *clock = sampling->timers.clock;
    struct ShareTime now = Sampler_now(sampler);

    *totals = (struct SamplerTotals){
        .window_s = ShareClock_window_s(&sampling->time),
        .window_samples = ShareClock_samples(&sampling->time),
        .samples = Counter_get(&sampling->samples),
        .unknown = Counter_get(&samples->unknown),
        .truncated = Counter_get(&samples->truncated),
        .lost = Counter_get(&samples->lost),
        .untimed = Counter_get(&sampler->observer.untimed),
        .signal = (int)Counter_get(&samples->signal_used),
        .error = -(int)Counter_get(&samples->error),
        .elsewhere = ShareValue_window(&sampling->elsewhere, &now),
        .cpu_s = (double)Worker_cpu_ns(&sampler->worker) * 1e-9 +
                 Starts_s(&samples->starts, clock),
        .ours = Counter_get(&samples->ours),
        .ours_s = (double)Counter_get(&samples->ours_ns) * 1e-9,
        .taken = Counter_get(&samples->taken),
    };
    totals->handlers_s =
        (double)Counter_get(&samples->handler_ticks) / Clock_hz(clock) +
        SIGNAL_S * (double)totals->taken;
    if (now.full_ns > 0)
        totals->hz =
            Counter_get_double(&sampling->time.samples) / now.full_ns * 1e9;
}

void Sampler_gil(struct Sampler *sampler, struct GilFigures *figures)
{
    struct ShareTime now = Sampler_now(sampler);

    GilWatch_read(&sampler->sampling.gil, &now, figures);
}

bool Sampler_knows_ready(const struct Sampler *sampler)
{
    return GilWatch_knows_ready(&sampler->sampling.gil);
}

bool Sampler_knows_waits(const struct Sampler *sampler)
{
    return GilWatch_knows_waits(&sampler->sampling.gil);
}
