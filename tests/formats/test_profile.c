// SPDX-License-Identifier: MIT
// Tests sampled stacks in the formats of other tools, and the choice of the
// format by the file's name. tests/python/test_profiles.py reads profiles with
// the tools themselves.
#include "formats/profile_file.h"

#include <string.h>

#include "tests/unit.h"

enum { MAIN = 7, WORK = 9, GONE = 12 };

// The stacks are main -> work -> main -> work, main -> gone, and an incomplete
// stack.
static const struct FlameRow rows[] = {
    {NULL_U64, NULL_U64, 0, 0, 3000, 0}, // Time in no traced function.
    {0, MAIN, 0, 0, 10000, 0},
    {1, WORK, 0, 0, 20000, 5000},
    {2, MAIN, 0, 0, 0, 0},
    {3, WORK, 0, 0, 40000, 0},
    {1, GONE, 0, 0, 900, 0},
    {0, NULL_U64, 0, 0, 0, 0},
    {6, WORK, 0, 0, 5000, 0},
};
static const struct FlameFunction functions[] = {
    {MAIN, "main;\n\xff", "/src/a b.py", 3, NULL_U64, NULL},
    {WORK, "work", "/src/w.py", 1234567, NULL_U64, NULL},
    {GONE, NULL, NULL, NULL_U64, NULL_U64, NULL},
};
static const struct FlameWait waits[] = {
    {0, "idle", 0, 8000}, {2, "lock", 0, 60000}, {2, NULL, 0, 999}};
static const struct FlameTable table = {
    .waits = waits,
    .wait_count = 3,
    .samples = 10,
    .rows = rows,
    .row_count = sizeof rows / sizeof *rows,
    .functions = functions,
    .function_count = 3,
};

static struct Profile profile;
static struct Bytes out; // The newest text that written() has made.

static void make(void)
{
    assert_int_equal(Profile_init(&profile, &table), 0);
    profile.command = "app.py";
    profile.start_unix_ns = 1;
    profile.duration_ns = 2;
    Bytes_init(&out);
}

static void release(void)
{
    Bytes_release(&out);
    Profile_release(&profile);
}

static const char *written(enum FileContent content)
{
    Bytes_clear(&out);
    assert_int_equal(ProfileFile_write(&profile, content, &out), 0);
    Bytes_put_u8(&out, 0);
    return (const char *)out.data;
}

TEST_WITH(folded_stacks, make, release)
{
    profile.functions[2].name = "was";
    assert_string_equal(written(FILE_FOLDED),
                        "<untraced> 3\n"
                        "main:\xef\xbf\xbd\xef\xbf\xbd (a b.py:3) 10\n"
                        "main:\xef\xbf\xbd\xef\xbf\xbd (a b.py:3);"
                        "work (w.py:1234567) 20\n"
                        "main:\xef\xbf\xbd\xef\xbf\xbd (a b.py:3);"
                        "work (w.py:1234567);"
                        "main:\xef\xbf\xbd\xef\xbf\xbd (a b.py:3);"
                        "work (w.py:1234567) 40\n"
                        "<deeper stacks>;work (w.py:1234567) 5\n");
    assert_non_null(strstr(written(FILE_WALL_FOLDED),
                           "<deeper stacks>;work (w.py:1234567) 5\n"
                           "<untraced>;(waiting: idle) 8\n"
                           "main:\xef\xbf\xbd\xef\xbf\xbd (a b.py:3);"
                           "work (w.py:1234567);(waiting: lock) 60\n"));
}

// If the waits are known, there is a second profile, whose stacks end in waits.
TEST_WITH(speedscope_has_the_wall_time, make, release)
{
    const char *text;

    text = written(FILE_SPEEDSCOPE);
    assert_non_null(strstr(text, "{\"name\":\"(waiting: lock)\"}"));
    assert_non_null(
        strstr(text,
               "\"name\":\"app.py (CPU time)\",\"unit\":\"nanoseconds\","
               "\"startValue\":0,\"endValue\":78900,"));
    assert_non_null(
        strstr(text,
               "\"name\":\"app.py (wall time)\",\"unit\":\"nanoseconds\","
               "\"startValue\":0,\"endValue\":147899,"));
    // In the list of frames, the frames for waits follow those for functions.
    assert_non_null(strstr(text, ",[4,12],[0,1,8],[0,1,14]]"));
    profile.wait_count = 0;
    text = written(FILE_SPEEDSCOPE);
    assert_null(strstr(text, "waiting"));
    assert_non_null(strstr(text, "\"name\":\"app.py\",\"unit\""));
    assert_null(strstr(text, "wall time"));
}

TEST_WITH(of_one_name_and_place, make, release)
{
    profile.functions[0] = profile.functions[1];
    profile.functions[0].calls = 30;
    profile.functions[1].calls = 12;
    Profile_merge(&profile);
    assert_int_equal(profile.rows[1].function, 0);
    assert_int_equal(profile.rows[2].function, 0);
    assert_int_equal(profile.rows[5].function, 2);
    assert_true(profile.functions[0].calls == 42);
}

// If the table of stacks was full, dropped rows were added to the rows of their
// callers.
TEST_WITH(callees_without_a_row, make, release)
{
    size_t i;
    uint64_t all = 0, rest = 0;

    // The rows of this function have 65000 ns in total.
    profile.functions[1].self_ns = 16250;
    // The rows of this function have 10000 ns in total.
    profile.functions[0].self_ns = 9999;
    Profile_merge(&profile);
    Profile_divide(&profile);
    assert_int_equal(profile.row_count, table.row_count + 3);
    assert_int_equal(profile.rows[1].ns, 10000);
    assert_int_equal(profile.rows[2].ns, 5000);
    assert_int_equal(profile.rows[4].ns, 10000);
    for (i = 0; i < profile.row_count; i++) {
        all += profile.rows[i].ns;
        if (i >= table.row_count)
            rest += profile.rows[i].ns;
    }
    assert_int_equal(all, 78900);
    assert_int_equal(rest, 65000 - 16250);
    assert_int_equal(profile.rows[table.row_count].parent, 2);
    assert_string_equal(
        profile.functions[profile.rows[table.row_count].function].name,
        "<small callees>");
}
