// SPDX-License-Identifier: MIT
// Tests that a listing of damaged code is made.
#include "tests/tracer/make_opcodes.h"
#include "tracer/code/specialisation_scan.h"
#include "tracer/session/listing_detail.h"

#define OWN_MAIN
#include "tests/unit.h"

static struct Opcodes opcodes;

static struct Code *code_of(const void *bytecode, size_t size, bool two_arms)
{
    const uint8_t lines[] = {0x80 | 11 << 3 | 7, 0, 0};
    const struct CodeSource source = {
        .name = "f",
        .file = "f.py",
        .line = 10,
        .bytecode = bytecode,
        .bytecode_size = size,
        .line_table = lines,
        .line_table_size = sizeof lines,
    };

    return Code_new(1, &source, &opcodes, 500, two_arms);
}

// Compares the live bytecode once with the code.
static int scan(struct Code *code, const uint8_t *live)
{
    static struct Clock clock;
    struct Transitions *log = malloc(sizeof *log);
    int error;

    if (!log)
        abort();
    if (!clock.start_ticks)
        Clock_start(&clock);
    Transitions_init(log, &opcodes, &clock, 1);
    error = Specialisation_scan(code, live, &opcodes, log, 1);
    Transitions_release(log);
    free(log);
    return error;
}

TEST(damaged_code_is_survived)
{
    uint8_t bytes[200];
    uint32_t seed = 7;
    unsigned round, i;

    for (round = 0; round < 5000; round++) {
        size_t size = 2 * (seed % 100);
        struct Code *code;
        struct ListingDetail detail;

        for (i = 0; i < size; i++) {
            seed = seed * 1664525 + 1013904223;
            bytes[i] =
                (uint8_t)(seed >> 24) % (i % 2 || !(seed & 7) ? 255 : 18);
        }
        seed = seed * 1664525 + 1013904223;
        code = code_of(bytes, size, seed >> 31);
        scan(code, bytes);
        assert_int_equal(
            ListingDetail_init(&detail, code, &code->poll.history, &opcodes),
            0);
        ListingDetail_release(&detail);
        Code_free(code);
    }
}

int main(void)
{
    make_opcodes(&opcodes);
    return Unit_run(NULL, NULL);
}
