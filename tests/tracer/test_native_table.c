// SPDX-License-Identifier: MIT
// Tests the search for the C functions on a stack (a walk). This program's own
// stack is compared with glibc's backtrace(). Invalid stacks must do no harm.
#define _GNU_SOURCE 1
#include "formats/native_names.h"
#include "formats/native_rows.h"
#include "ipc/base/heap.h"
#include "tracer/sample/native.h"

#include <errno.h>
#include <execinfo.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/sanitizers.h"
#include "tests/unit.h"

// --- The stack of this program -----------------------------------------------

#if defined(OCULAR_LIBDW) && defined(__x86_64__)
static struct Native native;
static struct NativeWalk walk;
static void *truth[64];
static int truths;

static void on_signal(int number, siginfo_t *info, void *context)
{
    const greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;

    (void)number, (void)info;
    walk.pc = (uintptr_t)registers[REG_RIP];
    walk.sp = (uintptr_t)registers[REG_RSP];
    walk.bp = (uintptr_t)registers[REG_RBP];
    NativeTable_walk(atomic_load(&native.table), &walk);
    truths = backtrace(truth, 64);
}

static int by_signal(const void *a, const void *b)
{
    raise(SIGUSR1);
    return (a > b) - (a < b);
}

// Walks the stack in a function that the C library's qsort() calls.
static void take(void)
{
    int numbers[2] = {1, 2};

    qsort(numbers, 2, sizeof *numbers, by_signal);
}

static size_t frame_of(uintptr_t pc)
{
    size_t i = 0;

    while (i < (size_t)truths && (uintptr_t)truth[i] != pc)
        i++;
    return i;
}

static void begin(void)
{
    struct sigaction action = {.sa_sigaction = on_signal,
                               .sa_flags = SA_SIGINFO};

    backtrace(truth, 64); // The first call allocates.
    sigaction(SIGUSR1, &action, NULL);
    Native_init(&native, NativeRows_read);
}

// Walks stacks until the functions on one have ids. Returns their number.
static size_t walk_with(void (*walk_one)(void), uint32_t ids[NATIVE_IDS])
{
    size_t count = 0;

    for (int i = 0; i < 20 && !count; i++) {
        walk_one();
        Native_step(&native, 3);
        count = Native_resolve(&native, walk.pcs, walk.depth, walk.end, ids);
    }
    return count;
}

TEST(test_a_walk_finds_what_backtrace_finds)
{
    uint32_t ids[NATIVE_IDS];
    struct FlameTable *table = FlameTable_new();
    struct FlameFunction functions[NATIVE_IDS];
    struct NativeNames names = {0};
    size_t count, from, used;
    bool named = false;

    begin();
    Native_step(&native, 1);
    assert_null(atomic_load(&native.table)); // No thread is to be walked.
    used = Heap_used();
    atomic_store(&native.wanted_ns, 100);
    Native_step(&native, 2);
    // A sampler that must end gives up reading the file.
    native.ends = true;
    take();
    assert_int_equal(
        Native_resolve(&native, walk.pcs, walk.depth, walk.end, ids), 0);
    assert_true(native.gave_up);
    native.ends = native.gave_up = false;
    count = walk_with(take, ids);
    assert_int_equal(walk.end, NATIVE_THREAD);
    // No walk finds the evaluation loop, and then one does.
    for (int i = 0; i < NATIVE_MISSED; i++)
        Native_note(&native, walk.end);
    assert_true(Native_misses_loop(&native));
    Native_note(&native, NATIVE_WHOLE);
    assert_false(Native_misses_loop(&native));
    assert_true(walk.depth >= 8 && count == walk.depth);
    from = frame_of(walk.pcs[0]);
    for (unsigned i = 0; i < walk.depth; i++)
        assert_int_equal(walk.pcs[i] + (i > 0), (uintptr_t)truth[from + i]);

    for (size_t i = 0; i < count; i++) {
        functions[i] = (struct FlameFunction){.id = ids[i]};
        Native_describe(&native, &functions[i], &table->arena);
    }
    table->functions = functions;
    table->function_count = count;
    NativeNames_set(&names, table);
    for (size_t i = 0; i < count; i++)
        named |= strcmp(functions[i].name, "by_signal") == 0;
    assert_true(named);
    // A file with another build id is not the file that is mapped.
    functions[0].name = NULL;
    functions[0].build = "00";
    NativeNames_set(&names, table);
    assert_non_null(strstr(functions[0].name, "+0x"));
    NativeNames_release(&names);
    table->functions = NULL;
    table->function_count = 0;
    FlameTable_free(table);

    // If nobody asks for walks any more, the rows are freed. Under a sanitizer,
    // the used size of the heap is unknown.
    assert_true(UNDER_ASAN || UNDER_TSAN || Heap_used() > used + (100 << 10));
    for (uint64_t now = 100; now < 103; now++)
        Native_step(&native, now);
    assert_null(atomic_load(&native.table));
    assert_true(Heap_used() < used + (100 << 10));
    Native_release(&native);
}

