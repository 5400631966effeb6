// SPDX-License-Identifier: MIT
#include "tracer/hook/thread_trace_garbage.h"
#include "tracer/code/c_calls.h"
#include "tracer/hook/thread_trace_call.h"

// Seconds within which a thread runs again after the governor has armed code.
#define HELD_S 1e-3

// A call of a C function, or a garbage collection.
struct CodeInC {
    struct Code *code; // The stand-in.
    size_t caller;     // Hit_caller of the calling function, or 0.
    uintptr_t address; // Address of the calling code, or 0 if unknown.
    uint32_t depth;    // Depth of the calling function.
    uint64_t ticks;
};

// Returns the site of the given kind in a stand-in, the struct Code of C code.
// A stand-in has one site of each kind.
static struct Site *site_of(const struct Code *code, enum SiteKind kind)
{
    uint32_t i = 0;

    while (i < code->layout.site_count && code->layout.sites[i].kind != kind)
        i++;
    return i < code->layout.site_count ? &code->layout.sites[i] : NULL;
}

// Returns true if the top frame belongs to C code that must have ended if
// `call` begins. A garbage collection may begin in a C function.
static bool has_ended(const struct ThreadTrace *trace,
                      const struct CodeInC *call)
{
    const struct Code *top = trace->top->code;

    return top && (top == call->code ||
                   (call->code->who.c_function && Code_is_stand_in(top) &&
                    trace->top->depth == call->depth));
}

static void begin(struct ThreadTrace *trace, const struct CodeInC *call)
{
    struct Code *code = call->code;
    const struct Site *site = site_of(code, SITE_START);
    uintptr_t caller = call->address;

    ThreadTrace_settle(trace, call->depth + 1, 0, call->ticks);
    // Closes earlier calls of C code whose end no hook saw.
    while (has_ended(trace, call))
        ThreadTrace_pop_unseen(trace, call->ticks);
    ThreadTrace_settle(trace, call->depth + 1, call->caller, call->ticks);
    // If a garbage collection interrupts a function without a frame, only the
    // bits of Hit_caller are known of that function.
    if (!caller)
        caller = trace->top->depth == call->depth
                     ? trace->top->address
                     : (uintptr_t)call->caller << 4;
    // The C code is not stored as a callee of its caller, because the caller
    // would then count as a function that calls others, and would not be timed
    // between slices.
    code->hot.last_caller = trace->top->id;
    trace->begins = EVENT_ENTER;
    ThreadTrace_enter(trace, code, call->depth + 1,
                      site ? code->layout.units[site->unit].number : 0,
                      call->ticks);
    if (trace->top->code != code) // Memory is out.
        return;
    // If C code calls a Python function, this is at `depth` + 1, and the
    // interpreter names the function below the C code as its caller.
    trace->top->depth = call->depth;
    trace->top->address = caller;
    trace->newest_c = code->hot.id;
}

static void end(struct ThreadTrace *trace, const struct CodeInC *call)
{
    struct Contention *contention = trace->contention;
    int64_t long_span = contention->long_span;

    ThreadTrace_settle(trace, call->depth + 1, 0, call->ticks);
    // The beginning of the C code has pushed no frame.
    if (trace->top->code != call->code)
        return;
    // A long garbage collection is the garbage collector's own time, because
    // it holds the GIL. If C code releases the GIL, its waiting time counts as
    // its own time, too.
    contention->long_span = INT64_MAX;
    ThreadTrace_leave(trace, call->code, site_of(call->code, SITE_RETURN),
                      call->depth, call->ticks);
    contention->long_span = long_span;
}

static void call_c(struct ThreadTrace *trace, struct Code *caller,
                   const struct Hit *hit, uint32_t depth)
{
    const struct CodeInC call = {
        .code = Registry_by_id(trace->registry, (uint32_t)Hit_to(hit)),
        .caller = Hit_caller(caller->who.address),
        .address = caller->who.address,
        .depth = depth,
        .ticks = hit->ticks,
    };
    struct Frame *frame;

    // These hooks take longer than those of calls before they write a hit.
    Counter_add(&trace->overhead, Counter_get(&trace->c_hook) / C_HOOKS);
    if (!call.code || !call.code->who.c_function)
        return;
    if (Hit_kind(hit) == HIT_C_END) {
        end(trace, &call);
        return;
    }
    if (CCalls_count(caller, (uint32_t)Hit_unit(hit), call.code->hot.id,
                     call.code->hot.calls_exact, hit->ticks))
        begin(trace, &call);
    // The time of C functions' hooks is not part of the caller's cycles, but is
    // not known exactly. A call with hooks of C functions is therefore not
    // timed.
    frame = trace->top - (trace->top->code == call.code);
    if (!call.code->hot.calls_exact && frame->code == caller)
        frame->epoch = EPOCH_NONE;
}

bool ThreadTrace_run_c(struct ThreadTrace *trace, struct Code *code,
                       const struct Hit *hit, uint32_t depth)
{
    const struct CodeInC call = {
        .code = code,
        .caller = Hit_to(hit),
        .depth = depth,
        .ticks = hit->ticks,
    };

    if (!code->who.garbage) {
        struct CPayment payment = {
            .payer = trace,
            .before = Counter_own(&trace->overhead),
            .ticks = hit->ticks,
            .held = (uint64_t)(HELD_S * trace->contention->hz),
        };

        call_c(trace, code, hit, depth);
        payment.after = Counter_own(&trace->overhead);
        CCalls_pay(code, &payment);
    } else if (Hit_kind(hit) == HIT_C_BEGIN) {
        begin(trace, &call);
    } else if (Hit_kind(hit) == HIT_C_END) {
        end(trace, &call);
    }
    return false;
}
