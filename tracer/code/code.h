// SPDX-License-Identifier: MIT
// Declares struct Code, in which Ocular stores all values of a code object that
// it traces. Each member of struct Code is a struct with one writer. The header
// that declares the member's struct names its writer and readers. The
// collector's thread, the governor and the sampler use a struct Code in an RCU
// read section. The collector's thread frees a struct Code after a grace
// period.
#pragma once

#include "tracer/base/opcode.h"
#include "tracer/base/share.h"
#include "tracer/code/code_c_calls.h"
#include "tracer/code/code_cold.h"
#include "tracer/code/code_hot.h"
#include "tracer/code/code_identity.h"
#include "tracer/code/code_latency.h"
#include "tracer/code/code_layout.h"
#include "tracer/code/code_links.h"
#include "tracer/code/code_plan.h"
#include "tracer/code/code_poll.h"
#include "tracer/code/code_row.h"
#include "tracer/code/code_spans.h"
#include "tracer/code/line_hits.h"
#include "tracer/code/registry_node.h"

struct Code {
    // The comments name the thread that writes each member.
    // Written by the counting thread at each hit. The alignment also makes the
    // size of struct Code a multiple of 64, so the heap aligns it (heap.h).
    _Alignas(64) struct CodeHot hot;
    // Immutable. Read by the counting thread at each hit.
    struct CodeLayout layout;
    struct Share share; // the sampler.
    // Written seldom, by the counting thread and the governor.
    struct CodeCold cold;
    // The call edges of the function, which the counting thread seldom writes.
    struct CodeLinks links;
    // Written seldom, by the governor and the counting thread.
    struct CodeSpans spans;
    struct CodePlan plan;     // the governor.
    struct CodePoll poll;     // Written by the governor when it reads bytecode.
    struct CodeRow row;       // The collector's thread.
    struct CodeIdentity who;  // immutable
    struct RegistryNode node; // registry.c
};

// Counting writes the fields of struct CodeHot, which lie in the first two
// cache lines of struct Code. The pointer to the map of sites (layout.units)
// lies in the second cache line, too.
_Static_assert(offsetof(struct CodeHot, touched) / 64 ==
                       offsetof(struct CodeHot, last_seen) / 64 &&
                   offsetof(struct CodeHot, touched) / 64 ==
                       offsetof(struct CodeHot, self_calls) / 64,
               "what Code_stamp reads is one cache line");
_Static_assert(offsetof(struct Code, hot) == 0, "hot fields come first");
_Static_assert(offsetof(struct Code, layout.units) + sizeof(struct Unit *) <=
                   128,
               "hot fields fill two cache lines");

// The data from which Code_new makes a Code. The pointers in struct CodeSource
// need to be valid only during the call of Code_new.
struct CodeSource {
    uintptr_t address;
    const char *name;
    const char *file;
    uint32_t line;
    // The function version of this code's functions as long as no program
    // changes them, or 0.
    uint32_t version;
    const uint8_t *bytecode; // base opcodes.
    size_t bytecode_size;
    const uint8_t *line_table;
    size_t line_table_size;
    bool suspends; // True for a generator and for a coroutine.
    bool coroutine;
    bool straight; // True if jumps and branches get no hooks.
    // Largest number of lines of a function whose lines are counted, or 0 if
    // lines are not counted.
    uint32_t lines_most;
    enum CodeEnds ends;
};

// Makes a struct Code. Code_new also finds the code's sites in the bytecode. If
// `threshold` is 0, hooks are never removed. Returns NULL if memory is out.
struct Code *Code_new(uint32_t id, const struct CodeSource *source,
                      const struct Opcodes *opcodes, uint64_t threshold,
                      bool two_arms);
void Code_free(struct Code *code);

// Returns the numbers of samples per instruction, as an array of two parts, or
// NULL. Each part has Code_instruction_count() entries, one for each
// instruction number. In the first part, an entry is the number of samples in
// which the instruction was running. In the second part, an entry is the number
// of samples in which a C function was running that the instruction had called.
static inline const _Atomic uint32_t *
Code_instruction_samples(const struct Code *code)
{
    return atomic_load_explicit(&code->share.instruction_samples,
                                memory_order_acquire);
}

// Returns the number of different instruction numbers in the code. An
// instruction number has 16 bits.
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
    // This load pairs with the release in record_first (thread_trace_call.c).
    return atomic_load_explicit(&code->hot.histogram, memory_order_acquire);
}

static inline struct Latency *Code_latency(const struct Code *code)
{
    // This load pairs with the release in make (latency.c).
    return atomic_load_explicit(&code->cold.latency, memory_order_acquire);
}

// Returns true for a code object that stands for C code and never runs
// (python/hooks/stand_in.h).
static inline bool Code_is_stand_in(const struct Code *code)
{
    return code->who.garbage || code->who.c_function;
}

