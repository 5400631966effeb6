// SPDX-License-Identifier: MIT
// One accepted code object. Each writer has its own struct, and the header of
// each struct says who writes it and who reads it. The collector, the governor
// and the sampler use a Code in an RCU read section. The collector frees a Code
// after a grace period.
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
    // Each comment names the writer.
    struct CodeHot hot;       // the counting thread, at each hit
    struct CodeLayout layout; // immutable; read at each hit
    struct Share share;       // the sampler
    struct CodeCold cold;     // the counting thread and the governor, seldom
    struct CodeLinks links;   // calls: the counting thread, seldom
    struct CodeSpans spans;   // the governor and the counting thread, seldom
    struct CodePlan plan;     // the governor
    struct CodePoll poll;     // the governor, in the bytecode it polls
    struct CodeRow row;       // the collector
    struct CodeIdentity who;  // immutable
    struct RegistryNode node; // the registry
};

// Counting writes fields in the first two cache lines. The map of sites follows
// these fields in the second cache line.
_Static_assert(offsetof(struct CodeHot, touched) / 64 ==
                       offsetof(struct CodeHot, last_seen) / 64 &&
                   offsetof(struct CodeHot, touched) / 64 ==
                       offsetof(struct CodeHot, self_calls) / 64,
               "what Code_stamp reads is one cache line");
_Static_assert(offsetof(struct Code, hot) == 0, "hot fields come first");
_Static_assert(offsetof(struct Code, layout.units) + sizeof(struct Unit *) <=
                   128,
               "hot fields fill two cache lines");

// The data that Code_new copies. The pointers are borrowed during the call.
struct CodeSource {
    uintptr_t address;
    const char *name;
    const char *file;
    uint32_t line;
    uint32_t version;        // version of its unchanged functions; 0: none
    const uint8_t *bytecode; // base opcodes
    size_t bytecode_size;
    const uint8_t *line_table;
    size_t line_table_size;
    bool suspends; // true for a generator or a coroutine
};

// Makes a Code: walks the bytecode and lays out the sites. If `threshold` is 0,
// sites never go dark. Returns NULL if memory is out.
struct Code *Code_new(uint32_t id, const struct CodeSource *source,
                      const struct Opcodes *opcodes, uint64_t threshold,
                      bool two_arms);
void Code_free(struct Code *code);
size_t Code_bytes(const struct Code *code);

// Returns the number of samples that found each instruction running, by
// instruction number (Code_instruction_count() entries), or NULL. As many
// entries follow for the part of these samples that found the instruction in a
// C function that it had called.
static inline const _Atomic uint32_t *
Code_instruction_samples(const struct Code *code)
{
    return atomic_load_explicit(&code->share.instruction_samples,
                                memory_order_acquire);
}

// Returns the number of instruction numbers, which have 16 bits.
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

// Returns the number of counted calls. A call begins once, even if it is
// resumed later.
static inline uint64_t Code_calls(const struct Code *code)
{
    uint64_t resumed = Counter_get(&code->hot.resumed);
    uint64_t entries = Counter_get(&code->hot.entries);

    return entries > resumed ? entries - resumed : 0;
}

// Returns the part of the entries that begin a call. The part is 1 for code
// that is never suspended, and for code of which only resumptions were seen.
static inline double Code_calls_an_entry(const struct Code *code)
{
    uint64_t calls = Code_calls(code);

    return calls ? (double)calls / (double)Counter_get(&code->hot.entries) : 1;
}

// Returns true if the code was adopted after the code with this id. Ids are
// given out in turn and may wrap.
static inline bool Code_is_after(const struct Code *code, uint32_t id)
{
    return (int32_t)(code->hot.id - id) > 0;
}

// Returns false until an event or a sample of the code is seen. Code may be
// adopted because it is on a stack, or may have run only before the trace.
static inline bool Code_was_seen(const struct Code *code)
{
    return Counter_get(&code->hot.entries) ||
           Counter_get(&code->hot.last_seen) ||
           Counter_get(&code->share.samples);
}

// Returns the site at a byte offset, or NULL.
static inline struct Site *Code_site(const struct Code *code, size_t offset)
{
    size_t unit = offset / 2;
    unsigned index;

    if (unit >= code->layout.unit_count)
        return NULL;
    index = code->layout.units[unit].site;
    return index ? &code->layout.sites[index - 1] : NULL;
}

// Returns the kind of hook at the code's leave sites.
static inline enum HookKind Code_leave_hook(const struct Code *code)
{
    return code->hot.enter_hook == HOOK_RESUME ? HOOK_YIELD : HOOK_LEAVE;
}

// Says that the code's row must be filled again, although there was no hit. Any
// thread calls this function after its change.
static inline void Code_touch(struct Code *code)
{
    // Pairs with the exchange in Code_take_touch.
    atomic_store_explicit(&code->hot.touched, true, memory_order_release);
}

// Returns true if Code_touch has been called since the last call of this
// function. Only the thread that builds snapshots calls this function.
static inline bool Code_take_touch(struct Code *code)
{
    return atomic_load_explicit(&code->hot.touched, memory_order_relaxed) &&
           atomic_exchange_explicit(&code->hot.touched, false,
                                    memory_order_acquire);
}

// Returns a number that changes with each hit of an armed function. All fields
// that are read are in the cache line of `touched`.
static inline uint32_t Code_stamp(const struct Code *code)
{
    uint64_t mixed = Counter_get(&code->hot.last_seen);

    mixed = mixed * 0x9e3779b97f4a7c15u + Counter_get(&code->hot.self_calls);
    mixed = mixed * 0x9e3779b97f4a7c15u + Counter_get(&code->hot.total_cycles);
    return (uint32_t)(mixed ^ mixed >> 32);
}

// Called after a site or an instruction went dark, or after all sites were
// armed. The counting lock is held.
static inline void Code_note_change(struct Code *code)
{
    uint32_t changes =
        atomic_load_explicit(&code->cold.site_changes, memory_order_relaxed);

    atomic_store_explicit(&code->cold.site_changes, changes + 1,
                          memory_order_release);
    Code_touch(code);
}

// Counts the sites that are not redundant, and the dark sites among them.
void Code_count_sites(const struct Code *code, uint64_t *sites, uint64_t *dark);
// Returns the number of hooks that ran in the code, without hooks for
// exceptions.
uint64_t Code_events(const struct Code *code);

static inline enum Arming Code_arming(const struct Code *code)
{
    return (enum Arming)atomic_load_explicit(&code->spans.arming,
                                             memory_order_relaxed);
}

// Returns the number of known callees that are dark.
static inline uint32_t Code_dark_callees(const struct Code *code)
{
    return code->hot.dark_callees;
}

#endif
