// SPDX-License-Identifier: MIT
// The table of threads and how a new list becomes one; see the header.
#include "tracer/sample/subjects.h"
#include "ipc/base/heap.h"

#include <errno.h>
#include <string.h>

struct SubjectList { // what is offered
    size_t count;
    struct SampledThread threads[];
};

int Subjects_init(struct Subjects *subjects)
{
    pthread_mutex_init(&subjects->lock, NULL);
    subjects->incoming = NULL;
    subjects->unlisted = NULL;
    memset(&subjects->ended, 0, sizeof(subjects->ended));
    subjects->table = Heap_zeroed(1, sizeof(struct SubjectTable));
    return subjects->table ? 0 : -ENOMEM;
}

static void table_free(struct SubjectTable *table)
{
    for (size_t i = 0; i < table->count; i++)
        Heap_free(table->subjects[i]);
    Heap_free(table);
}

void Subjects_release(struct Subjects *subjects)
{
    // In a forked child the sampler may have been renewing the table: it was
    // not published yet, and the old one lacks what moved. That is lost.
    if (subjects->table)
        table_free(subjects->table);
    for (struct Subject *unlisted = subjects->unlisted, *next; unlisted;
         unlisted = next) {
        next = unlisted->next;
        Heap_free(unlisted);
    }
    Heap_free(subjects->incoming);
    subjects->unlisted = NULL;
    subjects->table = NULL;
    subjects->incoming = NULL;
}

// Takes the subject out of the table. The two are almost always in the same
// order, but for new threads, which come first: so it looks from behind the one
// that was taken before.
static struct Subject *take(struct SubjectTable *table, size_t *next,
                            const struct SampledThread *thread)
{
    for (size_t i = 0; i < table->count; i++) {
        size_t at = (*next + i) % table->count;
        struct Subject *subject = table->subjects[at];

        if (subject && subject->state == thread->state &&
            subject->tid == thread->tid) {
            table->subjects[at] = NULL;
            *next = at + 1;
            return subject;
        }
    }
    return NULL;
}

// The same for a thread that has another state now: one of C's, which makes one
// each time it enters Python.
static struct Subject *take_tid(struct SubjectTable *table,
                                const struct SampledThread *thread)
{
    for (size_t i = 0; i < table->count; i++) {
        struct Subject *subject = table->subjects[i];

        if (subject && subject->tid == thread->tid) {
            table->subjects[i] = NULL;
            subject->state = thread->state;
            subject->walked = false;
            if (subject->timer)
                subject->timer->state = thread->state;
            return subject;
        }
    }
    return NULL;
}

// From here on it stands for itself alone.
static struct Subject *take_unlisted(struct Subjects *subjects,
                                     const struct SampledThread *thread)
{
    struct Subject **link = &subjects->unlisted, *subject;

    while (*link && (*link)->tid != thread->tid)
        link = &(*link)->next;
    subject = *link;
    if (!subject)
        return NULL;
    *link = subject->next;
    subject->state = subject->timer->state = thread->state;
    subject->timer->represents = 1;
    return subject;
}

bool Subjects_add_unlisted(struct Subjects *subjects, struct CpuTimer *timer)
{
    struct SubjectTable *table = subjects->table;
    struct Subject *subject;

    for (size_t i = 0; i < table->count; i++) {
        subject = table->subjects[i];
        if (subject->tid != timer->tid)
            continue;
        if (subject->timer)
            return false;
        timer->represents = 1;
        subject->timer = timer;
        return true;
    }
    subject = Heap_alloc(sizeof(*subject));
    if (!subject)
        return false;
    Subject_init(subject, timer->state, timer->tid);
    subject->timer = timer;
    subject->next = subjects->unlisted;
    subjects->unlisted = subject;
    return true;
}

static void copy_value(struct ShareValue *to, const struct ShareValue *from)
{
    Cell_set(&to->total_ns, Cell_get(&from->total_ns));
    Cell_set(&to->window_ns, Cell_get(&from->window_ns));
    Cell_set(&to->window_age, Cell_get(&from->window_age));
}

// A new one, or one that was out of Python when the list before was made.
static struct Subject *make(struct Ended *ended,
                            const struct SampledThread *thread)
{
    struct Subject *subject = Heap_alloc(sizeof(*subject));
    struct EndedThread before;

    if (subject == NULL)
        return NULL; // it will come again with the next list
    Subject_init(subject, thread->state, thread->tid);
    if (Ended_take(ended, thread->tid, thread->name, &before)) {
        copy_value(&subject->cpu, &before.cpu);
        copy_value(&subject->wait, &before.wait);
        Cell_set(&subject->samples, before.samples);
    }
    return subject;
}

static void end(struct Ended *ended, struct Subject *subject)
{
    struct EndedThread thread = {
        .tid = subject->tid,
        .cpu_ns = Cell_get(&subject->cpu.total_ns),
        .samples = Cell_get(&subject->samples),
    };

    CpuTimer_free(subject->timer);
    memcpy(thread.name, subject->name, sizeof(thread.name));
    copy_value(&thread.cpu, &subject->cpu);
    copy_value(&thread.wait, &subject->wait);
    Ended_add(ended, &thread);
}

