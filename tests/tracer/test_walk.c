// SPDX-License-Identifier: MIT
// Tests tracer/sample/walk with the structs of a simulated interpreter, whose
// layout no real interpreter has. The tests walk complete stacks, and stacks
// that change in the middle of the walk (torn stacks).
#include "tracer/sample/walk.h"

#include <string.h>
#include <sys/mman.h>

#include "tests/unit.h"

enum Owner { OWNED_BY_THREAD, OWNED_BY_GENERATOR, OWNED_BY_C = 3 };

struct FakeFrame {
    uint8_t pad[5];
    uint8_t owner;
    uint8_t more[2];
    uintptr_t instruction;
    uintptr_t previous;
    uintptr_t other[3];
    uintptr_t code; // two low bits are a tag
    uintptr_t locals[9];
};

struct FakeCframe {
    uintptr_t pad[2];
    uintptr_t frame;
};

struct FakeThread {
    uintptr_t pad[5];
    uintptr_t more[21];
    uintptr_t frame;
    uintptr_t chunk;
};

struct World {
    struct Memory memory;
    struct FrameLayout layout;
    struct Walk walk;
    struct WalkCopies copies;
    struct WalkStart start;
    struct FakeThread thread;
    struct FakeCframe cframe;
    struct FakeFrame *stack; // Frames in the data stack.
    size_t room;
    size_t used;
};

static const struct FrameLayout LAYOUT = {
    .thread_frame = offsetof(struct FakeThread, frame),
    .cframe_frame = offsetof(struct FakeCframe, frame),
    .thread_chunk = offsetof(struct FakeThread, chunk),
    .frame_code = offsetof(struct FakeFrame, code),
    .frame_previous = offsetof(struct FakeFrame, previous),
    .frame_instruction = offsetof(struct FakeFrame, instruction),
    .frame_owner = offsetof(struct FakeFrame, owner),
    .owned_by_c = OWNED_BY_C,
    .code_mask = ~(uintptr_t)3,
};

static struct World *world;

static void init(void)
{
    world->copies.memory = &world->memory;
    assert_int_equal(Walk_init(&world->walk, &world->layout, &world->copies),
                     0);
}

static void set_up(void)
{
    world = calloc(1, sizeof(*world));
    world->layout = LAYOUT;
    world->room = 1000;
    world->stack = calloc(world->room, sizeof(struct FakeFrame));
    world->thread.chunk = (uintptr_t)world->stack;
    assert_int_equal(Memory_open(&world->memory), 0);
    init();
}

static void tear_down(void)
{
    Memory_close(&world->memory);
    free(world->stack);
    free(world);
}

static uintptr_t code_of(size_t i)
{
    return 0x10000 + i * 0x100;
}

// Makes the frame the newest frame of the stack. As in CPython, the outermost
// frame belongs to C code.
static void link_frame(struct FakeFrame *frame, size_t i)
{
    memset(frame, 0xa5, sizeof(*frame));
    frame->owner = world->thread.frame ? OWNED_BY_THREAD : OWNED_BY_C;
    frame->code = code_of(i) | (i & 3);
    frame->instruction = 0x900000 + i;
    frame->previous = world->thread.frame;
    world->thread.frame = (uintptr_t)frame;
}

static struct FakeFrame *push(size_t i)
{
    struct FakeFrame *frame = &world->stack[world->used++];

    link_frame(frame, i);
    return frame;
}

static const struct Walk *walk_now(void)
{
    world->start.state = (uintptr_t)&world->thread;
    Walk_frames(&world->walk, &world->start);
    return &world->walk;
}

// Expects `depth` frames. The code of the newest frame has the number `newest`,
// and each older frame has the number before.
static void assert_frames(const struct Walk *walk, size_t depth, size_t newest)
{
    assert_int_equal(walk->depth, depth);
    for (size_t i = 0; i < depth; i++) {
        assert_int_equal(walk->frames[i].code, code_of(newest - i));
        assert_int_equal(walk->frames[i].instruction, 0x900000 + newest - i);
    }
}

