// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1
#include "tracer/sample/native.h"

#include "ipc/base/array.h"
#include "ipc/base/now.h"
#include "ipc/base/opened.h"
#include "tracer/sample/timer_slot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)
// A module is an executable file that the process has mapped. After RESCAN_NS
// modules are searched again, because another file may be mapped at an old
// address.
#define RESCAN_NS (10 * SECOND_NS)
// If reading files has taken this CPU time in a step, the other files are read
// in the next step.
#define READING_NS (SECOND_NS / 50)
// Code of the kernel that each process has, without a file.
#define VDSO "[vdso]"
#define MOST_MODULES 4096u
#define MOST_FUNCTIONS 65536u
#define MOST_MAPS (8u << 20) // Largest number of bytes of /proc/self/maps.

void Native_init(struct Native *native, NativeReader *reader)
{
    memset(native, 0, sizeof *native);
    native->reader = reader;
    pthread_mutex_init(&native->lock, NULL);
    Flame_init(&native->lines);
}

// Frees the rows of all binaries. No signal handler may use a table meanwhile.
static void free_rows(struct Native *native)
{
    for (struct NativeBinary *at = native->binaries; at; at = at->next) {
        NativeIndex_free(atomic_exchange(&at->index, NULL));
        at->tried = false;
    }
}

static void free_binaries(struct Native *native)
{
    free_rows(native);
    for (struct NativeBinary *at = native->binaries, *next; at; at = next) {
        next = at->next;
        Heap_free(at->path);
        Heap_free(at);
    }
    native->binaries = NULL;
    Heap_free(atomic_exchange(&native->table, NULL));
}

void Native_abandon(struct Native *native)
{
    free_binaries(native);
    Flame_abandon(&native->lines);
}

void Native_release(struct Native *native)
{
    free_binaries(native);
    Heap_free(native->retired);
    Heap_free(native->functions);
    IdMap_release(&native->ids);
    Flame_release(&native->lines);
}

// --- Modules -----------------------------------------------------------------

