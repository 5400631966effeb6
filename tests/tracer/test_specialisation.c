// SPDX-License-Identifier: MIT
// Tests tracer/code/specialisation. The tests check that changes of live
// bytecode by the specialiser are distinguished from changes by
// instrumentation.

#include "tests/tracer/make_opcodes.h"
#include "tracer/code/specialisation_scan.h"
#include "tracer/session/listing_detail.h"

#include <string.h>

#include "tests/unit.h"

enum { // Byte offsets in the code.
    AT_ITER = 2,
    AT_FIRST = 6,
    AT_SECOND = 10,
    AT_JUMP = 14,
    SIZE = 20
};
enum { FRESH = 0x11, COOLDOWN = 0x340, FAILED = 0x32, STEP = 0x10 };

// clang-format off
static const uint8_t BASE[SIZE] = {
    RESUME, 0, FOR_ITER, 6, CACHE, 0, BINARY_OP, 0, CACHE, 0,
    BINARY_OP, 0, CACHE, 0, JUMP_BACKWARD, 8, CACHE, 0, RETURN_VALUE, 0};
// Each of the lines 100 to 104 has two code units.
static const uint8_t LINES[] = {0xd1, 0, 0, 0xd9, 0, 0, 0xd9, 0, 0,
                                0xd9, 0, 0, 0xd9, 0, 0};
// clang-format on

struct Fixture {
    struct Opcodes opcodes;
    struct Clock clock;
    struct Transitions log;
    struct Code *code;
    uint8_t live[SIZE];
    uint64_t now;
    struct Snapshot *snapshot;
};

static void put(struct Fixture *f, unsigned offset, int opcode, int counter)
{
    uint16_t cache = (uint16_t)counter;

    f->live[offset] = (uint8_t)opcode;
    memcpy(f->live + offset + 2, &cache, sizeof cache);
}

static void scan_now(struct Fixture *f)
{
    // Scans come once a second.
    f->now += (uint64_t)Clock_hz(&f->clock);
    Transitions_lock(&f->log);
    assert_int_equal(
        Specialisation_scan(f->code, f->live, &f->opcodes, &f->log, f->now), 0);
    Transitions_unlock(&f->log);
}

static void scan_with(struct Fixture *f, unsigned offset, int opcode,
                      int counter)
{
    put(f, offset, opcode, counter);
    scan_now(f);
}

static const struct Snapshot *read_log(struct Fixture *f)
{
    Snapshot_free(f->snapshot);
    f->snapshot = Snapshot_new();
    Transitions_fill(&f->log, f->snapshot);
    return f->snapshot;
}

// Compares the log with a text like "offset:from>to", the oldest change first.
// A "!" marks a storm.
static void expect(struct Fixture *f, const char *expected)
{
    const struct Snapshot *s = read_log(f);
    char text[4096] = "";
    size_t i = s->transition_count;

    while (i--) {
        const struct Transition *t = &s->transitions[i];
        char one[256];

        snprintf(one, sizeof one, "%s%u:%s>%s%s", *text ? " " : "",
                 (unsigned)t->offset, t->from, t->to, t->storm ? "!" : "");
        strcat(text, one);
    }
    assert_string_equal(text, expected);
}

// CPython removes compiled code (executors) whenever a tool installs a hook. So
// the end of compiled code does not count as a change.
TEST_FIXTURE(test_executors)
{
    scan_now(f);
    scan_with(f, AT_JUMP, ENTER_EXECUTOR, 0);
    scan_with(f, AT_JUMP, INSTRUMENTED_JUMP_BACKWARD, 0);
    scan_with(f, AT_JUMP, JUMP_BACKWARD, 0xfff);
    scan_with(f, AT_JUMP, ENTER_EXECUTOR, 0);
    expect(f, "14:JUMP_BACKWARD>(executor)");
    assert_int_equal(f->code->poll.specialized, 0);
    // This executor takes the place of a specialised instruction.
    scan_with(f, AT_FIRST, BINARY_OP_ADD_INT, COOLDOWN);
    scan_with(f, AT_FIRST, ENTER_EXECUTOR, 0);
    scan_with(f, AT_FIRST, BINARY_OP_ADD_FLOAT, COOLDOWN);
    expect(f,
           "14:JUMP_BACKWARD>(executor) 6:BINARY_OP>BINARY_OP_ADD_INT "
           "6:BINARY_OP_ADD_INT>(executor) "
           "6:(executor)>BINARY_OP_ADD_FLOAT");
}

