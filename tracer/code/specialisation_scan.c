// SPDX-License-Identifier: MIT
// The unspecialised (base) opcode may replace a specialised opcode for two
// reasons. Either CPython's specialiser has given up, or a tool's
// instrumentation has restored the base opcode. The scan might not see the
// instrumentation, which can be added and removed between two scans. The
// counter in the instruction's inline cache tells the two reasons apart.
// Instrumentation sets the counter to the value of new code, and only failures
// of the specialiser make it larger. If the instruction's counter does not show
// the reason, the scan keeps the last known opcode. CPython then specialises
// the instruction again, or fails, within two runs of the instruction.
#include "tracer/code/specialisation_scan.h"
#include "ipc/base/array.h"
#include "tracer/base/lines.h"

#include <errno.h>
#include <string.h>

struct Scan { // A walk over the instructions of a code object.
    struct Code *code;
    const uint8_t *live;
    const struct Opcodes *opcodes;
    struct Transitions *log;
    uint64_t ticks;
    bool first; // True in the first scan of this code.
    size_t unit;
    uint8_t base;
    // Index in `known` of the first opcode at `unit` or after `unit`.
    uint32_t next;
    struct LineReader lines;
    int error;
};

// Returns true if the counter in the instruction's cache shows that the
// specialiser has failed.
static bool is_given_up(const struct Scan *scan)
{
    size_t size = 2 * (size_t)scan->code->layout.unit_count,
           at = 2 * scan->unit + 2;
    uint16_t counter;

    if (!scan->opcodes->caches[scan->base] || at + 2 > size)
        return false;
    memcpy(&counter, scan->live + at, sizeof counter);
    return counter > scan->opcodes->birth_counter;
}

// Returns the present opcode of the instruction if it is certain, otherwise the
// last known opcode `before`.
static uint8_t certain(const struct Scan *scan, uint8_t before)
{
    const struct Opcodes *opcodes = scan->opcodes;
    uint8_t now = scan->live[2 * scan->unit];
    unsigned flags = opcodes->flags[now];

    if (flags & OPCODE_EXECUTOR)
        return now;
    if (flags & OPCODE_SPECIALIZED && opcodes->base[now] == scan->base)
        return now;
    if (now == scan->base && opcodes->flags[before] & OPCODE_SPECIALIZED &&
        is_given_up(scan))
        return now;
    return before;
}

static struct KnownOpcode *add_known(struct Scan *scan)
{
    struct Specialisation *history = &scan->code->poll.history;
    struct KnownOpcode *entry;

    if (!ARRAY_GROW(history->known, history->count, history->room, 4))
        return NULL;
    entry = &history->known[scan->next];
    memmove(entry + 1, entry, (history->count - scan->next) * sizeof *entry);
    history->count++;
    *entry = (struct KnownOpcode){.unit = (uint32_t)scan->unit,
                                  .opcode = scan->base};
    return entry;
}

// Stores the time of this scan, which found the instruction changed. Returns
// true if the changes have become so frequent that they are a storm.
static bool note_poll(const struct Scan *scan, struct KnownOpcode *entry)
{
    uint32_t oldest = entry->polls[entry->next];
    uint32_t now = Transitions_ms(scan->log, scan->ticks) + 1;

    entry->polls[entry->next] = now ? now : 1;
    entry->next = (entry->next + 1) % (STORM_POLLS - 1);
    return oldest && now - oldest <= STORM_MS;
}

static void change(struct Scan *scan, struct KnownOpcode *entry, uint8_t now)
{
    struct Change change = {
        .ticks = scan->ticks,
        .id = scan->code->hot.id,
        .line = LineReader_line(&scan->lines, scan->unit),
        .offset = (uint32_t)(2 * scan->unit),
        .to = now,
        .function = scan->code->who.name,
        .file = scan->code->who.file,
    };

    if (!entry)
        entry = add_known(scan);
    // Without memory the change is reported when the bytecode changes the next
    // time.
    if (!entry) {
        scan->error = -ENOMEM;
        return;
    }
    change.from = entry->opcode;
    entry->opcode = now;
    // The first scan cannot compare the bytecode with an earlier scan.
    change.storm = !scan->first && note_poll(scan, entry);
    Transitions_add(scan->log, &change);
}