// Returns true if hooks may miss calls of the function, and calls can be tagged
// (LongCalls). A generator keeps its frame object, and the tag, between steps.
static inline bool Code_can_be_tagged(const struct Code *code)
{
    return !code->hot.calls_exact && code->hot.enter_hook != HOOK_RESUME;
}

// Returns true for a C function whose calls are counted only in the windows of
// its callers (c_calls.h).
static inline bool Code_is_counted_by_callers(const struct Code *code)
{
    return code->who.c_function && !code->hot.calls_exact;
}

// Returns the number of counted calls. A call that was suspended and resumed
// counts as one call.
static inline uint64_t Code_calls(const struct Code *code)
{
    uint64_t resumed = Counter_get(&code->hot.resumed);
    uint64_t entries = Counter_get(&code->hot.entries);

    return entries > resumed ? entries - resumed : 0;
}

// Returns the fraction of entries that begin a call. All other entries resume a
// call. The fraction is 1 for code that is never suspended, and for code if
// only resumptions were seen.
static inline double Code_calls_an_entry(const struct Code *code)
{
    uint64_t calls = Code_calls(code);

    return calls ? (double)calls / (double)Counter_get(&code->hot.entries) : 1;
}

// Returns true if Ocular found the code later than the code with this id. Ids
// are assigned in increasing order, and begin again at 1 after 2^32 ids.
static inline bool Code_is_after(const struct Code *code, uint32_t id)
{
    return (int32_t)(code->hot.id - id) > 0;
}

// Returns true if the code has had an event or a sample. Some code has had
// neither, because Ocular found it on a stack and it has not run since.
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

// Returns the hits of the code's lines, or NULL before lines had hooks.
static inline struct LineHits *Code_lines(const struct Code *code)
{
    return atomic_load_explicit(&code->layout.lines, memory_order_acquire);
}

struct LineRange Code_line_range(const struct Code *code);

// Returns true if the left and the right arm of a branch have a site each.
static inline bool Code_has_two_arms(const struct Code *code,
                                     const struct Site *site)
{
    return site + 1 < code->layout.sites + code->layout.site_count &&
           site[1].unit == site->unit && site[1].kind == SITE_BRANCH_RIGHT;
}

// Counts a jump of a branch whose two arms share one site.
void Code_take(struct Code *code, const struct Site *site);
// Returns the number of times that the branch of a site has jumped.
uint64_t Code_taken(const struct Code *code, const struct Site *site);

// Returns the kind of hook that the code has at returns and yields.
static inline enum HookKind Code_leave_hook(const struct Code *code)
{
    return code->hot.enter_hook == HOOK_RESUME ? HOOK_YIELD : HOOK_LEAVE;
}

// Makes the next snapshot fill the code's row again, even if the code has no
// hit until then. Any thread may call Code_touch after it has changed the code.
static inline void Code_touch(struct Code *code)
{
    // The release pairs with the exchange in Code_take_touch.
    atomic_store_explicit(&code->hot.touched, true, memory_order_release);
}

// Returns true if Code_touch has been called since the last call of
// Code_take_touch. Only the thread that builds snapshots calls Code_take_touch.
static inline bool Code_take_touch(struct Code *code)
{
    return atomic_load_explicit(&code->hot.touched, memory_order_relaxed) &&
           atomic_exchange_explicit(&code->hot.touched, false,
                                    memory_order_acquire);
}

// Returns a number that changes at each hit of the function. All fields that
// Code_stamp reads are in the cache line of `touched`.
static inline uint32_t Code_stamp(const struct Code *code)
{
    uint64_t mixed = Counter_get(&code->hot.last_seen);

    mixed = mixed * 0x9e3779b97f4a7c15u + Counter_get(&code->hot.self_calls);
    mixed = mixed * 0x9e3779b97f4a7c15u + Counter_get(&code->hot.total_cycles);
    return (uint32_t)(mixed ^ mixed >> 32);
}

// Code_note_change is called whenever a site or an instruction has lost its
// hook, or the hooks of all sites have been installed. The caller holds the
// counting lock.
static inline void Code_note_change(struct Code *code)
{
    uint32_t changes =
        atomic_load_explicit(&code->cold.site_changes, memory_order_relaxed);

    atomic_store_explicit(&code->cold.site_changes, changes + 1,
                          memory_order_release);
    Code_touch(code);
}

// Counts the sites that are not redundant, and those among them that have no
// hook (are dark).
void Code_count_sites(const struct Code *code, uint64_t *sites, uint64_t *dark);
// Returns the number of runs of the code's hooks, without hooks for exceptions.
uint64_t Code_events(const struct Code *code);

static inline enum Arming Code_arming(const struct Code *code)
{
    return (enum Arming)atomic_load_explicit(&code->spans.arming,
                                             memory_order_relaxed);
}

// Returns the number of the code's known callees that have no hooks (are dark).
static inline uint32_t Code_dark_callees(const struct Code *code)
{
    return code->hot.dark_callees;
}
