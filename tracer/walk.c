// SPDX-License-Identifier: MIT
// The walk over frames; see the header.
#include "tracer/walk.h"

#include <errno.h>
#include <string.h>

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

int Walk_init(struct Walk *walk, const struct Memory *memory,
              const struct FrameLayout *layout)
{
    size_t state_last = most(layout->thread_frame,
                             most(layout->thread_chunk, layout->thread_top));
    size_t state_first = least(layout->thread_frame,
                               least(layout->thread_chunk, layout->thread_top));
    size_t frame_last =
        most(layout->frame_code,
             most(layout->frame_previous, layout->frame_instruction));

    memset(walk, 0, sizeof(*walk));
    walk->page = walk->pages + WALK_PAGE - (uintptr_t)walk->pages % WALK_PAGE;
    walk->memory = memory;
    walk->layout = *layout;
    if (layout->active_mask) {
        state_first = least(state_first, layout->thread_active);
        state_last = most(state_last, layout->thread_active);
    }
    walk->state_from = state_first;
    if (state_last - walk->state_from > WALK_STATE - sizeof(uintptr_t) ||
        frame_last > WALK_FRAME_SIZE - sizeof(uintptr_t) ||
        layout->frame_owner >= WALK_FRAME_SIZE)
        return -EINVAL;
    walk->state_size = state_last - walk->state_from + sizeof(uintptr_t);
    walk->frame_size =
        most(frame_last + sizeof(uintptr_t), layout->frame_owner + 1);
    return 0;
}

static uintptr_t word(const uint8_t *bytes, size_t offset)
{
    uintptr_t value;

    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

// --- What has been read ------------------------------------------------------

static void add_region(struct Walk *walk, const struct MemoryPart *part)
{
    if (part->read && part->size > 0)
        walk->regions[walk->region_count++] = *part;
}

static const uint8_t *find_bytes(const struct Walk *walk, uintptr_t frame)
{
    for (size_t i = 0; i < walk->region_count; i++) {
        const struct MemoryPart *region = &walk->regions[i];

        if (region->size >= walk->frame_size && frame >= region->from &&
            frame - region->from <= region->size - walk->frame_size)
            return (const uint8_t *)region->to + (frame - region->from);
    }
    return NULL;
}

// One that is just being pushed or popped is above the top.
static bool in_stack(const struct WalkStart *start, uintptr_t frame)
{
    return frame >= start->chunk && frame < start->high;
}

// The data stack from this frame down, as far as there is room.
static void reach_down(struct Walk *walk, const struct WalkStart *start,
                       uintptr_t frame)
{
    size_t below = least(frame - start->chunk, WALK_DEEP - walk->frame_size);
    struct MemoryPart part = {frame - below, walk->deep,
                              below + walk->frame_size, false};

    walk->reached = true;
    Memory_read_parts(walk->memory, &part, 1);
    add_region(walk, &part);
}

// In place: whether all of it is on pages that can be read, each of which is
// asked about once in a walk.
static bool is_readable(struct Walk *walk, uintptr_t from, size_t size)
{
    uintptr_t page = from & ~(uintptr_t)(WALK_PAGE - 1), end = from + size;

    if (end < from)
        return false;
    for (; page < end; page += WALK_PAGE) {
        uintptr_t *known = &walk->known[page / WALK_PAGE % WALK_KNOWN];

        if (*known == (page | 1))
            continue;
        if (!Memory_is_readable(page))
            return false;
        *known = page | 1; // not 0, which is a page too
    }
    return true;
}

// The bytes of a frame, or NULL.
static const uint8_t *read_frame(struct Walk *walk,
                                 const struct WalkStart *start, uintptr_t frame)
{
    const uint8_t *bytes;

    if (frame % sizeof(uintptr_t) != 0)
        return NULL;
    if (walk->in_place)
        return is_readable(walk, frame, walk->frame_size)
                   ? (const uint8_t *)frame
                   : NULL;
    bytes = find_bytes(walk, frame);
    if (!bytes && !walk->reached && in_stack(start, frame)) {
        reach_down(walk, start, frame);
        bytes = find_bytes(walk, frame);
    }
    if (bytes)
        return bytes;
    if (!Memory_read(walk->memory, frame, walk->frame, walk->frame_size))
        return NULL;
    return walk->frame;
}

// --- The look ----------------------------------------------------------------

// What a look reads, next to each other in one page of ours.
struct Reading {
    struct MemoryPart parts[2 + WALK_CFRAMES + WALK_OTHERS];
    size_t count;
    uint8_t *end;
};

// Nothing where the address is not known.
static void Reading_add(struct Reading *reading, uintptr_t from, size_t size)
{
    size_t known = from ? size : 0;

    reading->parts[reading->count++] =
        (struct MemoryPart){from, reading->end, known, false};
    reading->end += known;
}

// The end of the page that the top of the stack was on; 0: there is no telling.
static uintptr_t end_of_top(const struct WalkStart *start)
{
    uintptr_t end = ((start->top - 1) | (WALK_PAGE - 1)) + 1;

    return start->top <= start->chunk || end < start->top ? 0 : end;
}

// What is likely to hold the newest frames: up to the highest that the stack
// has been known to reach or, since it may have grown, to the end of the page
// that its top is on; and as far down as there is room.
static void add_near(struct Reading *reading, const struct WalkStart *start,
                     uintptr_t end, size_t room)
{
    if (end == 0) {
        Reading_add(reading, 0, 0);
        return;
    }
    end = least(most(end, start->high), start->top + WALK_ABOVE);
    room = least(room, end - start->chunk);
    Reading_add(reading, end - room, room);
}

// 3.12 keeps the current frame one pointer further away, on C's stack: in one
// of few places, for a thread that goes on doing what it does. parts: what was
// read there together with the state.
static void follow_cframe(const struct Walk *walk, struct WalkStart *start,
                          const struct MemoryPart *parts)
{
    uintptr_t at = start->frame + walk->layout.cframe_frame;
    size_t i = 0;

    while (i < WALK_CFRAMES - 1 && start->cframes[i] != at)
        i++;
    if (parts[i].size > 0 && start->cframes[i] == at)
        start->frame = word(parts[i].to, 0);
    else
        start->read =
            Memory_read(walk->memory, at, &start->frame, sizeof(start->frame));
    if (!start->read)
        return;
    memmove(start->cframes + 1, start->cframes, i * sizeof(at));
    start->cframes[0] = at;
}

static void take_state(const struct Walk *walk, struct WalkStart *start,
                       const uint8_t *bytes)
{
    const struct FrameLayout *layout = &walk->layout;
    size_t from = walk->state_from;
    uintptr_t before = start->chunk;

    start->frame = word(bytes, layout->thread_frame - from);
    start->chunk = word(bytes, layout->thread_chunk - from);
    start->top = word(bytes, layout->thread_top - from);
    start->active = !layout->active_mask ||
                    (bytes[layout->thread_active - from] & layout->active_mask);
    start->high =
        start->chunk == before ? most(start->high, start->top) : start->top;
}

// What could not be read where it was is not looked for there again.
static void forget(uintptr_t *places, const struct MemoryPart *parts,
                   size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!parts[i].read)
            places[i] = 0;
}