// Checks one instruction whose opcode differs from the code's original opcode,
// or has differed from it before. Returns true if the instruction is
// specialised now, as far as is known.
static bool step(struct Scan *scan)
{
    struct Specialisation *history = &scan->code->poll.history;
    struct KnownOpcode *entry = NULL;
    uint8_t before = scan->base, now;

    if (scan->next < history->count &&
        history->known[scan->next].unit == scan->unit) {
        entry = &history->known[scan->next];
        before = entry->opcode;
    }
    now = certain(scan, before);
    if (now != before)
        change(scan, entry, now);
    return scan->opcodes->flags[now] & OPCODE_SPECIALIZED;
}

// Returns the code unit of the next opcode in `known`, or SIZE_MAX.
static size_t next_known(const struct Scan *scan)
{
    const struct Specialisation *history = &scan->code->poll.history;

    return scan->next < history->count ? history->known[scan->next].unit
                                       : SIZE_MAX;
}

static void walk(struct Scan *scan)
{
    struct Code *code = scan->code;
    const struct Opcodes *opcodes = scan->opcodes;
    size_t next = next_known(scan);
    uint32_t specialized = 0, specializable = 0;

    while (scan->unit < code->layout.unit_count) {
        uint8_t base = code->who.bytecode[2 * scan->unit];
        bool typed = opcodes->flags[base] & OPCODE_SPECIALIZABLE;

        specializable += typed;
        if (scan->live[2 * scan->unit] != base || next == scan->unit) {
            scan->base = base;
            specialized += step(scan) && typed;
            scan->next += next_known(scan) == scan->unit;
            next = next_known(scan);
        }
        scan->unit += 1u + opcodes->caches[base];
    }
    if (code->poll.specialized == specialized &&
        code->poll.specializable == specializable)
        return;
    atomic_store_explicit(&code->poll.specialized, specialized,
                          memory_order_relaxed);
    atomic_store_explicit(&code->poll.specializable, specializable,
                          memory_order_relaxed);
    Code_touch(code);
}

// Returns a hash of the bytes. The hash is computed in two independent chains
// for speed. Two different states of one code object's bytecode hardly ever
// have the same hash.
static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    const uint64_t odd = 0x9e3779b97f4a7c15u;
    uint64_t left = size, right = odd, words[2];

    for (; size >= sizeof words; bytes += sizeof words, size -= sizeof words) {
        memcpy(words, bytes, sizeof words);
        left = (left ^ words[0]) * odd;
        right = (right ^ words[1]) * odd;
        left ^= left >> 32;
        right ^= right >> 32;
    }
    memset(words, 0, sizeof words);
    memcpy(words, bytes, size);
    left = (left ^ words[0]) * odd;
    right = (right ^ words[1] ^ left >> 29) * odd;
    return right ^ left;
}

int Specialisation_scan(struct Code *code, const uint8_t *live,
                        const struct Opcodes *opcodes, struct Transitions *log,
                        uint64_t ticks)
{
    struct Specialisation *history = &code->poll.history;
    struct Scan scan = {.code = code,
                        .live = live,
                        .opcodes = opcodes,
                        .log = log,
                        .ticks = ticks,
                        .first = !history->scanned};
    uint64_t hash = hash_of(live, 2 * (size_t)code->layout.unit_count);

    if (history->scanned && history->hash == hash)
        return 0; // Most code has not changed since the last scan.
    history->scanned = true;
    history->hash = hash;
    LineReader_init(&scan.lines, code->who.line_table,
                    code->who.line_table_size, code->who.line);
    walk(&scan);
    return scan.error;
}
