// SPDX-License-Identifier: MIT
#include "tracer/session/task_lines.h"
#include "ipc/base/heap.h"
#include "ipc/base/utf8.h"

#include <string.h>

#define LEAST_ROOM 64u
#define MOST_LINES 16384u

// --- One line --------------------------------------------------------------

uint64_t TaskLine_hash(const struct TaskLine *line)
{
    return Utf8_hash(Utf8_hash(line->line, line->name), line->file);
}

static bool same_text(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

bool TaskLine_is_same(const struct TaskLine *one, const struct TaskLine *other)
{
    return one->line == other->line && one->place == other->place &&
           same_text(one->name, other->name) &&
           same_text(one->file, other->file);
}

bool TaskLine_copy(struct TaskLine *copy, const struct TaskLine *line)
{
    *copy = (struct TaskLine){
        .name = Heap_text(line->name),
        .file = line->file ? Heap_text(line->file) : NULL,
        .line = line->line,
        .function = line->function,
        .place = line->place,
    };
    if (copy->name && !copy->file == !line->file)
        return true;
    TaskLine_drop(copy);
    return false;
}

void TaskLine_drop(struct TaskLine *line)
{
    Heap_free((char *)line->name);
    Heap_free((char *)line->file);
    *line = (struct TaskLine){.name = NULL};
}

// --- All lines -------------------------------------------------------------

// Returns the entry of the hash table for the line, or the free entry that it
// would get.
static uint32_t *place_of(const struct TaskLines *lines,
                          const struct TaskLine *line)
{
    uint64_t mask = 2ull * lines->room - 1;
    uint64_t at = TaskLine_hash(line) * 0x9e3779b97f4a7c15u >> 32;

    for (;; at++) {
        uint32_t *place = &lines->places[at & mask];

        if (!*place || TaskLine_is_same(&lines->all[*place - 1], line))
            return place;
    }
}

static bool grow(struct TaskLines *lines)
{
    uint32_t room = lines->room ? 2 * lines->room : LEAST_ROOM;
    struct TaskLine *all = Heap_zeroed(room, sizeof *all);
    uint32_t *places = Heap_zeroed(2ul * room, sizeof *places);

    if (room > MOST_LINES || !all || !places) {
        Heap_free(all);
        Heap_free(places);
        return false;
    }
    if (lines->count)
        memcpy(all, lines->all, lines->count * sizeof *all);
    Heap_free(lines->all);
    Heap_free(lines->places);
    lines->all = all;
    lines->places = places;
    lines->room = room;
    for (uint32_t i = 0; i < lines->count; i++)
        *place_of(lines, &all[i]) = i + 1;
    return true;
}

uint32_t TaskLines_add(struct TaskLines *lines, const struct TaskLine *line)
{
    uint32_t *place;

    if (lines->count == lines->room && !grow(lines))
        return 0;
    place = place_of(lines, line);
    if (!*place && TaskLine_copy(&lines->all[lines->count], line))
        *place = ++lines->count;
    return *place;
}

void TaskLines_clear(struct TaskLines *lines)
{
    while (lines->count)
        TaskLine_drop(&lines->all[--lines->count]);
    if (lines->places)
        memset(lines->places, 0, 2ul * lines->room * sizeof *lines->places);
}

void TaskLines_release(struct TaskLines *lines)
{
    TaskLines_clear(lines);
    Heap_free(lines->all);
    Heap_free(lines->places);
    *lines = (struct TaskLines){.all = NULL};
}
