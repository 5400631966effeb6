// SPDX-License-Identifier: MIT
// Tests the report at the end of tracing. The tests check its text and its
// width, and that names in it do no harm.
#include "tests/tracer/make_opcodes.h"
#include "tracer/base/harmless.h"
#include "tracer/session/report.h"

#define OWN_MAIN
#include "tests/unit.h"

static struct Opcodes opcodes;
static struct Snapshot *snapshot;
static char *text; // The newest report.

static void set_up(void)
{
    snapshot = Snapshot_new();
    snapshot->version = "0.1.0";
    snapshot->pid = 1234;
    snapshot->command = "python demo.py";
    snapshot->python = "CPython 3.13.0";
    snapshot->mode = "adaptive";
    snapshot->threshold = 500;
    snapshot->uptime_s = 12.34;
    snapshot->tsc_hz = 2e9;
    snapshot->events = 1234567;
    snapshot->lost = 0;
    snapshot->functions_total = 3;
}

static void tear_down(void)
{
    Snapshot_free(snapshot);
    free(text);
    text = NULL;
}

static struct Function function_of(const char *name, const char *file)
{
    return (struct Function){
        .name = name,
        .file = file,
        .line = 12,
        .calls = 500,
        .calls_exact = 0,
        .avg_cycles = 4000,
        .run_share = 0.382,
        .run_samples = 26,
        .samples = 4711,
        .cpu_share = 0.9,
        .state = STATE_PARTIAL,
        .sites = 7,
        .dark_sites = 3,
    };
}

static void check_shape(void)
{
    const char *at = text;
    char line[1000];

    while (*at) {
        size_t size = strcspn(at, "\n");

        assert_true(size < sizeof line);
        memcpy(line, at, size);
        line[size] = 0;
        if (Harmless_width(line) > 100)
            fail_msg("too wide: %s", line);
        if (size)
            assert_true(line[size - 1] != ' ');
        at += size + (at[size] == '\n');
    }
}

static void write_report(const struct Report *report)
{
    struct Bytes out;

    free(text);
    Bytes_init(&out);
    Report_write(&out, report);
    assert_int_equal(out.error, 0);
    text = malloc(out.size + 1);
    memcpy(text, out.data, out.size);
    text[out.size] = 0;
    assert_int_equal(strlen(text), out.size);
    assert_int_equal(text[out.size - 1], '\n');
    Bytes_release(&out);
}

static void report(const struct ReportPart *parts, size_t count,
                   const char *path)
{
    const struct Report report = {
        snapshot, parts, count, &opcodes, {path, 76200000, 4.21}, false};

    write_report(&report);
    if (!path || strlen(path) < 90) // No path is shortened.
        check_shape();
}

static void expect(const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in\n%s", part, text);
}

TEST_WITH(a_function_and_its_instructions, set_up, tear_down)
{
    struct Function function = function_of("Parser.parse", "/src/parse.py");
    struct ListingDetailRow rows[] = {
        {.offset = 2,
         .line = 8,
         .opcode = RESUME,
         .live = RESUME,
         .exact = true,
         .hits = 2,
         .cycles = NAN},
        {.offset = 94,
         .line = 12,
         .opcode = FOR_ITER,
         .live = FOR_ITER_RANGE,
         .hits = 500,
         .cycles = 37},
        {.offset = 98,
         .line = 12,
         .opcode = STORE_FAST,
         .live = STORE_FAST,
         .hits = 500,
         .exact = true,
         .cycles = 3.21,
         .site = true,
         .dark = true},
        {.offset = 100, .opcode = LOAD_FAST, .live = LOAD_FAST, .cycles = NAN},
        {.offset = 104,
         .line = 130,
         .opcode = JUMP_BACKWARD,
         .live = JUMP_BACKWARD,
         .jitted = true,
         .hits = 1290000,
         .cycles = NAN},
    };
    struct ListingDetail detail = {rows, 5, false};
    struct ReportPart part = {
        .ranked.function = &function,
        .detail = &detail,
        .callers = {.callers = {{"main", 0.9}}, .count = 1}};
    report(&part, 1, "/tmp/ocular_trace.json");

    expect("Ocular 0.1.0: pid 1234, python demo.py\n");
    expect(
        "adaptive mode, threshold 500; 12.3 s traced; "
        "1.2M events; 3 functions; CPython 3.13.0\n");
    expect("#1  Parser.parse   ");
    expect("/src/parse.py:12\n");
    expect(
        "    38.2% of a core over the whole run, of 26 samples\n"
        "    >=500 calls  ~4000 cycles (2.0 us) a call  "
        "partial, 3 of 7 sites dark\n"
        "    time by caller: main 90%\n"
        "    [000] ");
    expect(
        "    [001] offset 94   line 12   FOR_ITER -> FOR_ITER_RANGE"
        "    >=500 hits   ~37 cycles\n");
    expect(
        "    [002] offset 98   line 12   STORE_FAST                "
        "      500 hits  ~3.2 cycles  dark\n");
    expect("    [003] offset 100  line      LOAD_FAST\n");
    expect("JUMP_BACKWARD -> (executor)  >=1.2M hits\n");
    expect("timeline: /tmp/ocular_trace.json\n");
    expect("https://ui.perfetto.dev");
    assert_null(strstr(text, "lost"));
    expect("~  mean over its block\n");
    assert_null(strstr(text, "generic"));
    // In precise mode the report says to which instructions the cycles belong.
    detail.precise = true;
    report(&part, 1, NULL);
    expect("~  mean\n");
    expect("each instruction's own, in its generic form");
    expect("not those of what stands behind \"->\"\n");
}

