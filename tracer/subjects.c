// SPDX-License-Identifier: MIT
// The table of threads and how a new list becomes one; see the header.
#include "tracer/subjects.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct SubjectList { // what is offered
    size_t count;
    struct SampledThread threads[];
};

int Subjects_init(struct Subjects *subjects)
{
    pthread_mutex_init(&subjects->lock, NULL);
    subjects->incoming = NULL;
    subjects->table = calloc(1, sizeof(struct SubjectTable));
    return subjects->table ? 0 : -ENOMEM;
}

static void table_free(struct SubjectTable *table)
{
    for (size_t i = 0; i < table->count; i++)
        free(table->subjects[i]);
    free(table);
}

void Subjects_release(struct Subjects *subjects)
{
    // In a forked child the sampler may have been renewing the table: it was
    // not published yet, and the old one lacks what moved. That is lost.
    if (subjects->table)
        table_free(subjects->table);
    free(subjects->incoming);
    subjects->table = NULL;
    subjects->incoming = NULL;
}

// Takes the subject out of the table (the two are almost always in the same
// order, so it looks from `hint` on).
static struct Subject *take(struct SubjectTable *table, size_t hint,
                            const struct SampledThread *thread)
{
    for (size_t i = 0; i < table->count; i++) {
        struct Subject **slot = &table->subjects[(hint + i) % table->count];
        struct Subject *subject = *slot;

        if (subject && subject->state == thread->state &&
            subject->tid == thread->tid) {
            *slot = NULL;
            return subject;
        }
    }
    return NULL;
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
static struct SubjectTable *renew(struct SubjectTable *old,
                                  const struct SubjectList *list)
{
    struct SubjectTable *table =
        malloc(sizeof(*table) + list->count * sizeof(table->subjects[0]));

    if (table == NULL)
        return NULL;
    table->count = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct SampledThread *thread = &list->threads[i];
        struct Subject *subject = take(old, i, thread);

        if (subject == NULL) {
            subject = malloc(sizeof(*subject));
            if (subject == NULL)
                continue; // it will come again with the next list
            Subject_init(subject, thread->state, thread->tid);
        }
        memcpy(subject->name, thread->name, sizeof(subject->name));
        table->subjects[table->count++] = subject;
    }
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
        table = renew(old, list);
        if (table) {
            subjects->table = table;
            table_free(old);
        }
        pthread_mutex_unlock(&subjects->lock);
    }
    free(list);
}

int Subjects_offer(struct Subjects *subjects,
                   const struct SampledThread *threads, size_t count)
{
    struct SubjectList *list =
        malloc(sizeof(*list) + count * sizeof(list->threads[0]));

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
    free(atomic_exchange_explicit(&subjects->incoming, list,
                                  memory_order_acq_rel));
    return 0;
}

static void describe(struct ThreadShares *shares, const struct Subject *subject,
                     double now)
{
    shares->tid = subject->tid;
    memcpy(shares->name, subject->name, sizeof(shares->name));
    shares->cpu_share = ShareValue_window(&subject->cpu, now);
    shares->wait_share = ShareValue_window(&subject->wait, now);
    shares->samples = Cell_get(&subject->samples);
}

long Subjects_shares(struct Subjects *subjects, double now,
                     struct ThreadShares **shares)
{
    struct SubjectTable *table;
    long count;

    pthread_mutex_lock(&subjects->lock);
    table = subjects->table;
    count = (long)table->count;
    *shares = malloc((size_t)(count ? count : 1) * sizeof(**shares));
    if (*shares == NULL)
        count = -ENOMEM;
    for (long i = 0; i < count; i++)
        describe(&(*shares)[i], table->subjects[i], now);
    pthread_mutex_unlock(&subjects->lock);
    return count;
}