TEST_WITH(test_through_a_cframe, set_up, tear_down)
{
    for (size_t i = 1; i <= 3; i++)
        push(i);
    world->cframe.frame = world->thread.frame;
    world->thread.frame = (uintptr_t)&world->cframe;
    world->layout.through_cframe = true;
    init();
    assert_frames(walk_now(), 3, 3);
    // A walk to an impossible address must not harm the next walk.
    for (int i = 0; i < 4; i++) {
        static const uintptr_t bad[] = {8, 0, (uintptr_t)0xdead << 48,
                                        UINTPTR_MAX - 15};

        world->thread.frame = bad[i];
        assert_int_equal(walk_now()->depth, 0);
        assert_true(world->walk.torn);
        world->thread.frame = (uintptr_t)&world->cframe;
        assert_frames(walk_now(), 3, 3);
        assert_false(world->walk.torn);
    }
}

TEST_WITH(test_frames_on_two_pages, set_up, tear_down)
{
    uint8_t *pages = mmap(NULL, 2 * WALK_PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (size_t at = 0; at <= 2 * WALK_PAGE - sizeof(struct FakeFrame);
         at += sizeof(uintptr_t)) {
        world->thread.frame = world->used = 0;
        push(1);
        link_frame((struct FakeFrame *)(pages + at), 2);
        push(3);
        assert_frames(walk_now(), 3, 3);
    }
    munmap(pages, 2 * WALK_PAGE);
}

TEST_WITH(test_a_torn_link_ends_the_walk, set_up, tear_down)
{
    static const uintptr_t bad[] = {1,
                                    8,
                                    4096,
                                    UINTPTR_MAX,
                                    UINTPTR_MAX - 7,
                                    (uintptr_t)1 << 63,
                                    (uintptr_t)0xdead << 48};
    struct FakeFrame *torn;

    push(1);
    torn = push(2);
    push(3);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        torn->previous = bad[i];
        assert_frames(walk_now(), 2, 3);
        assert_true(world->walk.torn);
    }
    // This address of a frame is not aligned.
    torn->previous = (uintptr_t)&world->stack[0] + 4;
    assert_frames(walk_now(), 2, 3);
    assert_true(world->walk.torn);
    torn->previous = (uintptr_t)torn;
    assert_frames(walk_now(), 2, 3);
    assert_true(world->walk.torn);
}

// A frame was popped after the thread state was read and before the frame was
// read. Such a frame does not count as the end of the stack, even if it has no
// previous frame.
TEST_WITH(test_only_a_frame_of_cs_ends_a_stack, set_up, tear_down)
{
    struct FakeFrame *popped;

    push(1);
    popped = push(2);
    push(3);
    popped->previous = 0;
    for (int owner = 0; owner < 256; owner++) {
        bool is_cs = owner == OWNED_BY_C || owner == OWNED_BY_C + 1;

        popped->owner = (uint8_t)owner;
        assert_frames(walk_now(), 2, 3);
        assert_true(world->walk.torn == !is_cs);
    }
    // A frame of C code in the middle of the stack does not end the walk.
    popped->previous = (uintptr_t)&world->stack[0];
    assert_frames(walk_now(), 3, 3);
    assert_false(world->walk.torn);
    // The outermost frame can also belong to the thread. Greenlets have such an
    // outermost frame for a while.
    world->stack[0].owner = OWNED_BY_THREAD;
    assert_frames(walk_now(), 3, 3);
    assert_false(world->walk.torn);
    // Now this frame is not at the beginning of the data stack.
    world->thread.chunk -= sizeof(uintptr_t);
    assert_frames(walk_now(), 3, 3);
    assert_true(world->walk.torn);
    world->thread.chunk += sizeof(uintptr_t);
    // If the layout does not contain the owner of a frame, each frame without a
    // previous frame counts as the end of the stack.
    popped->previous = 0;
    popped->owner = OWNED_BY_THREAD;
    world->layout.owned_by_c = 0;
    init();
    assert_frames(walk_now(), 2, 3);
    assert_false(world->walk.torn);
}