TEST_WITH(nothing_was_traced, set_up, tear_down)
{
    snapshot->lost = 77;
    snapshot->threshold = 0;
    report(NULL, 0, NULL);
    expect("No function was traced");
    expect("77 timeline events were lost");
    expect("threshold 0 (never dark)");
    assert_null(strstr(text, "perfetto"));
    Snapshot_free(snapshot);
    snapshot = Snapshot_new(); // Every value of this snapshot is null.
    report(NULL, 0, NULL);
}

TEST_WITH(what_is_null_is_left_out, set_up, tear_down)
{
    struct Function function = {
        .name = NULL,
        .calls = 1,
        .calls_exact = 1,
        .avg_cycles = NULL_F64,
        .run_share = NULL_F64,
        .run_samples = NULL_U64,
        .cpu_share = NULL_F64,
        .state = STATE_ARMED,
    };
    struct ListingDetail detail = {NULL, 0, false};
    struct ReportPart part = {.ranked.function = &function, .detail = &detail};
    report(&part, 1, NULL);

    expect("    1 call  armed\n");
    assert_null(strstr(text, "nan"));
}

// Writes the report about a snapshot with one function.
static void report_of(struct Function *function)
{
    struct ListingDetail detail = {NULL, 0, false};
    struct ReportPart part = {.ranked.function = function, .detail = &detail};

    snapshot->functions = function;
    snapshot->function_count = 1;
    report(&part, 1, NULL);
    assert_null(strstr(text, "nan"));
}

TEST_WITH(a_timeline_that_is_too_large_for_a_browser, set_up, tear_down)
{
    struct Report huge = {.snapshot = snapshot,
                          .opcodes = &opcodes,
                          .timeline = {"/tmp/t.json", 300000000, 4.21}};

    write_report(&huge);
    check_shape();

    expect(
        "the overhead leaves out\n"
        "            too large for https://ui.perfetto.dev: choose an output "
        "that ends in .pftrace\n");
    assert_null(strstr(text, "open it"));
}

TEST_WITH(where_no_share_is_known, set_up, tear_down)
{
    struct Function function = function_of("f", "f.py");

    function.run_share = NULL_F64;
    function.run_samples = NULL_U64;
    report_of(&function);
    expect(
        "\n  shares of the run: not known, no sampler ran (this process "
        "may not read its own memory)\n");
    expect("\n  overhead: not known, the program used no CPU time");
    expect(
        "\n  functions are ordered by the cycles of their timed "
        "calls: calls without hooks are not among them\n");
    assert_null(strstr(text, "% of a core"));
    snapshot->threshold = 0; // All code had hooks.
    report_of(&function);
    expect("ordered by the cycles of their timed calls\n");
    // The sampler has no sample of the function.
    snapshot->sampler_samples = 12;
    function.run_share = 0;
    function.run_samples = 0;
    report_of(&function);
    expect(
        "\n  shares of the run: not known, no sample found a traced "
        "function running\n");
    expect("ordered by the cycles of their timed calls\n");
    snapshot->overhead_mean = 2;
    snapshot->threads = &(struct Thread){.cpu_s = 1.234};
    snapshot->thread_count = 1;
    report_of(&function);
    expect(
        "\n  overhead: 20.0% of a core over the whole run, in which the "
        "program used 10.0%\n");
}

TEST_WITH(those_without_a_row_are_summed_up, set_up, tear_down)
{
    struct Function function = function_of("f", "f.py");
    struct RetiredRow others = {
        .name = "(others)", .line = NULL_U64, .run_share = 0.123};

    snapshot->retired = &others;
    snapshot->retired_count = 1;
    report_of(&function);
    expect(
        "\n  12.3% of a core went into functions that are gone and "
        "have no row of their own\n");
    others.run_share = 0.0001;
    report_of(&function);
    assert_null(strstr(text, "no row"));
    others.run_share = NULL_F64;
    report_of(&function);
    assert_null(strstr(text, "no row"));
}

TEST_WITH(hostile_text_is_harmless, set_up, tear_down)
{
    struct Function function;
    struct ListingDetail detail = {NULL, 0, false};
    struct ReportPart part = {.ranked.function = &function, .detail = &detail};
    char *name = malloc(10001);
    size_t i;

    for (i = 0; i < 10000; i++)
        name[i] = "\033[2J\r\n\xff\xe2\x80\xae\x07\xc3\xa4"[i % 13];
    name[10000] = 0;
    function = function_of(name, name);
    snapshot->command = name;
    report(&part, 1, name);
    for (i = 0; text[i]; i++)
        assert_true((unsigned char)text[i] >= ' ' || text[i] == '\n');
    assert_null(strstr(text, "\xe2\x80\xae"));
    // The path is long but harmless, and the report must show its end.
    memset(name, 'x', 10000);
    memcpy(name + 9990, "/theend.py", 10);
    snapshot->command = "python";
    report(&part, 1, NULL);
    expect("/theend.py:12\n");
    expect("  ...xxx");
    // The report does not cut a character of several bytes in two.
    for (i = 0; i < 9990; i += 2)
        memcpy(name + i, "\xc3\xa4", 2);
    report(&part, 1, NULL);
    expect("  ...\xc3\xa4");
    expect("/theend.py:12\n");
    free(name);
}

int main(void)
{
    make_opcodes(&opcodes);
    return Unit_run(NULL, NULL);
}
