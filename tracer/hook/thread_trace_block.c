// SPDX-License-Identifier: MIT
#include "tracer/hook/thread_trace_block.h"
#include "tracer/code/arming.h"

// Returns the number of instructions in the block that ends at `site`.
static uint16_t block_length(const struct Frame *frame, const struct Code *code,
                             const struct Site *site)
{
    uint16_t length =
        (uint16_t)(code->layout.units[site->unit].number - frame->start + 1);

    // No event reports that a FOR_ITER has ended its loop. If a FOR_ITER has
    // ended its loop, the body of the loop lies between `start` and the site,
    // but did not run.
    return length < site->reach ? length : site->reach;
}

// Removes loops that have ended, and loops of frames that have ended. Two
// frames at the same position of the stack can begin at the same net time. The
// number of instructions tells two such frames apart, because it only grows
// while a frame runs.
static void end_loops(struct ThreadTrace *trace, const struct Frame *frame,
                      uint32_t instructions, uint16_t head)
{
    uint32_t number = ThreadTrace_number(trace, frame);

    for (; trace->loop_count; trace->loop_count--) {
        const struct Loop *loop = &trace->loops[trace->loop_count - 1];

        if (loop->number < number)
            return;
        if (loop->number == number && loop->enter == frame->enter &&
            loop->head <= head &&
            (int32_t)(instructions - loop->instructions) > 0)
            return;
    }
}

// Returns the cycles of an iteration, which are at least 1. The net cycles of a
// short iteration can be 0 or fewer, because the hooks' cost is subtracted.
static uint64_t net_cycles(int64_t cycles)
{
    return cycles > 0 ? (uint64_t)cycles : 1;
}

static void push_loop(struct ThreadTrace *trace, struct Frame *frame,
                      const struct Site *site, uint16_t head, int64_t now,
                      uint64_t ticks)
{
    uint16_t from = frame->code->layout.units[site->unit].number;
    uint16_t length = block_length(frame, frame->code, site);
    uint32_t instructions = frame->instructions + length;
    struct Loop *loop;

    if (head > from) // A jump forward ends no iteration.
        return;
    end_loops(trace, frame, instructions, head);
    loop = trace->loop_count ? &trace->loops[trace->loop_count - 1] : NULL;
    if (!loop || loop->number != ThreadTrace_number(trace, frame) ||
        loop->head != head) {
        // No event reports the beginning of the first iteration of a loop. Of
        // the first iteration, only the last block is known, and this block can
        // have begun before the loop.
        uint16_t body = (uint16_t)(from - head + 1);

        if (trace->loop_count == THREAD_TRACE_LOOPS)
            return;
        loop = &trace->loops[trace->loop_count++];
        loop->enter = frame->enter;
        loop->number = ThreadTrace_number(trace, frame);
        loop->head = head;
        loop->start = now - (frame->self - frame->block);
        loop->instructions = instructions - (length < body ? length : body);
    }
    Ring_push(trace->ring, ticks, EVENT_LOOP,
              Event_loop(net_cycles(now - loop->start),
                         instructions - loop->instructions, site->unit));
    loop->start = now;
    loop->instructions = instructions;
}

// Returns the running loop of the frame that begins at the instruction `head`,
// or NULL.
static struct Loop *find_loop(struct ThreadTrace *trace,
                              const struct Frame *frame, uint16_t head)
{
    struct Loop *loop;

    end_loops(trace, frame, frame->instructions, head);
    loop = trace->loop_count ? &trace->loops[trace->loop_count - 1] : NULL;
    return loop && loop->number == ThreadTrace_number(trace, frame) &&
                   loop->head == head
               ? loop
               : NULL;
}

// In precise mode, writes an instruction into the timeline if a loop begins or
// ends there, or if the timeline shows each instruction.
static void record_step(struct ThreadTrace *trace, const struct Frame *frame,
                        const struct Instruction *instruction, int64_t now,
                        uint64_t ticks)
{
    uint16_t number = frame->start;
    struct Loop *loop;

    if (instruction->flags & INSTRUCTION_SHOWN)
        Ring_push(trace->ring, ticks, EVENT_STEP,
                  Event_step(instruction->unit, instruction->opcode,
                             instruction->line));
    if (instruction->flags & INSTRUCTION_HEAD &&
        !find_loop(trace, frame, number) &&
        trace->loop_count < THREAD_TRACE_LOOPS)
        trace->loops[trace->loop_count++] =
            (struct Loop){.enter = frame->enter,
                          .start = now,
                          .number = ThreadTrace_number(trace, frame),
                          .instructions = frame->instructions - 1,
                          .head = number};
    if (!(instruction->flags & INSTRUCTION_LOOP))
        return;
    loop = find_loop(trace, frame, instruction->next);
    // The first instruction of the loop has no hook, or ran before the trace
    // began.
    if (!loop)
        return;
    Ring_push(trace->ring, ticks, EVENT_LOOP,
              Event_loop(net_cycles(now - loop->start),
                         frame->instructions - loop->instructions,
                         instruction->unit));
    loop->start = now;
    loop->instructions = frame->instructions;
}

// --- Blocks ---

bool ThreadTrace_end_line(struct Frame *frame, struct LineHits *lines)
{
    const struct Code *code = frame->code;
    bool known = frame->line_epoch == code->hot.epoch &&
                 !Code_dark_callees(code) && !code->cold.between;
    int64_t ticks = frame->self - frame->line;

    if (known && ticks > 0)
        Counter_add(&lines->ticks, (uint64_t)ticks);
    frame->line = frame->self;
    frame->line_epoch = code->hot.epoch;
    return known;
}

