// SPDX-License-Identifier: MIT
// What is known of one accepted code object: who it is, its sites, and the
// cells the hooks count in. Written under the interpreter's lock (cells,
// state), by the governor without it (what is recent) or by the sampler
// (share); the collector and the sampler read it inside an RCU read section.
// Freed by the collector after a grace period.
#ifndef OCULAR_TRACER_CODE_CODE_H
#define OCULAR_TRACER_CODE_CODE_H

#include "tracer/base/cell.h"
#include "tracer/base/histogram.h"
#include "tracer/base/opcode.h"
#include "tracer/base/share.h"
#include "tracer/code/instruction.h"
#include "tracer/code/rearm_window.h"
#include "tracer/code/recent.h"
#include "tracer/code/specialisation.h"

#include <stdbool.h>
#include <stddef.h>

#define CODE_NEVER UINT64_MAX // a stop_at that is never reached
#define EPOCH_NONE UINT16_MAX // a frame's that is never its code's

enum SiteKind {
    SITE_START,  // the first RESUME: PY_START
    SITE_RESUME, // the others: PY_RESUME
    SITE_RETURN,
    SITE_YIELD,
    SITE_JUMP,
    SITE_BRANCH, // both arms, or the left one where the arms are two sites
    SITE_BRANCH_RIGHT
};

// Hooks by what they cost. That depends on the event; on whether its code can
// be suspended, since to enter a generator or a coroutine is a resumption and
// takes less than a call; and on the event's offsets: of one beyond the small
// integers that it keeps, CPython makes an object at each event. Where those
// are far, the kind is the next one.
enum HookKind {
    HOOK_ENTER,
    HOOK_RESUME, // every enter of what can be suspended
    HOOK_LEAVE,
    HOOK_LEAVE_FAR,
    HOOK_YIELD,
    HOOK_YIELD_FAR, // and the RESUME that follows it there
    HOOK_FINISH,    // the return of what can be suspended
    HOOK_FINISH_FAR,
    HOOK_JUMP,
    HOOK_JUMP_FAR,
    HOOK_BRANCH,
    HOOK_BRANCH_FAR,
    HOOK_INSTRUCTION,
    HOOK_INSTRUCTION_FAR,
    HOOK_DARK_THROW, // into a dark generator, of which nothing is done
    HOOK_KINDS
};

struct Site {
    cell_t hits;
    cell_t cycles;       // of the blocks that ended here, net
    cell_t instructions; // in those blocks
    uint64_t stop_at;    // hits at which it goes dark
    uint16_t unit;       // code unit; its byte offset is twice this
    uint16_t reach;      // most instructions a block that ends here can have:
                         // those after the loop before it
    uint8_t kind;        // enum SiteKind
    uint8_t redundant;   // follows from other sites: not kept armed
    _Atomic uint8_t dark;
    uint8_t hook; // enum HookKind: what its hook costs
};

// One code unit's entry in the map from offsets to sites.
struct Unit {
    uint16_t site;   // index + 1 into sites, 0 = none
    uint16_t number; // of its instruction, counted from 0, modulo 2^16
};

struct Code {
    // The enter hook's line.
    cell_t calls;
    uint64_t stop_at;     // calls at which the function goes dark
    cell_t last_seen;     // ticks of the newest hit
    uint64_t last_caller; // newest caller's id: that edge is recorded
    struct Histogram *_Atomic histogram; // from the second call on
    uint32_t id; // unique in the process, never reused; 0 = nobody
    _Atomic uint32_t dark_callees; // known ones; while there are any, self and
                                   // block cycles would take in the callees'
                                   // and are left out; the governor reads it
    uint16_t epoch; // moves on when dark_callees becomes 0 or more; never 0
    uint16_t plain_epoch; // epoch while a leave is plain (lane_call.h), else 0
    uint16_t block_epoch; // epoch while block cycles are right, else 0
    _Atomic bool warming; // armed again, and its first calls are not timed:
                          // counted in dark_callees
    uint64_t stop_then;   // stop_at, once it is warm
    _Atomic bool dark; // its enter sites are disabled; the collector reads it
    bool closed;       // since then a leave was seen: later ones are unreliable
    _Atomic bool calls_exact; // never dark: calls are all calls
    _Atomic bool exact;       // no site ever dark: hits are all hits; the
                              // collector reads it
    _Atomic bool broken;      // a jump's site is dark (precise: a gate's,
                         // instruction.h): where a block or an instruction ends
                         // is not seen; the governor reads it
    uint8_t enter_hook; // enum HookKind
    bool probe;         // what hooks are timed on: in no registry

    // The leave hook's line.
    cell_t self_calls; // calls in self_cycles and waited_cycles
    cell_t self_cycles;
    cell_t min_cycles;
    cell_t total_cycles; // of outermost calls
    cell_t waited_cycles;

    struct Unit *units;
    uint32_t unit_count;
    uint32_t site_count;
    uint32_t jump_count; // of these: jumps and branches that are kept armed
    struct Site *sites;
    struct Instruction *instructions; // by number; NULL but in precise mode
    uint32_t instruction_count;       // the number of the one that stands for
                                      // "not known"

    struct Share share;
    struct Recent recent;           // since when its mean is taken
    _Atomic uint32_t specialized;   // sites, as last known
    _Atomic uint32_t specializable; // UINT32_MAX: not looked at yet