// A change of any bit anywhere in the bytecode is noticed. The size of this
// code object is no multiple of the hash's words.
TEST_FIXTURE(test_every_change_is_noticed)
{
    scan_now(f);
    for (unsigned i = 0; i < SIZE * 8; i++) {
        uint64_t hash = f->code->poll.history.hash;

        f->live[i / 8] ^= (uint8_t)(1 << i % 8);
        scan_now(f);
        assert_true(f->code->poll.history.hash != hash);
        f->live[i / 8] ^= (uint8_t)(1 << i % 8);
        scan_now(f);
        assert_true(f->code->poll.history.hash == hash);
    }
}

static struct Code *code_of(struct Fixture *f, const uint8_t *bytes,
                            size_t size, bool two_arms)
{
    struct CodeSource source = {.address = 0x40,
                                .name = "Class.method",
                                .file = "/app/module.py",
                                .line = 100,
                                .bytecode = bytes,
                                .bytecode_size = size,
                                .line_table = LINES,
                                .line_table_size = sizeof LINES};

    return Code_new(7, &source, &f->opcodes, 500, two_arms);
}

// Returns the change in the log with the number `order`.
static const struct Change *change_at(const struct Transitions *log,
                                      uint64_t order)
{
    for (size_t i = 0; i < TRANSITIONS_KEPT; i++) {
        if (log->first.count > i && log->first.changes[i].order == order)
            return &log->first.changes[i];
        if (log->turned.count > i && log->turned.changes[i].order == order)
            return &log->turned.changes[i];
    }
    fail_msg("it is in neither log");
    return NULL;
}

// Scans random bytes. The scan reads and writes no byte beyond the end, which
// the sanitizers check. Each change of an instruction begins with the opcode
// with which the change before ended.
TEST_FIXTURE(test_garbage)
{
    uint8_t last[SIZE / 2];
    unsigned seed = 1;

    for (unsigned unit = 0; unit < SIZE / 2; unit++)
        last[unit] = BASE[2 * unit];
    for (int round = 0; round < 5000; round++) {
        uint64_t before = f->log.count;

        for (unsigned i = 0; i < SIZE; i++) {
            seed = seed * 1103515245u + 12345u;
            if (seed >> 28 == 0)
                f->live[i] = (uint8_t)(seed >> 16);
            else if (seed >> 28 == 1)
                f->live[i] = (uint8_t)(FOR_ITER_RANGE + (seed >> 16) % 5);
            else if (seed >> 28 == 2)
                f->live[i] = BASE[i];
        }
        scan_now(f);
        for (; before < f->log.count; before++) {
            const struct Change *change = change_at(&f->log, before);

            assert_int_equal(change->from, last[change->offset / 2]);
            assert_int_not_equal(change->to, change->from);
            last[change->offset / 2] = change->to;
        }
    }
    assert_true(f->log.count > 100);
    assert_true(f->code->poll.history.count <= 6);
}

// A listing of damaged code is made, too.
TEST_FIXTURE(test_a_listing_of_damaged_code)
{
    uint8_t bytes[200];
    uint32_t seed = 7;

    for (unsigned round = 0; round < 5000; round++) {
        size_t size = 2 * (seed % 100);
        struct Code *code;
        struct ListingDetail detail;

        for (unsigned i = 0; i < size; i++) {
            seed = seed * 1664525 + 1013904223;
            bytes[i] =
                (uint8_t)(seed >> 24) % (i % 2 || !(seed & 7) ? 255 : 18);
        }
        seed = seed * 1664525 + 1013904223;
        code = code_of(f, bytes, size, seed >> 31);
        Transitions_lock(&f->log);
        Specialisation_scan(code, bytes, &f->opcodes, &f->log, f->now);
        Transitions_unlock(&f->log);
        assert_int_equal(
            ListingDetail_init(&detail, code, &code->poll.history, &f->opcodes),
            0);
        ListingDetail_release(&detail);
        Code_free(code);
    }
}

static void set_up(struct Fixture *f)
{
    make_opcodes(&f->opcodes);
    Clock_start(&f->clock);
    f->now = Clock_read(&f->clock);
    Transitions_init(&f->log, &f->opcodes, &f->clock, f->now);
    memcpy(f->live, BASE, SIZE);
    put(f, AT_ITER, FOR_ITER, FRESH);
    put(f, AT_FIRST, BINARY_OP, FRESH);
    put(f, AT_SECOND, BINARY_OP, FRESH);
    f->code = code_of(f, BASE, SIZE, false);
}

static void tear_down(struct Fixture *f)
{
    Snapshot_free(f->snapshot);
    Transitions_release(&f->log);
    Code_free(f->code);
}