// The program's directory can have a file with the name "[vdso]".
TEST(test_only_absolute_paths_are_read)
{
    static const char path[] = "../../../../../../../../../../proc/self/exe";
    struct NativeRows rows = {.ends = NULL};

    assert_int_equal(access(path, R_OK), 0);
    assert_int_equal(NativeRows_read(path, 0, 0, &rows), -ENOENT);
}

// An evaluation loop in two parts, of which only one has a symbol.
int _PyEval_EvalFrameDefault(void (*call)(void));
__asm__(
    ".text\n"
    ".globl _PyEval_EvalFrameDefault\n"
    ".type _PyEval_EvalFrameDefault, @function\n"
    "_PyEval_EvalFrameDefault:\n"
    ".cfi_startproc\n"
    "sub $24, %rsp\n"
    ".cfi_def_cfa_offset 32\n"
    "test %rdi, %rdi\n"
    ".byte 0x0f, 0x85\n" // jne
    ".long .Lpart - . - 4\n"
    "add $24, %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "ret\n"
    ".cfi_endproc\n"
    ".size _PyEval_EvalFrameDefault, . - _PyEval_EvalFrameDefault\n"
    ".Lpart:\n"
    ".cfi_startproc\n"
    ".cfi_def_cfa_offset 32\n"
    "call *%rdi\n"
    "add $24, %rsp\n"
    ".cfi_def_cfa_offset 8\n"
    "ret\n"
    ".cfi_endproc\n");

static void take_in_loop(void)
{
    _PyEval_EvalFrameDefault(take);
}

TEST(test_a_part_of_the_evaluation_loop_without_a_symbol)
{
    uint32_t ids[NATIVE_IDS];
    size_t count;

    begin();
    atomic_store(&native.wanted_ns, 100);
    Native_step(&native, 2);
    count = walk_with(take_in_loop, ids);
    assert_int_equal(walk.end, NATIVE_WHOLE);
    assert_true(count && count == walk.depth && count < 8);
    Native_release(&native);
}
#endif

// --- Stacks that are made up -------------------------------------------------

#define CODE 0x100000u // Address of made-up code.

static struct NativeBinary binary;
static struct NativeTable *made;

// Makes a library in which each unwind rule holds for 16 bytes of code.
static void set_up(void)
{
    static const struct NativeRow rules[] = {
        {0, 8, NATIVE_SAME, NATIVE_BY_RSP, NATIVE_FIRST},
        {16, 16, -16, NATIVE_BY_RBP, NATIVE_FIRST},
        {32, -8, 0, NATIVE_BY_WORD, NATIVE_RBP_BY_RBP},
        {48, 0, NATIVE_SAME, NATIVE_NO_RULE, NATIVE_FIRST},
        {64, 0, NATIVE_SAME, NATIVE_OUTERMOST, NATIVE_FIRST},
        {80, 8, NATIVE_SAME, NATIVE_BY_RSP, NATIVE_EVAL},
        {96, 8, NATIVE_SAME, NATIVE_BY_RSP, NATIVE_FOLDED},
        {112, 1 << 20, NATIVE_SAME, NATIVE_BY_RSP, NATIVE_FIRST},
        {128, 0, NATIVE_SAME, NATIVE_BY_RSP, NATIVE_FIRST}};
    struct NativeRows rows = {.rows = Heap_alloc(sizeof rules),
                              .count = sizeof rules / sizeof *rules};

    memcpy(rows.rows, rules, sizeof rules);
    binary.index = NativeIndex_new(&rows);
    made = Heap_zeroed(1, sizeof *made + sizeof made->modules[0]);
    made->count = 1;
    made->modules[0] = (struct NativeModule){CODE, CODE + 4096, &binary};
}

static void tear_down(void)
{
    NativeIndex_free(binary.index);
    Heap_free(made);
}

static struct NativeWalk walk_from(uintptr_t pc, uintptr_t *stack)
{
    struct NativeWalk made_up = {
        .pc = pc, .sp = (uintptr_t)stack, .bp = (uintptr_t)(stack + 2)};

