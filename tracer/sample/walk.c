// SPDX-License-Identifier: MIT
#include "tracer/sample/walk.h"

#include <errno.h>
#include <string.h>

#define TRIES 3 // Number of walks over another thread's stack, at most.

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
    return a > b ? a : b;
}

int Walk_init(struct Walk *walk, const struct FrameLayout *layout,
              struct WalkCopies *copies)
{
    size_t first = least(layout->thread_frame, layout->thread_chunk);
    size_t last = most(layout->thread_frame, layout->thread_chunk);
    size_t frame_last =
        most(most(layout->frame_code, layout->frame_object),
             most(layout->frame_previous, layout->frame_instruction));

    memset(walk, 0, sizeof(*walk));
    walk->layout = *layout;
    walk->copies = copies;
    if (layout->active_mask) {
        first = least(first, layout->thread_active);
        last = most(last, layout->thread_active);
    }
    walk->state_from = first;
    if (last - first > WALK_STATE - sizeof(uintptr_t) ||
        frame_last > WALK_FRAME_SIZE - sizeof(uintptr_t) ||
        layout->frame_owner >= WALK_FRAME_SIZE)
        return -EINVAL;
    walk->state_size = last - first + sizeof(uintptr_t);
    walk->frame_size =
        most(frame_last + sizeof(uintptr_t), layout->frame_owner + 1);
    return 0;
}

// A sample may read a PyThreadState after the thread has freed it. Walk_frames
// first checks whether the memory can be read. AddressSanitizer must not report
// a read of a freed PyThreadState.
#define MAY_READ_FREED __attribute__((no_sanitize_address))

MAY_READ_FREED
static uintptr_t word(const uint8_t *bytes, size_t offset)
{
    uintptr_t value;

    memcpy(&value, bytes + offset, sizeof(value));
    return value;
}

// --- Reading -----------------------------------------------------------------

// Returns true if all bytes are on readable pages, so that they can be read
// without a copy. In one walk over a stack, each page of memory is checked only
// once. The links between a thread's frames lead to live objects, except a link
// that CPython is just writing while it pushes or pops a frame. A link that is
// just being written may lead anywhere.
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
        // Bit 0 marks a used entry, because page 0 is also possible.
        *known = page | 1;
    }
    return true;
}

// Returns a copy of the bytes at `from`. Whole pages are copied, because most
// frames lie next to each other, and a system call for each frame would take
// longer.
static const uint8_t *copy(struct WalkCopies *copies, uintptr_t from,
                           size_t size)
{
    size_t offset = from % WALK_PAGE;
    uintptr_t page = from - offset;
    unsigned i = 0;

    if (!page)
        return NULL;
    if (offset > WALK_PAGE - size)
        return Memory_read(copies->memory, from, copies->straddling, size)
                   ? copies->straddling
                   : NULL;
    while (i < WALK_COPIES && copies->from[i] != page)
        i++;
    if (i == WALK_COPIES) {
        i = copies->next++ % WALK_COPIES;
        copies->from[i] = 0;
        if (!Memory_read(copies->memory, page, copies->pages[i], WALK_PAGE))
            return NULL;
        copies->from[i] = page;
    }
    return copies->pages[i] + offset;
}

// Returns the bytes at `from`, or NULL if they cannot be read. The bytes stay
// valid until the next call of read_at.
static const uint8_t *read_at(struct Walk *walk, uintptr_t from, size_t size)
{
    if (walk->copies)
        return copy(walk->copies, from, size);
    return is_readable(walk, from, size) ? (const uint8_t *)from : NULL;
}

static const uint8_t *read_aligned(struct Walk *walk, uintptr_t from,
                                   size_t size)
{
    return from % sizeof(uintptr_t) ? NULL : read_at(walk, from, size);
}

MAY_READ_FREED
static bool read_state(struct Walk *walk, struct WalkStart *start)
{
    const struct FrameLayout *layout = &walk->layout;
    size_t from = walk->state_from;
    const uint8_t *state = NULL;

    start->frame = start->chunk = 0;
    start->active = false;
    if (!start->state)
        return true;
    state = read_at(walk, start->state + from, walk->state_size);
    if (!state)
        return false;
    start->frame = word(state, layout->thread_frame - from);
    start->chunk = word(state, layout->thread_chunk - from);
    start->active = !layout->active_mask ||
                    (state[layout->thread_active - from] & layout->active_mask);
    if (layout->through_cframe) {
        // On CPython 3.12, the pointer to the current frame is in the thread's
        // cframe (struct _PyCFrame).
        const uint8_t *cframe = read_aligned(
            walk, start->frame + layout->cframe_frame, sizeof(uintptr_t));

        if (!cframe)
            return false;
        start->frame = word(cframe, 0);
    }
    return true;
}