    // The collector's, for figures that need a difference.
    double rate;                   // calls a second while armed
    uint64_t rate_calls;           // calls at rate_at
    double rate_at;                // s of CLOCK_MONOTONIC, 0 = never
    bool rate_estimated;           // it is by shares
    bool rate_dark;                // it was dark then
    uint32_t rate_dark_times;      // dark_times then
    _Atomic uint32_t dark_times;   // that it went dark; the hooks write
    _Atomic double dark_calls;     // estimated, of dark spells that are over
    _Atomic uint64_t dark_from_ns; // sampled time when it went dark
    uint64_t shown;                // newest snapshot it has a row in
    uint64_t quantiles_calls;      // self_calls that the next two are of
    bool quantiles_settled;        // ... and were, at the snapshot before
    double p50_cycles, p99_cycles;

    // The governor's.
    uint64_t ranked_events; // events at the newest Hottest_rank
    struct RearmWindow visit;
    bool visited;          // a re-arm window is open
    uint32_t window;       // in which it was armed again last
    bool unarmed;          // since it came; the hooks' side
    _Atomic bool again;    // called more than once since then
    unsigned refusals;     // times in turn that it could not be armed
    uint64_t timed_calls;  // at the newest survey
    cell_t timed_ticks;    // of the survey that found the newest; the collector
                           // reads it
    uint64_t broken_ticks; // of the survey that found it broken first; 0: it is
                           // not
    // Before its next call, callees that are dark are to be armed for so many
    // calls each; 0: not. The enter hook takes it.
    _Atomic uint32_t callee_hits;

    // Who it is; immutable.
    uintptr_t address; // of the code object
    uint32_t line;
    uint32_t version; // of its functions; 0: they have none
    char *name;       // qualified
    char *file;
    uint8_t *bytecode;   // base opcodes, 2 * unit_count bytes
    uint8_t *line_table; // co_linetable
    size_t line_table_size;

    // Guarded by the interpreter's lock; the history by the log's mutex as
    // well, and who only reads that may have either.
    struct Specialisation story;
    uint64_t aged_calls; // the mean's beginning when the histogram was aged
    uint32_t *callers;   // ids of known callers
    uint32_t caller_count;
    uint32_t caller_room;
    uint32_t *callees; // ids of what it is known to call, the newest 64
    uint32_t callee_count;
    uint32_t callee_room;
    uint32_t callee_next; // beyond these: turns, the next takes the oldest's

    // The registry's.
    struct Code *_Atomic next_in_bucket;
    struct Code *_Atomic next_by_id;
    struct Code *_Atomic next_by_version;
    struct Code *_Atomic next_in_list;
    struct Code *previous_in_list;
    struct Code *next_retired;
    cell_t retired_ticks;    // when its code object went; 0: it lives
    bool chained;            // in the chain by address, retired or not
    bool taken;              // by the collector
    size_t registered_bytes; // its part of Registry.bytes
    cell_t grown_bytes;      // what it has allocated since
};

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

// How many samples found each of its instructions running, by their numbers
// (Code_instruction_count() of them); and, in as many entries behind, how many
// of those found it in C that it had called. Or NULL.
static inline const _Atomic uint32_t *
Code_instruction_samples(const struct Code *code)
{
    return atomic_load_explicit(&code->share.instruction_samples,
                                memory_order_acquire);
}

// Numbers of instructions: they are 16 bits wide.
static inline size_t Code_instruction_count(const struct Code *code)
{
    if (code->unit_count > UINT16_MAX)
        return UINT16_MAX + 1u;
    return code->unit_count ? code->units[code->unit_count - 1].number + 1u : 0;
}

static inline struct Histogram *Code_histogram(const struct Code *code)
{
    return atomic_load_explicit(&code->histogram, memory_order_relaxed);
}

// Ids are given out in turn and may wrap: was it adopted after that id was?
static inline bool Code_is_after(const struct Code *code, uint32_t id)
{
    return (int32_t)(code->id - id) > 0;
}

// Code that was adopted because it was on a stack, or whose calls are all
// before our time, is nobody's business until something is seen of it.
static inline bool Code_was_seen(const struct Code *code)
{
    return Cell_get(&code->calls) || Cell_get(&code->last_seen) ||
           Cell_get(&code->share.samples);
}

// The site at a byte offset, or NULL.
static inline struct Site *Code_site(const struct Code *code, size_t offset)
{
    size_t unit = offset / 2;
    unsigned index;

    if (unit >= code->unit_count)
        return NULL;
    index = code->units[unit].site;
    return index ? &code->sites[index - 1] : NULL;
}

// That of what leaves it for good: a return or an exception.
static inline enum HookKind Code_leave_hook(const struct Code *code)
{
    return code->enter_hook == HOOK_RESUME ? HOOK_FINISH : HOOK_LEAVE;
}

// Counts over the sites that are not redundant.
void Code_count_sites(const struct Code *code, uint64_t *sites, uint64_t *dark);
// Hooks that ran in it, exceptions aside.
uint64_t Code_events(const struct Code *code);

// Callees that are known and dark.
static inline uint32_t Code_dark_callees(const struct Code *code)
{
    return code->dark_callees - code->warming;
}

#endif
