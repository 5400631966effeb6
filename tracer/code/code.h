// SPDX-License-Identifier: MIT
// One accepted code object, with a struct for each writer: the header of each
// says who writes it and who reads it. The collector, the governor and the
// sampler reach it inside an RCU read section; the collector frees it after a
// grace period.
#ifndef OCULAR_TRACER_CODE_CODE_H
#define OCULAR_TRACER_CODE_CODE_H

#include "tracer/base/opcode.h"
#include "tracer/base/share.h"
#include "tracer/code/code_cold.h"
#include "tracer/code/code_hot.h"
#include "tracer/code/code_identity.h"
#include "tracer/code/code_layout.h"
#include "tracer/code/code_links.h"
#include "tracer/code/code_plan.h"
#include "tracer/code/code_poll.h"
#include "tracer/code/code_row.h"
#include "tracer/code/code_spans.h"
#include "tracer/code/registry_node.h"

struct Code {
    struct CodeHot hot;       // whoever counts, at each hit
    struct CodeLayout layout; // immutable; read at each hit
    struct Share share;       // the sampler
    struct CodeCold cold;     // whoever counts, and the governor, seldom
    struct CodeLinks links;   // calls: whoever counts, seldom
    struct CodeSpans spans;   // the governor and whoever counts, seldom
    struct CodePlan plan;     // the governor
    struct CodePoll poll;     // the governor, in the bytecode it polls
    struct CodeRow row;       // the collector
    struct CodeIdentity who;  // immutable
    struct RegistryNode node; // the registry
};

// The fields that counting writes are in the first two cache lines, and the map
// of sites is behind them, in the second one.
_Static_assert(offsetof(struct CodeHot, touched) / 64 ==
                       offsetof(struct CodeHot, last_seen) / 64 &&
                   offsetof(struct CodeHot, touched) / 64 ==
                       offsetof(struct CodeHot, self_calls) / 64,
               "what Code_stamp reads is one cache line");
_Static_assert(offsetof(struct Code, hot) == 0, "hot fields come first");
_Static_assert(offsetof(struct Code, layout.units) + sizeof(struct Unit *) <=
                   128,
               "hot fields fill two cache lines");

// What Code_new copies; borrowed during the call.
struct CodeSource {
    uintptr_t address;
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t version; // of functions that are made of it, unchanged; 0: of none
    const uint8_t *bytecode; // base opcodes
    size_t bytecode_size;
    const uint8_t *line_table;
    size_t line_table_size;
    bool suspends; // a generator's or a coroutine's
};

// Walks the bytecode and lays out the sites. `threshold` 0 = never dark. NULL
// when memory is out.
struct Code *Code_new(uint32_t id, const struct CodeSource *source,
                      const struct Opcodes *opcodes, uint64_t threshold,
                      bool two_arms);
void Code_free(struct Code *code);
size_t Code_bytes(const struct Code *code);

// The number of samples that found each instruction running, by its number
// (Code_instruction_count() of them). As many entries follow: how many of those
// samples found it in a C function that it had called. Or NULL.
static inline const _Atomic uint32_t *
Code_instruction_samples(const struct Code *code)
{
    return atomic_load_explicit(&code->share.instruction_samples,
                                memory_order_acquire);
}

// Numbers of instructions: they are 16 bits wide.
static inline size_t Code_instruction_count(const struct Code *code)
{
    if (code->layout.unit_count > UINT16_MAX)
        return UINT16_MAX + 1u;
    return code->layout.unit_count
               ? code->layout.units[code->layout.unit_count - 1].number + 1u
               : 0;
}

static inline struct Histogram *Code_histogram(const struct Code *code)
{
    return atomic_load_explicit(&code->hot.histogram, memory_order_relaxed);
}

// Calls counted: each begins once, however often it is resumed.
static inline uint64_t Code_calls(const struct Code *code)
{
    uint64_t resumed = Counter_get(&code->hot.resumed);
    uint64_t entries = Counter_get(&code->hot.entries);

    return entries > resumed ? entries - resumed : 0;
}

// The part of its entries that begin a call: 1 for code that is never
// suspended, and for code that was only seen going on.
static inline double Code_calls_an_entry(const struct Code *code)
{
    uint64_t calls = Code_calls(code);

    return calls ? (double)calls / (double)Counter_get(&code->hot.entries) : 1;
}

// Ids are given out in turn and may wrap: was it adopted after that id was?
static inline bool Code_is_after(const struct Code *code, uint32_t id)
{
    return (int32_t)(code->hot.id - id) > 0;
}

// False for code that was adopted because it was on a stack, or whose calls are
// all before our time, until an event or a sample of it is seen.
static inline bool Code_was_seen(const struct Code *code)
{
    return Counter_get(&code->hot.entries) ||
           Counter_get(&code->hot.last_seen) ||
           Counter_get(&code->share.samples);
}

// The site at a byte offset, or NULL.
static inline struct Site *Code_site(const struct Code *code, size_t offset)
{
    size_t unit = offset / 2;
    unsigned index;

    if (unit >= code->layout.unit_count)
        return NULL;
    index = code->layout.units[unit].site;
    return index ? &code->layout.sites[index - 1] : NULL;
}

// The hook of its leave sites.
static inline enum HookKind Code_leave_hook(const struct Code *code)
{
    return code->hot.enter_hook == HOOK_RESUME ? HOOK_YIELD : HOOK_LEAVE;
}

// Its row has to be filled again, though it has not been hit. Any thread, after
// the change.
static inline void Code_touch(struct Code *code)
{
    // Pairs with the exchange in Code_take_touch.
    atomic_store_explicit(&code->hot.touched, true, memory_order_release);
}

// Whether that was so since it was asked last. Who builds snapshots.
static inline bool Code_take_touch(struct Code *code)
{
    return atomic_load_explicit(&code->hot.touched, memory_order_relaxed) &&
           atomic_exchange_explicit(&code->hot.touched, false,
                                    memory_order_acquire);
}

// Changes with each hit of an armed function: all of it is in the cache line of
// `touched`.
static inline uint32_t Code_stamp(const struct Code *code)
{
    uint64_t mixed = Counter_get(&code->hot.last_seen);

    mixed = mixed * 0x9e3779b97f4a7c15u + Counter_get(&code->hot.self_calls);
    mixed = mixed * 0x9e3779b97f4a7c15u + Counter_get(&code->hot.total_cycles);
    return (uint32_t)(mixed ^ mixed >> 32);
}

// Called after a site or an instruction went dark, or all were armed. The
// counting lock is held.
static inline void Code_note_change(struct Code *code)
{
    uint32_t changes =
        atomic_load_explicit(&code->cold.site_changes, memory_order_relaxed);

    atomic_store_explicit(&code->cold.site_changes, changes + 1,
                          memory_order_release);
    Code_touch(code);
}

// Counts over the sites that are not redundant.
void Code_count_sites(const struct Code *code, uint64_t *sites, uint64_t *dark);
// Hooks that ran in it, without exceptions.
uint64_t Code_events(const struct Code *code);

static inline enum Arming Code_arming(const struct Code *code)
{
    return (enum Arming)atomic_load_explicit(&code->spans.arming,
                                             memory_order_relaxed);
}

// Callees that are known and dark.
static inline uint32_t Code_dark_callees(const struct Code *code)
{
    return code->hot.dark_callees;
}

#endif