static bool same_threads(const struct SubjectTable *table,
                         const struct SubjectList *list)
{
    if (table->count != list->count)
        return false;
    for (size_t i = 0; i < list->count; i++) {
        const struct Subject *subject = table->subjects[i];
        const struct SampledThread *thread = &list->threads[i];

        if (subject->state != thread->state || subject->tid != thread->tid ||
            strcmp(subject->name, thread->name) != 0)
            return false;
    }
    return true;
}

// The new table; those of the old one that live on move over.
static struct SubjectTable *renew(struct Subjects *subjects,
                                  const struct SubjectList *list)
{
    struct SubjectTable *old = subjects->table;
    struct SubjectTable *table =
        Heap_alloc(sizeof(*table) + list->count * sizeof(table->subjects[0]));
    size_t i, count = 0, next = 0;

    if (table == NULL)
        return NULL;
    table->count = list->count;
    for (i = 0; i < list->count; i++)
        table->subjects[i] = take(old, &next, &list->threads[i]);
    for (i = 0; i < list->count; i++) {
        const struct SampledThread *thread = &list->threads[i];
        struct Subject *subject = table->subjects[i];

        if (subject == NULL)
            subject = take_tid(old, thread);
        if (subject == NULL)
            subject = take_unlisted(subjects, thread);
        if (subject == NULL)
            subject = make(&subjects->ended, thread);
        if (subject == NULL)
            continue;
        memcpy(subject->name, thread->name, sizeof(subject->name));
        table->subjects[count++] = subject;
    }
    table->count = count;
    for (i = 0; i < old->count; i++)
        if (old->subjects[i])
            end(&subjects->ended, old->subjects[i]);
    return table;
}

void Subjects_take(struct Subjects *subjects)
{
    struct SubjectList *list = atomic_exchange_explicit(
        &subjects->incoming, NULL, memory_order_acquire);
    struct SubjectTable *old = subjects->table, *table;

    if (list == NULL)
        return;
    if (!same_threads(old, list)) {
        pthread_mutex_lock(&subjects->lock);
        table = renew(subjects, list);
        if (table) {
            subjects->table = table;
            table_free(old);
        }
        pthread_mutex_unlock(&subjects->lock);
    }
    Heap_free(list);
}

int Subjects_offer(struct Subjects *subjects,
                   const struct SampledThread *threads, size_t count)
{
    struct SubjectList *list =
        Heap_alloc(sizeof(*list) + count * sizeof(list->threads[0]));

    if (list == NULL)
        return -ENOMEM;
    list->count = 0;
    for (size_t i = 0; i < count; i++) {
        struct SampledThread *copy = &list->threads[list->count];

        if (threads[i].tid <= 0)
            continue;
        *copy = threads[i];
        copy->name[sizeof(copy->name) - 1] = '\0';
        list->count++;
    }
    // Pairs with the exchange in Subjects_take. One not yet taken is replaced.
    Heap_free(atomic_exchange_explicit(&subjects->incoming, list,
                                       memory_order_acq_rel));
    return 0;
}

static void describe(struct ThreadShares *shares, const struct Subject *subject,
                     const struct ShareTime *now)
{
    shares->tid = subject->tid;
    memcpy(shares->name, subject->name, sizeof(shares->name));
    shares->cpu_share = ShareValue_window(&subject->cpu, now);
    shares->wait_share = ShareValue_window(&subject->wait, now);
    shares->samples = Cell_get(&subject->samples);
    shares->cpu_s = (double)Cell_get(&subject->cpu.total_ns) / 1e9;
    shares->ended = false;
    shares->function_count =
        Breakdown_read(&subject->functions, now, shares->functions);
}

static void describe_ended(struct ThreadShares *shares,
                           const struct EndedThread *thread,
                           const struct ShareTime *now)
{
    shares->tid = thread->tid;
    memcpy(shares->name, thread->name, sizeof(shares->name));
    shares->cpu_share = ShareValue_window(&thread->cpu, now);
    shares->wait_share = ShareValue_window(&thread->wait, now);
    shares->samples = thread->samples;
    shares->cpu_s = (double)thread->cpu_ns / 1e9;
    shares->ended = true;
    shares->function_count = 0;
}

long Subjects_shares(struct Subjects *subjects, const struct ShareTime *now,
                     struct ThreadShares **shares)
{
    const struct Ended *ended = &subjects->ended;
    struct SubjectTable *table;
    size_t live, count;

    pthread_mutex_lock(&subjects->lock);
    table = subjects->table;
    live = table->count;
    count = live + ended->count;
    *shares = Heap_alloc((count ? count : 1) * sizeof(**shares));
    for (size_t i = 0; *shares && i < live; i++)
        describe(&(*shares)[i], table->subjects[i], now);
    for (size_t i = 0; *shares && i < ended->count; i++)
        describe_ended(&(*shares)[live + i], &ended->threads[i], now);
    pthread_mutex_unlock(&subjects->lock);
    return *shares ? (long)count : -ENOMEM;
}

uint64_t Subjects_dropped(struct Subjects *subjects)
{
    uint64_t dropped;

    pthread_mutex_lock(&subjects->lock);
    dropped = subjects->ended.dropped;
    pthread_mutex_unlock(&subjects->lock);
    return dropped;
}
