// SPDX-License-Identifier: MIT
// The sampler's thread: when it wakes, what it does then, and the account of
// it. Nothing here waits for the interpreter.
#include "tracer/sampler.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define STACK_SIZE (128u << 10)
#define MAX_HZ 10000
#define BATCH 64 // threads a wake-up; the others have their turn at the next
#define ASKS 4   // threads a wake-up of which the kernel is asked the state
#define IDLE_NS 100e6 // a waiting thread is credited ten times a second

struct Sampler {
    struct Registry *registry; // borrowed
    struct Subjects subjects;
    struct Memory memory;
    struct Walk walk;
    double mean_ns; // between wake-ups
    uint64_t start_ns;
    uint64_t random;
    size_t next; // whose turn it is in the table

    struct Worker worker;
    pthread_mutex_t lock; // guards stop
    pthread_cond_t wake;
    bool stop;

    cell_t wakeups;
    cell_t samples;
    cell_t unknown;
    cell_t truncated;
    struct ShareValue elsewhere;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// Marsaglia's xorshift64*.
static uint64_t draw(struct Sampler *sampler)
{
    sampler->random ^= sampler->random >> 12;
    sampler->random ^= sampler->random << 25;
    sampler->random ^= sampler->random >> 27;
    return sampler->random * 0x2545f4914f6cdd1du;
}

double Sampler_now(struct Sampler *sampler)
{
    return (double)(now_ns() - sampler->start_ns);
}

// --- One wake-up -------------------------------------------------------------

static void credit(struct Sampler *sampler, struct Subject *subject,
                   enum SubjectDoing doing, double now)
{
    ShareValue_add(&sampler->elsewhere, now,
                   Subject_credit(subject, doing, sampler->registry, now));
}

// One thread's clocks; true if it has run since, so that it must be walked.
static bool look(struct Sampler *sampler, struct Subject *subject, double now)
{
    enum SubjectLook seen = Subject_look(subject, now);

    if (seen == SUBJECT_NEW || seen == SUBJECT_GONE)
        return false;
    Cell_add(&sampler->samples, 1);
    // It idled on the stack that a walk is about to replace.
    if (seen == SUBJECT_RAN || subject->idle_ns > IDLE_NS)
        credit(sampler, subject, DOING_IDLED, now);
    return seen == SUBJECT_RAN;
}

static size_t look_all(struct Sampler *sampler, struct Subject **ran,
                       double now)
{
    const struct SubjectTable *table = sampler->subjects.table;
    size_t turns = table->count < BATCH ? table->count : BATCH, count = 0;

    for (size_t i = 0; i < turns; i++) {
        struct Subject *subject =
            table->subjects[sampler->next++ % table->count];

        if (look(sampler, subject, now))
            ran[count++] = subject;
    }
    return count;
}

static void walk(struct Sampler *sampler, struct Subject *subject,
                 struct WalkStart *start, uint32_t newest_id)
{
    Walk_frames(&sampler->walk, start);
    if (sampler->walk.torn)
        Cell_add(&sampler->unknown, 1);
    if (sampler->walk.truncated)
        Cell_add(&sampler->truncated, 1);
    Subject_set_stack(subject, &sampler->walk, newest_id);
}

static void sample(struct Sampler *sampler)
{
    struct Subject *ran[BATCH];
    struct WalkStart starts[BATCH];
    double now = Sampler_now(sampler);
    size_t count = look_all(sampler, ran, now);
    size_t first = count ? draw(sampler) % count : 0, asks = 0;
    uint32_t newest_id = Registry_newest_id(sampler->registry);

    for (size_t i = 0; i < count; i++)
        starts[i].state = ran[i]->state;
    Walk_starts(&sampler->walk, starts, count);
    for (size_t i = 0; i < count; i++) {
        size_t turn = (first + i) % count; // everyone may be asked
        struct Subject *subject = ran[turn];
        bool running;

        walk(sampler, subject, &starts[turn], newest_id);
        running = Subject_runs(subject);
        if (!running && asks++ < ASKS)
            running = Subject_could_run(subject);
        credit(sampler, subject, running ? DOING_RAN : DOING_WAITED, now);
    }
}

// --- The thread --------------------------------------------------------------

// The next interval: 0.5 to 1.5 of the mean, so that no rhythm of the program
// can hide from it.
static uint64_t draw_interval(struct Sampler *sampler)
{
    double unit = (double)(draw(sampler) >> 11) / (double)(1ull << 53);

    return (uint64_t)(sampler->mean_ns * (0.5 + unit));
}

// Returns false when the thread is to stop.
static bool wait_until(struct Sampler *sampler, uint64_t ns)
{
    struct timespec when = {(time_t)(ns / 1000000000u),
                            (long)(ns % 1000000000u)};
    bool stop;
    int error = 0;

    pthread_mutex_lock(&sampler->lock);
    while (!sampler->stop && error == 0)
        error = pthread_cond_timedwait(&sampler->wake, &sampler->lock, &when);
    stop = sampler->stop;
    pthread_mutex_unlock(&sampler->lock);
    return !stop;
}

static void run(void *argument)
{
    struct Sampler *sampler = argument;
    uint64_t due = now_ns(), now;

    for (;;) {
        now = now_ns();
        due += draw_interval(sampler);
        if (due < now)
            due = now + draw_interval(sampler); // never in a burst
        if (!wait_until(sampler, due))
            return;
        Cell_add(&sampler->wakeups, 1);
        Subjects_take(&sampler->subjects);
        sample(sampler);
    }
}

static int start_thread(struct Sampler *sampler)
{
    sampler->stop = false;
    return Worker_start(&sampler->worker, "ocular-sampler", run, sampler,
                        STACK_SIZE);
}

static void free_all(struct Sampler *sampler)
{
    Memory_close(&sampler->memory);
    Subjects_release(&sampler->subjects);
    free(sampler);
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

int Sampler_start(struct Sampler **result, struct Registry *registry,
                  const struct FrameLayout *layout, double hz)
{
    struct Sampler *sampler;
    int error;

    if (!(hz > 0 && hz <= MAX_HZ))
        return -EINVAL;
    sampler = calloc(1, sizeof(*sampler));
    if (sampler == NULL)
        return -ENOMEM;
    sampler->registry = registry;
    sampler->memory.fd = -1;
    sampler->mean_ns = 1e9 / hz;
    sampler->start_ns = now_ns();
    sampler->random = sampler->start_ns ^ (uintptr_t)sampler;
    init_waiting(sampler);
    error = init(sampler, layout);
    if (error == 0)
        error = start_thread(sampler);
    if (error) {
        free_all(sampler);
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
    if (sampler == NULL)
        return;
    Sampler_pause(sampler);
    pthread_cond_destroy(&sampler->wake);
    pthread_mutex_destroy(&sampler->lock);
    free_all(sampler);
}

void Sampler_abandon(struct Sampler *sampler)
{
    // In the child nobody will ever unlock or wake what the thread held: locks
    // and condition are left as they are.
    if (sampler)
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

uint64_t Sampler_threads_dropped(struct Sampler *sampler)
{
    return Subjects_dropped(&sampler->subjects);
}

void Sampler_totals(struct Sampler *sampler, struct SamplerTotals *totals)
{
    double now = Sampler_now(sampler);

    totals->hz = now > 0 ? (double)Cell_get(&sampler->wakeups) * 1e9 / now : 0;
    totals->samples = Cell_get(&sampler->samples);
    totals->unknown = Cell_get(&sampler->unknown);
    totals->truncated = Cell_get(&sampler->truncated);
    totals->elsewhere = ShareValue_window(&sampler->elsewhere, now);
    totals->cpu_s = (double)Worker_cpu_ns(&sampler->worker) / 1e9;
}
