// SPDX-License-Identifier: MIT
// ipc/file_kind: what a file holds, by its name.
#include "ipc/file_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// `stem` is what stands before the endings.
static void check(const char *path, enum FileContent content, bool gzipped,
                  const char *stem)
{
    struct FileKind kind = FileKind_of(path);

    assert_int_equal(kind.content, content);
    assert_int_equal(kind.gzipped, gzipped);
    assert_int_equal(kind.stem, strlen(stem));
    assert_memory_equal(path, stem, kind.stem);
    assert_int_equal(FileKind_is_profile(path), content != FILE_JSON &&
                                                    content != FILE_PFTRACE &&
                                                    content != FILE_RECORDING);
}

static void test_endings(void **state)
{
    (void)state;
    check("a.json", FILE_JSON, false, "a");
    check("a.b.json.gz", FILE_JSON, true, "a.b");
    check("a.pftrace", FILE_PFTRACE, false, "a");
    check("/x/a.b.pftrace.gz", FILE_PFTRACE, true, "/x/a.b");
    check("a.folded", FILE_FOLDED, false, "a");
    check("/x/a.folded.gz", FILE_FOLDED, true, "/x/a");
    check("a.speedscope.json", FILE_SPEEDSCOPE, false, "a");
    check("a.speedscope.json.gz", FILE_SPEEDSCOPE, true, "a");
    check("a.pstats", FILE_PSTATS, false, "a");
    check("a.pb", FILE_PPROF, false, "a");
    check("a.pb.gz", FILE_PPROF, true, "a");
    check("a.html", FILE_PAGE, false, "a");
    check("a.b.svg.gz", FILE_PAGE, true, "a.b");
    check("/x/a.4711.ocular", FILE_RECORDING, false, "/x/a.4711");
}

static void test_what_is_none(void **state)
{
    (void)state;
    check("", FILE_JSON, false, "");
    check("a", FILE_JSON, false, "a");
    check("a.gz", FILE_JSON, true, "a");
    check("a.htm", FILE_JSON, false, "a.htm");
    check("a.folded.old", FILE_JSON, false, "a.folded.old");
    check("a.pftrace.json", FILE_JSON, false, "a.pftrace");
    check("/x.pftrace/a", FILE_JSON, false, "/x.pftrace/a");
    check("pstats", FILE_JSON, false, "pstats");
    // Nothing but an ending is a name.
    check(".pstats", FILE_JSON, false, ".pstats");
    check("/x/.folded", FILE_JSON, false, "/x/.folded");
    check(".gz", FILE_JSON, false, ".gz");
    check(".json.gz", FILE_JSON, true, ".json");
    check("/x/.speedscope.json", FILE_JSON, false, "/x/.speedscope");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_endings),
        cmocka_unit_test(test_what_is_none),
    };

    return cmocka_run_group_tests_name("ipc/file_kind", tests, NULL, NULL);
}