static void begin_walk(struct Walk *walk, struct WalkStart *start)
{
    memset(walk->known, 0, sizeof(walk->known));
    if (walk->copies)
        memset(walk->copies->from, 0, sizeof(walk->copies->from));
    start->read = read_state(walk, start);
}

// --- The walk ----------------------------------------------------------------

// Returns true if C code has made the frame in order to call Python code.
static bool is_cs(const struct Walk *walk, uint8_t owner)
{
    uint8_t c = walk->layout.owned_by_c;

    return c != 0 && (owner == c || owner == c + 1);
}

// Returns true if a frame without a caller is the outermost frame of its stack.
// An outermost frame is one that C code has made, or the first frame of the
// thread's data stack. The first frame of the data stack counts, because
// greenlets leave out C's frames while they switch. Any other frame without a
// caller was popped or has yielded. A frame that C code has made is on C's
// stack, where other data may have overwritten it.
static bool is_last(const struct Walk *walk, const struct WalkStart *start,
                    uintptr_t at, uint8_t owner)
{
    return walk->layout.owned_by_c == 0 || is_cs(walk, owner) ||
           at == start->chunk + walk->layout.chunk_first;
}

static void add(struct Walk *walk, uintptr_t code, uintptr_t instruction)
{
    if (walk->depth < WALK_DEPTH)
        walk->frames[walk->depth++] = (struct WalkFrame){code, instruction};
    else
        // `truncated` also ends a walk in which a link leads back to an earlier
        // frame.
        walk->truncated = true;
}

// Adds a frame for C code that has no frame of its own (struct WalkMark), if
// the frame `at` has called it at `instruction`.
static void add_marked(struct Walk *walk, uintptr_t at, uintptr_t instruction)
{
    const struct WalkMark *mark = walk->layout.mark;

    // This acquire load pairs with the release store of the thread that runs
    // the C code.
    if (mark &&
        at == atomic_load_explicit(&mark->frame, memory_order_acquire) &&
        instruction ==
            atomic_load_explicit(&mark->instruction, memory_order_relaxed))
        add(walk, mark->code, mark->code + walk->layout.code_bytecode);
}

// Adds the newest frame to the roots, of which there are `count` so far.
static void add_root(struct Walk *walk, unsigned count, uintptr_t at)
{
    walk->roots[count < WALK_ROOTS ? count : WALK_ROOTS - 1] =
        (struct WalkRoot){at, walk->depth - 1};
}

// Reads the tag in the frame object of the newest frame.
MAY_READ_FREED
static void read_tag(struct Walk *walk, uintptr_t object)
{
    const uint8_t *tag =
        read_at(walk, object + walk->layout.object_tag, sizeof *tag);

    // CPython itself writes 0 or 1.
    if (tag && *tag > 1)
        walk->tag = (struct WalkTag){(uint16_t)(walk->depth - 1), *tag};
}

static void follow_frames(struct Walk *walk, const struct WalkStart *start)
{
    const struct FrameLayout *layout = &walk->layout;
    uintptr_t at = start->read ? start->frame : 0, generator = 0;
    unsigned roots = 0, objects = layout->object_tag ? 0 : WALK_OBJECTS;

    memset(walk->roots, 0, sizeof walk->roots);
    walk->tag.value = 0;
    walk->depth = 0;
    walk->truncated = false;
    walk->torn = !start->read;
    if (!at && start->state)
        add_marked(walk, start->state, 0);
    while (at != 0 && !walk->torn && !walk->truncated) {
        const uint8_t *frame = read_aligned(walk, at, walk->frame_size);
        uintptr_t previous, instruction, object;
        uint8_t owner;

        if (frame == NULL) {
            walk->torn = true;
            break;
        }
        owner = frame[layout->frame_owner];
        instruction = word(frame, layout->frame_instruction);
        if (generator && is_cs(walk, owner))
            add_root(walk, roots++, generator);
        add_marked(walk, at, instruction);
        // The innermost frame is left out if C code has made it, because a call
        // from C has then just begun or ended.
        if (walk->depth > 0 || !is_cs(walk, owner))
            add(walk, word(frame, layout->frame_code) & layout->code_mask,
                instruction);
        generator = owner == WALK_OWNED_BY_GENERATOR ? at : 0;
        previous = word(frame, layout->frame_previous);
        walk->torn = previous == at ||
                     (previous == 0 && !is_last(walk, start, at, owner));
        at = previous;
        object = word(frame, layout->frame_object);
        if (object && !is_cs(walk, owner) && !walk->tag.value &&
            objects++ < WALK_OBJECTS)
            read_tag(walk, object);
    }
}

void Walk_frames(struct Walk *walk, struct WalkStart *start)
{
    begin_walk(walk, start);
    follow_frames(walk, start);
}

void Walk_other(struct Walk *walk, struct WalkStart *start)
{
    for (int i = 0; i < TRIES; i++) {
        Walk_frames(walk, start);
        if (!walk->torn || !start->read)
            break;
    }
}