void ThreadTrace_end_block(struct Frame *frame, const struct Code *code,
                           struct Site *site)
{
    uint16_t length = block_length(frame, code, site);

    if (frame->epoch == code->hot.block_epoch) {
        Counter_add(&site->cycles, (uint64_t)(frame->self - frame->block));
        Counter_add(&site->instructions, length);
    }
    frame->instructions += length;
    frame->block = frame->self;
    if (code->hot.lined)
        ThreadTrace_end_line(frame, Code_lines(code));
}

bool ThreadTrace_jump(struct ThreadTrace *trace, struct Code *code,
                      struct Site *site, uint16_t to, uint32_t depth,
                      uint64_t ticks)
{
    int64_t now = ThreadTrace_advance(trace, ticks, site->hook);
    struct Frame *frame = ThreadTrace_find(trace, code, depth, ticks);
    uint64_t hits = Counter_add(&site->hits, 1);

    if (frame || !code->hot.dark)
        Counter_set(&code->hot.last_seen, ticks);
    if (!frame) {
        frame = ThreadTrace_attach(trace, code, depth, now, ticks);
    } else {
        // A branch never ends an iteration, because it never jumps back.
        if (site->kind == SITE_JUMP && trace->ring)
            push_loop(trace, frame, site, to, now, ticks);
        ThreadTrace_end_block(frame, code, site);
    }
    if (frame)
        frame->start = to;
    if (site->kind == SITE_BRANCH && !site->redundant &&
        to != (uint16_t)(code->layout.units[site->unit].number + 1) &&
        !Code_has_two_arms(code, site))
        Code_take(code, site);
    if (hits < site->stop_at ||
        (!site->redundant && ThreadTrace_renew(trace, code, ticks)))
        return false;
    Code_darken_site(code, site);
    return true;
}

// --- Lines ---

bool ThreadTrace_line(struct ThreadTrace *trace, struct Code *code,
                      const struct Hit *hit, uint32_t depth)
{
    struct LineHits *lines = Code_lines(code);
    struct LineHit *at = LineHits_at(lines, Hit_unit(hit));
    unsigned hook = HOOK_LINE + (Hit_to(hit) ? HOOK_FAR : 0);
    uint64_t ticks = hit->ticks;
    int64_t now = ThreadTrace_advance(trace, ticks, hook);
    struct Frame *frame;

    if (!at || LineHit_is_dark(at))
        return true;
    frame = ThreadTrace_find(trace, code, depth, ticks);
    if (frame || !code->hot.dark)
        Counter_set(&code->hot.last_seen, ticks);
    if (!frame)
        frame = ThreadTrace_attach(trace, code, depth, now, ticks);
    if (!Counter_get(&lines->begun_ticks))
        Counter_set(&lines->begun_ticks, ticks);
    if (frame && ThreadTrace_end_line(frame, lines))
        Counter_add(&at->timed, 1);
    if (Counter_add(&at->hits, 1) < at->stop_at ||
        ThreadTrace_renew(trace, code, ticks))
        return false;
    LineHits_darken(lines, at);
    return true;
}

// --- Instructions, in precise mode ---

static bool is_dark(const struct Code *code, uint16_t number)
{
    return atomic_load_explicit(&code->layout.instructions[number].dark,
                                memory_order_relaxed);
}

// Returns true if only the instruction `from` ran since the last event of the
// frame. The result is true only if `to` can follow `from`, and if the other
// instruction that can follow `from` has a hook, because that hook was not
// called.
static bool follows(const struct Code *code, uint16_t from, uint16_t to)
{
    const struct Instruction *at = &code->layout.instructions[from];

    return at->next == to ? !is_dark(code, at->other)
                          : at->other == to && !is_dark(code, at->next);
}

bool ThreadTrace_step(struct ThreadTrace *trace, struct Code *code,
                      uint16_t number, uint32_t depth, uint64_t ticks)
{
    struct Instruction *instruction = &code->layout.instructions[number];
    int64_t now = ThreadTrace_advance(trace, ticks, instruction->hook);
    struct Frame *frame = ThreadTrace_find(trace, code, depth, ticks);
    uint64_t hits = Counter_add(&instruction->hits, 1);

    if (frame || !code->hot.dark)
        Counter_set(&code->hot.last_seen, ticks);
    if (!frame) {
        frame = ThreadTrace_attach(trace, code, depth, now, ticks);
    } else if (frame->epoch == code->hot.block_epoch &&
               follows(code, frame->start, number)) {
        struct Instruction *before = &code->layout.instructions[frame->start];

        Counter_add(&before->cycles, (uint64_t)(frame->self - frame->block));
        Counter_add(&before->timed, 1);
    }
    if (frame) {
        frame->start = number;
        frame->block = frame->self;
        frame->instructions++;
        if (trace->ring &&
            instruction->flags &
                (INSTRUCTION_HEAD | INSTRUCTION_LOOP | INSTRUCTION_SHOWN))
            record_step(trace, frame, instruction, now, ticks);
    }
    if (hits < instruction->stop_at)
        return false;
    Code_darken_instruction(code, instruction);
    ThreadTrace_lose_step(trace); // Removing the hook takes time.
    return true;
}
