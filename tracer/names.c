// SPDX-License-Identifier: MIT
// Function ids to names: the living from the registry, inside an RCU read
// section; the retired from a ring that forgets its oldest.
#include "tracer/names.h"
#include "tracer/rcu.h"

#include <stdlib.h>
#include <string.h>

void Names_init(struct Names *names)
{
    pthread_mutex_init(&names->mutex, NULL);
    names->retired = NULL;
    names->count = 0;
}

static void forget(struct RetiredName *retired)
{
    free(retired->name);
    free(retired->file);
    memset(retired, 0, sizeof *retired);
}

void Names_release(struct Names *names)
{
    size_t i;

    for (i = 0; names->retired && i < NAMES_ROOM; i++)
        forget(&names->retired[i]);
    free(names->retired);
    pthread_mutex_destroy(&names->mutex);
    Names_init(names);
}

void Names_retire(struct Names *names, struct Code *code)
{
    struct RetiredName *retired;

    pthread_mutex_lock(&names->mutex);
    if (!names->retired)
        names->retired = calloc(NAMES_ROOM, sizeof *names->retired);
    if (names->retired) {
        retired = &names->retired[names->count++ % NAMES_ROOM];
        forget(retired);
        retired->id = code->id;
        retired->line = code->line;
        retired->address = code->address;
        retired->name = code->name;
        retired->file = code->file;
        code->name = code->file = NULL;
    }
    pthread_mutex_unlock(&names->mutex);
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
    free(query->name);
    free(query->file);
    query->name = query->file = NULL;
}

static void answer(struct NameQuery *query, struct PerfettoName *name,
                   const char *text, const char *file, uint32_t line,
                   uintptr_t address)
{
    NameQuery_release(query);
    query->name = strdup(text);
    query->file = strdup(file);
    name->name = query->name ? query->name : "?";
    name->file = query->file ? query->file : "?";
    name->line = line;
    name->address = address;
}

// Ids rise with age, but retirement does not follow their order: the newest
// retirements are looked at first.
static bool find_retired(struct NameQuery *query, uint32_t id,
                         struct PerfettoName *name)
{
    struct Names *names = query->names;
    uint64_t i, known;
    bool found = false;

    pthread_mutex_lock(&names->mutex);
    known = names->count < NAMES_ROOM ? names->count : NAMES_ROOM;
    for (i = 1; i <= known && !found; i++) {
        const struct RetiredName *retired =
            &names->retired[(names->count - i) % NAMES_ROOM];

        if (retired->id != id || !retired->name)
            continue;
        answer(query, name, retired->name, retired->file, retired->line,
               retired->address);
        found = true;
    }
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
        answer(query, name, code->name, code->file, code->line, code->address);
    Rcu_read_unlock();
    return code || find_retired(query, id, name);
}