// Returns the text of /proc/self/maps, or NULL.
static char *read_maps(void)
{
    size_t room = 64 << 10, size = 0;
    int fd = Opened_above(open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
    char *text = fd < 0 ? NULL : Heap_alloc(room);
    ssize_t got = 1;

    while (text && got > 0) {
        got = read(fd, text + size, room - size - 1);
        size += got > 0 ? (size_t)got : 0;
        if (room - size <= 4096 && room < MOST_MAPS) {
            char *more = Heap_resize(text, room *= 2);

            if (!more)
                break;
            text = more;
        }
    }
    if (text)
        text[size] = '\0';
    if (fd >= 0)
        close(fd);
    return text;
}

static struct NativeBinary *binary_of(struct Native *native, const char *path,
                                      uint64_t inode, uint64_t offset)
{
    struct NativeBinary *at = native->binaries;

    while (at && (at->inode != inode || at->offset != offset ||
                  strcmp(at->path, path) != 0))
        at = at->next;
    if (at)
        return at;
    at = Heap_zeroed(1, sizeof *at);
    if (!at)
        return NULL;
    at->path = Heap_text(path);
    if (!at->path) {
        Heap_free(at);
        return NULL;
    }
    at->inode = inode;
    at->offset = offset;
    at->number = native->binary_count++;
    at->scan = native->scans;
    at->next = native->binaries;
    return native->binaries = at;
}

// Adds a module for a line of /proc/self/maps, if a file is mapped there to be
// executed. Deleted files are left out, because they cannot be read by their
// path.
static void add_module(struct Native *native, struct NativeTable *table,
                       const char *line)
{
    static const char deleted[] = " (deleted)";
    uintptr_t from, to;
    uint64_t offset, inode;
    char runs;
    int path = 0;
    size_t size;
    struct NativeBinary *binary;

    if (sscanf(line,
               "%" SCNxPTR "-%" SCNxPTR " %*c%*c%c%*c %" SCNx64
               " %*x:%*x %" SCNu64 " %n",
               &from, &to, &runs, &offset, &inode, &path) < 5 ||
        !path || runs != 'x' ||
        (line[path] != '/' && strcmp(line + path, VDSO) != 0))
        return;
    size = strlen(line + path);
    if (size >= sizeof deleted &&
        strcmp(line + path + size - (sizeof deleted - 1), deleted) == 0)
        return;
    binary = binary_of(native, line + path, inode, offset);
    if (binary)
        table->modules[table->count++] =
            (struct NativeModule){from, to, binary};
}

// Makes a new table of the process's modules for the signal handlers.
static void scan(struct Native *native)
{
    char *text = read_maps(), *line, *next = text;
    size_t lines = 0;
    struct NativeTable *table;

    for (const char *at = text; at && *at; at++)
        lines += *at == '\n';
    if (lines > MOST_MODULES)
        lines = MOST_MODULES;
    table =
        text ? Heap_zeroed(1, sizeof *table + lines * sizeof table->modules[0])
             : NULL;
    native->scans++;
    while (table && table->count < lines && (line = strsep(&next, "\n")))
        add_module(native, table, line);
    Heap_free(text);
    native->scanned_ns = native->now_ns;
    native->settled = native->stale;
    native->stale = false;
    if (table)
        native->retired = atomic_exchange(&native->table, table);
}

// Frees the old table, if no signal handler runs that could use it. Returns
// false if the table must be kept.
static bool drop_retired(struct Native *native)
{
    struct NativeTable *retired = native->retired;

    if (retired && !TimerSlots_are_idle())
        return false;
    native->retired = NULL;
    Heap_free(retired);
    return true;
}

void Native_step(struct Native *native, uint64_t now_ns)
{
    bool on = atomic_load(&native->wanted_ns) > now_ns && native->reader;

    native->now_ns = now_ns;
    native->reading_ns = 0;
    if (now_ns - native->scanned_ns > SECOND_NS)
        native->settled = false;
    if (!drop_retired(native))
        return;
    if (on && (!atomic_load(&native->table) || native->stale ||
               now_ns - native->scanned_ns > RESCAN_NS))
        scan(native);
    else if (!on && atomic_load(&native->table))
        native->retired = atomic_exchange(&native->table, NULL);
    else if (!on && native->scanned_ns) {
        free_rows(native);
        native->scanned_ns = 0;
    }
}

// --- Functions ---------------------------------------------------------------

// Reads the rows of a file (native_row.h). Reading a large library takes a
// tenth of a second, in which the threads' rings keep the samples.
static void read_rows(struct Native *native, struct NativeBinary *binary)
{
    struct NativeRows rows = {.ends = &native->ends};
    uint64_t before = Now_ns(CLOCK_THREAD_CPUTIME_ID);
    int error;

    if (binary->tried || native->reading_ns > READING_NS || native->gave_up)
        return;
    binary->tried = true;
    error = native->reader(binary->path, binary->inode, binary->offset, &rows);
    native->reading_ns += Now_ns(CLOCK_THREAD_CPUTIME_ID) - before;
    if (error == -ECANCELED) {
        native->gave_up = true;
        binary->tried = false;
    }
    if (error)
        return;
    memcpy(binary->build, rows.build, sizeof binary->build);
    // This store pairs with the acquire load of a signal handler.
    atomic_store_explicit(&binary->index, NativeIndex_new(&rows),
                          memory_order_release);
}

// Returns the address, in the file, of the function that contains the address
// `pc`.
static uint32_t function_at(const struct NativeModule *module, uintptr_t pc)
{
    const struct NativeIndex *index = atomic_load(&module->binary->index);
    const struct NativeRow *row =
        index ? NativeIndex_find(index, NativeModule_at(module, index, pc))
              : NULL;

    while (row && !(row->flags & NATIVE_FIRST) && row > index->rows.rows)
        row--;
    return row ? row->at : 0;
}

// Returns the id of the C function at `pc`, or FLAME_NATIVE_ID if there is no
// room.
static uint32_t id_of(struct Native *native, const struct NativeModule *module,
                      uintptr_t pc)
{
    const struct NativeFunction function = {module->binary,
                                            function_at(module, pc)};
    uint64_t *index =
        IdMap_at(&native->ids,
                 ((uint64_t)module->binary->number + 1) << 32 | function.at);

    if (!index || (!*index && native->count == MOST_FUNCTIONS))
        return FLAME_NATIVE_ID;
    if (!*index) {
        pthread_mutex_lock(&native->lock);
        if (ARRAY_GROW(native->functions, native->count, native->room, 256)) {
            native->functions[native->count++] = function;
            *index = native->count;
        }
        pthread_mutex_unlock(&native->lock);
    }
    return FLAME_NATIVE_ID + (uint32_t)*index;
}

// Reads the rows of a module that a walk has reached. A library that the
// program loads brings other libraries with it, so all modules that were found
// at the same time are read, if there is time. After the first search for
// modules, only the module that a walk has reached is read, because all would
// be all libraries of the program.
static void read_module(struct Native *native, struct NativeBinary *binary)
{
    read_rows(native, binary);
    for (struct NativeBinary *at = native->binaries; at; at = at->next) {
        if (binary->scan > 1 && at->scan == binary->scan)
            read_rows(native, at);
    }
}

// Handles the last address of a walk that has ended in a module without rows.
// Returns true if a later walk will come further.
static bool learn(struct Native *native, const struct NativeTable *table,
                  uintptr_t pc)
{
    const struct NativeModule *module = NativeTable_find(table, pc);

    if (!module && native->settled)
        return false;
    if (!module) {
        native->stale = true;
        if (drop_retired(native))
            scan(native);
        return true;
    }
    read_module(native, module->binary);
    // The rows may be newer than the walk.
    return !module->binary->tried || atomic_load(&module->binary->index);
}

size_t Native_resolve(struct Native *native, const uintptr_t *pcs, size_t depth,
                      enum NativeEnd end, uint32_t *ids)
{
    const struct NativeTable *table = atomic_load(&native->table);
    size_t count = 0;

    // Code that CPython's JIT makes belongs to no module.
    if (!table || !depth ||
        (depth == 1 && !NativeTable_find(table, pcs[0]) && native->settled) ||
        (end == NATIVE_STRANGE && learn(native, table, pcs[depth - 1])))
        return 0;
    if (end != NATIVE_WHOLE && end != NATIVE_THREAD)
        ids[count++] = FLAME_NATIVE_ID;
    while (depth-- > 0) {
        const struct NativeModule *module = NativeTable_find(table, pcs[depth]);

        if (module)
            ids[count++] = id_of(native, module, pcs[depth]);
    }
    return count;
}

void Native_add_line(struct Native *native, const struct ShareTime *now,
                     const uint32_t path[3], double cpu_ns)
{
    const struct FlameSample sample = {
        .path = path, .depth = 3, .cpu_ns = cpu_ns};

    Flame_add(&native->lines, now, &sample);
}

void Native_describe(struct Native *native, struct FlameFunction *function,
                     struct Arena *arena)
{
    struct NativeFunction found = {NULL, 0};
    size_t index = (size_t)(function->id - FLAME_NATIVE_ID);

    pthread_mutex_lock(&native->lock);
    if (index && index <= native->count)
        found = native->functions[index - 1];
    pthread_mutex_unlock(&native->lock);
    if (!found.binary)
        return;
    function->file = Arena_text(arena, found.binary->path);
    function->build = Arena_text(arena, found.binary->build);
    function->address = found.at;
}
