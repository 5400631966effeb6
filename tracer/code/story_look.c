// SPDX-License-Identifier: MIT
// An opcode that was specialised and is the base one again was given up by the
// specialiser, or put back by instrumentation, anybody's, which may have come
// and gone between two looks. The instruction's counter tells: instrumentation
// leaves it as it is at birth, and only failures of the specialiser bring it
// beyond that. Where it says nothing, what was known last stays known: CPython
// specialises again, or fails, within two runs of the instruction.
#include "tracer/code/story_look.h"
#include "ipc/base/heap.h"
#include "tracer/base/lines.h"

#include <errno.h>
#include <string.h>

struct Look { // a walk over the instructions
    struct Code *code;
    const uint8_t *live;
    const struct Opcodes *opcodes;
    struct Transitions *log;
    uint64_t ticks;
    bool first; // nothing was seen of it before
    size_t unit;
    uint8_t base;
    uint32_t next; // the first of story.known at `unit` or behind
    struct LineReader lines;
    int error;
};

// Has the specialiser failed here since the counter was at its birth?
static bool is_given_up(const struct Look *look)
{
    size_t size = 2 * (size_t)look->code->unit_count, at = 2 * look->unit + 2;
    uint16_t counter;

    if (!look->opcodes->caches[look->base] || at + 2 > size)
        return false;
    memcpy(&counter, look->live + at, sizeof counter);
    return counter > look->opcodes->birth_counter;
}

// What is there for certain; `before` where nothing is.
static uint8_t certain(const struct Look *look, uint8_t before)
{
    const struct Opcodes *opcodes = look->opcodes;
    uint8_t now = look->live[2 * look->unit];
    unsigned flags = opcodes->flags[now];

    if (flags & OPCODE_EXECUTOR)
        return now;
    if (flags & OPCODE_SPECIALIZED && opcodes->base[now] == look->base)
        return now;
    if (now == look->base && opcodes->flags[before] & OPCODE_SPECIALIZED &&
        is_given_up(look))
        return now;
    return before;
}

static struct KnownOpcode *add_known(struct Look *look)
{
    struct Story *story = &look->code->story;
    struct KnownOpcode *entry;

    if (story->count == story->room) {
        uint32_t room = story->room ? 2 * story->room : 4;
        struct KnownOpcode *known =
            Heap_resize(story->known, room * sizeof *known);

        if (!known)
            return NULL;
        story->known = known;
        story->room = room;
    }
    entry = &story->known[look->next];
    memmove(entry + 1, entry, (story->count - look->next) * sizeof *entry);
    story->count++;
    *entry = (struct KnownOpcode){.unit = (uint32_t)look->unit,
                                  .opcode = look->base};
    return entry;
}

// Notes that this poll differs from the one before. Is it a storm?
static bool note_poll(const struct Look *look, struct KnownOpcode *entry)
{
    uint32_t oldest = entry->polls[entry->next];
    uint32_t now = Transitions_ms(look->log, look->ticks) + 1;

    entry->polls[entry->next] = now ? now : 1;
    entry->next = (entry->next + 1) % (STORM_POLLS - 1);
    return oldest && now - oldest <= STORM_MS;
}

static void change(struct Look *look, struct KnownOpcode *entry, uint8_t now)
{
    struct Change change = {
        .ticks = look->ticks,
        .id = look->code->id,
        .line = LineReader_line(&look->lines, look->unit),
        .offset = (uint32_t)(2 * look->unit),
        .to = now,
        .function = look->code->name,
        .file = look->code->file,
    };

    if (!entry)
        entry = add_known(look);
    if (!entry) { // it is found when next something changes
        look->error = -ENOMEM;
        return;
    }
    change.from = entry->opcode;
    entry->opcode = now;
    // Before the first look there was no poll that this one could differ from.
    change.storm = !look->first && note_poll(look, entry);
    Transitions_add(look->log, &change);
}

// One instruction that is not as it was adopted, or once was not. Returns
// whether it is known to be specialised.
static bool step(struct Look *look)
{
    struct Story *story = &look->code->story;
    struct KnownOpcode *entry = NULL;
    uint8_t before = look->base, now;

    if (look->next < story->count &&
        story->known[look->next].unit == look->unit) {
        entry = &story->known[look->next];
        before = entry->opcode;
    }
    now = certain(look, before);
    if (now != before)
        change(look, entry, now);
    return look->opcodes->flags[now] & OPCODE_SPECIALIZED;
}

// The unit of the next known one.
static size_t next_known(const struct Look *look)
{
    const struct Story *story = &look->code->story;

    return look->next < story->count ? story->known[look->next].unit : SIZE_MAX;
}

static void walk(struct Look *look)
{
    struct Code *code = look->code;
    const struct Opcodes *opcodes = look->opcodes;
    size_t next = next_known(look);
    uint32_t specialized = 0, specializable = 0;

    while (look->unit < code->unit_count) {
        uint8_t base = code->bytecode[2 * look->unit];
        bool typed = opcodes->flags[base] & OPCODE_SPECIALIZABLE;

        specializable += typed;
        if (look->live[2 * look->unit] != base || next == look->unit) {
            look->base = base;
            specialized += step(look) && typed;
            look->next += next_known(look) == look->unit;
            next = next_known(look);
        }
        look->unit += 1u + opcodes->caches[base];
    }
    atomic_store_explicit(&code->specialized, specialized,
                          memory_order_relaxed);
    atomic_store_explicit(&code->specializable, specializable,
                          memory_order_relaxed);
}

// Two chains, for speed. That two states of one bytecode have the same hash is
// not to be expected in the life of a program.
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

int Story_look(struct Code *code, const uint8_t *live,
               const struct Opcodes *opcodes, struct Transitions *log,
               uint64_t ticks)
{
    struct Story *story = &code->story;
    struct Look look = {.code = code,
                        .live = live,
                        .opcodes = opcodes,
                        .log = log,
                        .ticks = ticks,
                        .first = !story->looked};
    uint64_t hash = hash_of(live, 2 * (size_t)code->unit_count);

    if (story->looked && story->hash == hash)
        return 0; // most of the code, most of the time
    story->looked = true;
    story->hash = hash;
    LineReader_init(&look.lines, code->line_table, code->line_table_size,
                    code->line);
    walk(&look);
    return look.error;
}
