// SPDX-License-Identifier: MIT
// struct TaskLines has the lines of source code at which asyncio's tasks wait,
// each line once. Many tasks wait at the same lines, so the coroutines that a
// task awaits (its await chain) are stored as a list of indexes. Only the
// governor's thread calls the functions of task_lines.h, which do not need the
// GIL.
#pragma once

#include <stdbool.h>
#include <stdint.h>

// A line in the source of a function. `line` is 0 if it is not known.
struct TaskLine {
    const char *name;
    const char *file; // Name of the source file, or NULL if there is none.
    uint32_t line;
    uint32_t function; // Id of the function, or 0 if unknown.
    bool place;        // True for a line at which tasks were created.
};

uint64_t TaskLine_hash(const struct TaskLine *line);
// Returns true if both are the same line of the same function.
bool TaskLine_is_same(const struct TaskLine *one, const struct TaskLine *other);
// Copies a line with its texts. Returns false if there is no memory.
bool TaskLine_copy(struct TaskLine *copy, const struct TaskLine *line);
// Frees the texts of a copied line.
void TaskLine_drop(struct TaskLine *line);

struct TaskLines {        // All fields are 0 at first.
    struct TaskLine *all; // Owns its texts, or NULL if there are no lines.
    uint32_t count, room;
    // A hash table with open addressing. An entry is the number of a line, or 0
    // if the entry is free. The hash table's size is twice `room`, which is a
    // power of 2.
    uint32_t *places;
};

// Returns the number of a line, counted from 1, and adds the line if it is
// missing. Returns 0 if there is no memory or there are too many lines.
uint32_t TaskLines_add(struct TaskLines *lines, const struct TaskLine *line);
// Removes all lines, and keeps the memory.
void TaskLines_clear(struct TaskLines *lines);
void TaskLines_release(struct TaskLines *lines);