// The state of the calling thread while it has the interpreter, or 0.
static uintptr_t own_state(const struct Walk *walk)
{
    uintptr_t state = 0;

#if defined(__x86_64__)
    if (walk->layout.own_state)
        __asm__("movq %%fs:(%1), %0"
                : "=r"(state)
                : "r"(walk->layout.own_state));
#endif
    return state;
}

// The calling thread's state, whose frames nobody changes now. They are alive:
// only a link that is being set, as a frame is pushed or popped, may hold
// anything, and may lead anywhere. Hence Memory_is_readable.
static void look_in_place(struct Walk *walk, struct WalkStart *start)
{
    const struct FrameLayout *layout = &walk->layout;

    memset(walk->known, 0, sizeof walk->known);
    start->read = true;
    take_state(walk, start, (const uint8_t *)start->state + walk->state_from);
    if (layout->through_cframe) {
        uintptr_t at = start->frame + layout->cframe_frame;

        start->read = at % sizeof at == 0 && is_readable(walk, at, sizeof at);
        start->frame = start->read ? word((const uint8_t *)at, 0) : 0;
    }
}

// The newest frames, where the stack ends, and the frames elsewhere, all at one
// moment. *start says where all of it was at the walk before.
static void look(struct Walk *walk, struct WalkStart *start)
{
    const size_t cframes = walk->layout.through_cframe ? WALK_CFRAMES : 0;
    const size_t others = WALK_OTHERS * walk->frame_size;
    struct Reading reading = {.end = walk->page};
    const struct MemoryPart *near = reading.parts, *cframe = near + 1;
    const struct MemoryPart *state = cframe + cframes, *other = state + 1;
    // Some time before the state frames would be another moment's, and whole.
    const uintptr_t end = walk->memory->pushes ? end_of_top(start) : 0;

    add_near(&reading, start, end,
             WALK_PAGE - walk->state_size - cframes * sizeof(uintptr_t) -
                 others);
    // Before the state: a frame that has come since is above its top.
    for (size_t i = 0; i < cframes; i++)
        Reading_add(&reading, start->cframes[i], sizeof(uintptr_t));
    Reading_add(&reading, start->state + walk->state_from, walk->state_size);
    for (size_t i = 0; i < WALK_OTHERS; i++)
        Reading_add(&reading, start->others[i], walk->frame_size);
    Memory_read_parts(walk->memory, reading.parts, reading.count);
    walk->region_count = 0;
    walk->reached = false;
    forget(start->cframes, cframe, cframes);
    forget(start->others, other, WALK_OTHERS);
    start->read = state->read;
    if (!start->read)
        return;
    take_state(walk, start, state->to);
    if (!near->read)
        start->high = start->top;
    if (cframes)
        follow_cframe(walk, start, cframe);
    add_region(walk, near);
    for (size_t i = 0; i < WALK_OTHERS; i++)
        add_region(walk, other + i);
}

