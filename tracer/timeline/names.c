// SPDX-License-Identifier: MIT
// Finds the name of the function with a given id. The names of living code come
// from the registry, in an RCU read section. The names of retired code, whose
// code objects were freed, are in a ring that overwrites its oldest names. A
// hash table finds them by their ids.
#include "tracer/timeline/names.h"
#include "ipc/base/heap.h"
#include "tracer/base/rcu.h"

#include <string.h>

void Names_init(struct Names *names)
{
    pthread_mutex_init(&names->mutex, NULL);
    names->retired = NULL;
    names->count = 0;
}

static uint32_t *place_of(struct RetiredNames *retired, uint32_t id)
{
    return &retired->first[id % NAMES_ROOM];
}

static void forget(struct RetiredNames *retired, size_t slot)
{
    struct RetiredName *old = &retired->slots[slot];
    uint32_t *link = place_of(retired, old->id);

    if (!old->name)
        return;
    while (*link != slot + 1)
        link = &retired->slots[*link - 1].next;
    *link = old->next;
    Heap_free(old->name);
    Heap_free(old->file);
    old->name = old->file = NULL;
}

static void keep(struct RetiredNames *retired, size_t slot, struct Code *code)
{
    struct RetiredName *new = &retired->slots[slot];
    uint32_t *first = place_of(retired, code->hot.id);

    new->id = code->hot.id;
    new->line = code->who.line;
    new->address = code->who.address;
    new->name = code->who.name;
    new->file = code->who.file;
    code->who.name = code->who.file = NULL;
    new->next = *first;
    *first = (uint32_t)slot + 1;
}

void Names_release(struct Names *names)
{
    size_t slot;

    for (slot = 0; names->retired && slot < NAMES_ROOM; slot++)
        forget(names->retired, slot);
    Heap_free(names->retired);
    pthread_mutex_destroy(&names->mutex);
    Names_init(names);
}

void Names_retire(struct Names *names, struct Code *code)
{
    pthread_mutex_lock(&names->mutex);
    if (!names->retired)
        names->retired = Heap_zeroed(1, sizeof *names->retired);
    if (names->retired) {
        size_t slot = names->count++ % NAMES_ROOM;

        forget(names->retired, slot);
        keep(names->retired, slot, code);
    }
    pthread_mutex_unlock(&names->mutex);
}

size_t Names_retired(struct Names *names, uint32_t *ids)
{
    size_t i, count = 0;

    pthread_mutex_lock(&names->mutex);
    for (i = 0; names->retired && i < NAMES_ROOM; i++)
        if (names->retired->slots[i].name)
            ids[count++] = names->retired->slots[i].id;
    pthread_mutex_unlock(&names->mutex);
    return count;
}

void NameQuery_init(struct NameQuery *query, struct Names *names,
                    struct Registry *registry)
{
    query->names = names;
    query->registry = registry;
    query->name = query->file = NULL;
}

void NameQuery_release(struct NameQuery *query)
{
    Heap_free(query->name);
    Heap_free(query->file);
    query->name = query->file = NULL;
}

static void answer(struct NameQuery *query, struct PerfettoName *name,
                   const char *text, const char *file, uint32_t line,
                   uintptr_t address)
{
    NameQuery_release(query);
    query->name = Heap_text(text);
    query->file = Heap_text(file);
    name->name = query->name ? query->name : "?";
    name->file = query->file ? query->file : "?";
    name->line = line;
    name->address = address;
}

static bool find_retired(struct NameQuery *query, uint32_t id,
                         struct PerfettoName *name)
{
    struct Names *names = query->names;
    const struct RetiredName *found = NULL;
    uint32_t next;

    pthread_mutex_lock(&names->mutex);
    next = names->retired ? *place_of(names->retired, id) : 0;
    while (next && !found) {
        const struct RetiredName *retired = &names->retired->slots[next - 1];

        if (retired->id == id)
            found = retired;
        next = retired->next;
    }
    if (found)
        answer(query, name, found->name, found->file, found->line,
               found->address);
    pthread_mutex_unlock(&names->mutex);
    return found;
}

bool NameQuery_find(void *context, uint32_t id, struct PerfettoName *name)
{
    struct NameQuery *query = context;
    const struct Code *code;

    Rcu_read_lock();
    code = Registry_by_id(query->registry, id);
    if (code)
        answer(query, name, code->who.name, code->who.file, code->who.line,
               code->who.address);
    Rcu_read_unlock();
    return code || find_retired(query, id, name);
}