    NativeTable_walk(made, &made_up);
    return made_up;
}

static void expect(const struct NativeWalk *got, enum NativeEnd end,
                   unsigned depth)
{
    assert_int_equal(got->end, end);
    assert_int_equal(got->depth, depth);
}

TEST_WITH(test_each_rule_leads_to_the_caller, set_up, tear_down)
{
    uintptr_t stack[16] = {0};
    struct NativeWalk got;

    // By rsp, then by rbp, then by the word at rbp - 8, then the end.
    stack[0] = CODE + 17;
    stack[2] = (uintptr_t)(stack + 8); // The saved rbp.
    stack[3] = CODE + 33;
    stack[7] = (uintptr_t)(stack + 11);
    stack[8] = (uintptr_t)(stack + 9);
    stack[10] = CODE + 65;
    got = walk_from(CODE, stack);
    expect(&got, NATIVE_THREAD, 4);
    assert_int_equal(got.pcs[0], CODE);
    assert_int_equal(got.pcs[1], CODE + 16);
    assert_int_equal(got.pcs[2], CODE + 32);
    assert_int_equal(got.pcs[3], CODE + 64);
    // The walk leaves out folded functions, and ends at the evaluation loop.
    stack[0] = CODE + 97;
    stack[1] = CODE + 81;
    got = walk_from(CODE, stack);
    expect(&got, NATIVE_WHOLE, 1);
    stack[1] = CODE + 49;
    got = walk_from(CODE, stack);
    expect(&got, NATIVE_CUT, 2);
    stack[1] = 0x200000;
    got = walk_from(CODE, stack);
    expect(&got, NATIVE_STRANGE, 2);
}

TEST_WITH(test_a_walk_stays_on_its_stack, set_up, tear_down)
{
    uintptr_t page = 4096, *stack, deep[NATIVE_DEPTH + 2];
    struct NativeWalk got;

    for (size_t i = 0; i < NATIVE_DEPTH + 2; i++)
        deep[i] = CODE + 1;
    got = walk_from(CODE, deep);
    expect(&got, NATIVE_CUT, NATIVE_DEPTH);
    got = walk_from(CODE + 112, deep); // The CFA is a megabyte away.
    expect(&got, NATIVE_CUT, 1);
    got = walk_from(CODE + 128, deep); // The CFA is not above the frame.
    expect(&got, NATIVE_CUT, 1);
    got = walk_from(CODE, (uintptr_t *)((char *)deep + 1));
    expect(&got, NATIVE_CUT, 1);
    // The page after the stack cannot be read.
    stack = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(stack, MAP_FAILED);
    assert_int_equal(mprotect((char *)stack + page, page, PROT_NONE), 0);
    stack += page / sizeof *stack - 1;
    *stack = CODE + 1;
    got = walk_from(CODE, stack);
    expect(&got, NATIVE_CUT, 2);
    got = walk_from(CODE + 16, stack); // rbp leads to the page.
    expect(&got, NATIVE_CUT, 1);
    munmap((char *)(stack + 1) - page, 2 * page);
}

// --- Names -------------------------------------------------------------------

static void expect_name(const char *symbol, const char *name)
{
    char text[200];

    NativeNames_demangle(symbol, text, sizeof text);
    assert_string_equal(text, name);
}

TEST(test_names_are_those_of_the_source)
{
    expect_name("deflate_slow", "deflate_slow");
    expect_name("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE",
                "core::fmt::Formatter::pad");
    expect_name(
        "_ZN46_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$X$GT$4drop17h"
        "0123456789abcdefE",
        "<alloc::vec::Vec<T> as X>::drop");
    expect_name("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar");
    expect_name("_RNCNCINvCs1_3foo3bargKj8_NtB6_1SE00B6_",
                "foo::bar::{closure}::{closure}");
    expect_name("_RNvXs0_NtCs1_5alloc3vecINtB5_3VecRAhj2_ENtB7_4Drop4drop",
                "<alloc::vec::Vec as alloc::Drop>::drop");
    expect_name("_RNvMCs1_1aTDNtB2_1Tp1UuEL_FUmEjQAhj2_E3run",
                "<(dyn a::T, fn, &mut [u8])>::run");
    expect_name("_RNvB_1a", "_RNvB_1a"); // The path contains itself.
    expect_name("_RNvBZZZZZZ_1a", "_RNvBZZZZZZ_1a"); // far behind the symbol
    expect_name("_ZN3foo3barEi", "foo::bar(int)");   // if there is a libstdc++
}