// --- The walk ----------------------------------------------------------------

// Frames outside the data stack: those of this walk, and before them in turn
// those of the walks before.
static void remember(struct WalkStart *start, const uintptr_t *met,
                     size_t count)
{
    uintptr_t kept[WALK_OTHERS];

    memcpy(kept, met, count * sizeof(*met));
    for (size_t i = 0; i < WALK_OTHERS && count < WALK_OTHERS; i++) {
        bool is_new = true;

        for (size_t j = 0; j < count; j++)
            is_new &= kept[j] != start->others[i];
        if (is_new)
            kept[count++] = start->others[i];
    }
    memset(kept + count, 0, (WALK_OTHERS - count) * sizeof(*kept));
    memcpy(start->others, kept, sizeof(kept));
}

// C has made it, where it calls Python code.
static bool is_cs(const struct Walk *walk, uint8_t owner)
{
    uint8_t c = walk->layout.owned_by_c;

    return c != 0 && (owner == c || owner == c + 1);
}

// Whether a frame without a caller is the last of its stack: C has made it, or
// nothing can be below it (greenlets leave C's frames out while they switch).
// Else it has lost its caller since: it was popped, or it has yielded. C's
// frames lie on C's stack, where anything may have come in their place.
static bool is_last(const struct Walk *walk, const struct WalkStart *start,
                    uintptr_t at, uint8_t owner)
{
    return walk->layout.owned_by_c == 0 || is_cs(walk, owner) ||
           at == start->chunk + walk->layout.chunk_first;
}

static void follow_frames(struct Walk *walk, struct WalkStart *start)
{
    const struct FrameLayout *layout = &walk->layout;
    uintptr_t at = start->read ? start->frame : 0;
    uintptr_t others[WALK_OTHERS];
    size_t other_count = 0;

    walk->depth = 0;
    walk->truncated = false;
    walk->torn = !start->read;
    while (at != 0 && !walk->torn) {
        const uint8_t *frame;
        uintptr_t previous;

        if (walk->depth == WALK_DEPTH) {
            walk->truncated = true; // or a loop, which this ends too
            break;
        }
        frame = read_frame(walk, start, at);
        if (frame == NULL) {
            walk->torn = true;
            break;
        }
        if (!in_stack(start, at) && other_count < WALK_OTHERS)
            others[other_count++] = at;
        // C's own on top: a call that C makes has just begun, or has ended.
        if (walk->depth > 0 || !is_cs(walk, frame[layout->frame_owner]))
            walk->frames[walk->depth++] = (struct WalkFrame){
                word(frame, layout->frame_code) & layout->code_mask,
                word(frame, layout->frame_instruction)};
        previous = word(frame, layout->frame_previous);
        walk->torn = previous == at ||
                     (previous == 0 &&
                      !is_last(walk, start, at, frame[layout->frame_owner]));
        at = previous;
    }
    if (walk->torn && other_count > 0)
        other_count--; // who knows what that was
    if (start->read)
        remember(start, others, other_count);
}

void Walk_frames(struct Walk *walk, struct WalkStart *start)
{
    walk->in_place = start->own && own_state(walk) == start->state;
    if (walk->in_place)
        look_in_place(walk, start);
    else
        look(walk, start);
    follow_frames(walk, start);
}