TEST_WITH(test_a_loop_ends, set_up, tear_down)
{
    struct FakeFrame *first = push(1);

    push(2);
    push(3);
    first->previous = world->thread.frame;
    assert_int_equal(walk_now()->depth, WALK_DEPTH);
    assert_true(world->walk.truncated);
}

static const struct WalkFrame MARKED = {0x77700, 0x77700};

TEST_WITH(test_marked_c_code_gets_a_frame, set_up, tear_down)
{
    struct WalkMark mark = {.code = MARKED.code};
    world->layout.mark = &mark;
    init();
    mark.frame = (uintptr_t)&world->thread; // The thread has no frame.
    walk_now();
    assert_int_equal(world->walk.depth, 1);
    assert_memory_equal(&world->walk.frames[0], &MARKED, sizeof MARKED);
    push(1);
    push(2);
    assert_frames(walk_now(), 2, 2); // The C code has ended.
    mark.frame = world->thread.frame;
    mark.instruction = 0x900002;
    for (size_t i = 0; i <= 2; i += 2) {
        walk_now();
        assert_int_equal(world->walk.depth, i + 3);
        assert_int_equal(world->walk.frames[i].code, MARKED.code);
        assert_int_equal(world->walk.frames[i + 1].code, code_of(2));
        // The C code calls Python code, which begins with a frame of C code.
        push(i + 3)->owner = OWNED_BY_C;
        push(i + 4);
    }
    // The frame is at another instruction, so the C code has returned.
    mark.instruction++;
    assert_frames(walk_now(), 6, 6);
    mark.instruction--;
    mark.frame = 0;
    assert_frames(walk_now(), 6, 6);
}

// The structs contain random words. A walk can have any result, but it must end
// without a crash.
TEST_WITH(test_noise, set_up, tear_down)
{
    srand48(3);
    for (int round = 0; round < 3000; round++) {
        world->used = 0;
        world->thread.frame = 0;
        for (size_t i = 1; i <= 12; i++)
            push(i);
        for (int hits = 0; hits < 6; hits++) {
            uintptr_t *words = (uintptr_t *)world->stack;
            size_t count = 12 * sizeof(struct FakeFrame) / sizeof(uintptr_t);
            uintptr_t value = (uintptr_t)mrand48() << (lrand48() % 33);

            if (hits % 2)
                value = (uintptr_t)world->stack + (uintptr_t)(lrand48() % 4096);
            words[(size_t)lrand48() % count] = value;
        }
        if (round % 3 == 0)
            world->thread.chunk += (uintptr_t)mrand48();
        if (round % 5 == 0)
            world->thread.frame = (uintptr_t)world->stack + lrand48() % 2048;
        walk_now();
        assert_true(world->walk.depth <= WALK_DEPTH);
        world->thread.chunk = (uintptr_t)world->stack;
    }
}

static void begin_in_place(void)
{
    assert_int_equal(Walk_init(&world->walk, &world->layout, NULL), 0);
}

// A signal can come while a frame is being pushed. So the walk checks each
// address before it reads from it.
TEST_WITH(test_torn_in_place, set_up, tear_down)
{
    uint8_t *pages = mmap(NULL, 2 * WALK_PAGE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uintptr_t bad[] = {8, 4096, (uintptr_t)0xdead << 48, UINTPTR_MAX - 15,
                             UINTPTR_MAX - 7, (uintptr_t)pages + WALK_PAGE,
                             // Only a half of this frame is readable.
                             (uintptr_t)pages + WALK_PAGE - 8};
    struct FakeFrame *top;

    assert_int_equal(mprotect(pages + WALK_PAGE, WALK_PAGE, PROT_NONE), 0);
    begin_in_place();
    push(1);
    top = push(2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        top->previous = bad[i];
        assert_frames(walk_now(), 1, 2);
        assert_true(world->walk.torn);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        world->thread.frame = bad[i];
        assert_int_equal(walk_now()->depth, 0);
    }
    world->thread.chunk = 0; // no data stack yet
    world->thread.frame = 0;
    assert_int_equal(walk_now()->depth, 0);
    munmap(pages, 2 * WALK_PAGE);
}
