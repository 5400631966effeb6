// SPDX-License-Identifier: MIT
// Tests tracer/code/fusion. Fusion_restore fuses pairs of instructions as
// CPython does, and writes no other byte.
#include "tracer/code/fusion.h"

#include "tests/unit.h"

enum {
    LOAD = 1,
    STORE,
    ADD, // 1 cache
    LOAD_LOAD = 10,
    STORE_LOAD,
    ARMED_ADD = 200, // 1 cache
    HIDES
};

static struct Fusion make(void)
{
    struct Fusion fusion = {0};

    fusion.length[LOAD] = fusion.length[STORE] = 1;
    fusion.length[LOAD_LOAD] = fusion.length[STORE_LOAD] = 1;
    fusion.length[ADD] = fusion.length[ARMED_ADD] = 2;
    fusion.part[LOAD] = fusion.part[LOAD_LOAD] = 1;
    fusion.part[STORE] = fusion.part[STORE_LOAD] = 2;
    fusion.plain[1] = LOAD;
    fusion.plain[2] = STORE;
    fusion.both[1][1] = LOAD_LOAD;
    fusion.both[2][1] = STORE_LOAD;
    return fusion;
}

// Compares the opcodes before and after Fusion_restore. The arguments must stay
// the same.
static void expect(size_t count, const uint8_t *before, const uint8_t *after,
                   size_t units)
{
    struct Fusion fusion = make();
    uint8_t code[32];

    for (size_t i = 0; i < units; i++) {
        code[2 * i] = before[i];
        code[2 * i + 1] = (uint8_t)(100 + i);
    }
    assert_int_equal(Fusion_restore(&fusion, code, units), count);
    for (size_t i = 0; i < units; i++) {
        assert_int_equal(code[2 * i], after[i]);
        assert_int_equal(code[2 * i + 1], 100 + i);
    }
    // All superinstructions of the code are already restored.
    assert_int_equal(Fusion_restore(&fusion, code, units), 0);
}

#define EXPECT(count, before, after)                                           \
    expect(count, before, after, sizeof(before) / sizeof *(before))

TEST(test_pairs)
{
    static const uint8_t before[] = {LOAD, LOAD, STORE, LOAD, STORE, STORE};
    static const uint8_t after[] = {LOAD_LOAD, LOAD,  STORE_LOAD,
                                    LOAD,      STORE, STORE};
    static const uint8_t three[] = {LOAD, LOAD, LOAD};
    static const uint8_t overlap[] = {LOAD_LOAD, LOAD_LOAD, LOAD};

    EXPECT(2, before, after);
    // The second pair is only for jumps to its start.
    EXPECT(2, three, overlap);
}

// An inline cache contains no opcode, whether the instruction is armed or not.
TEST(test_caches)
{
    static const uint8_t before[] = {LOAD,      ADD,   LOAD, LOAD,
                                     ARMED_ADD, STORE, LOAD};
    static const uint8_t after[] = {LOAD,      ADD,   LOAD, LOAD,
                                    ARMED_ADD, STORE, LOAD};

    EXPECT(0, before, after);
}

// An opcode can hide another instruction. After an opcode that hides another
// instruction, inline caches cannot be distinguished from opcodes.
TEST(test_it_ends_where_it_does_not_know)
{
    static const uint8_t before[] = {LOAD, LOAD, HIDES, LOAD, LOAD};
    static const uint8_t after[] = {LOAD_LOAD, LOAD, HIDES, LOAD, LOAD};
    struct Fusion none = {0};
    uint8_t code[] = {LOAD, 0, LOAD, 0};

    EXPECT(1, before, after);
    assert_int_equal(Fusion_restore(&none, code, 2), 0);
    assert_int_equal(code[0], LOAD);
}
