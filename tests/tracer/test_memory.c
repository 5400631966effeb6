// SPDX-License-Identifier: MIT
// tracer/sample/memory: good and bad addresses, by each way of reading; where
// the kernel forbids some (seccomp, in a child) another, or an error if all.
#include "tracer/sample/memory.h"

#include "tests/cage.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#define S 1000000000u // ns

// Two pages, the second of which is not there.
static char *half_mapped(size_t *page)
{
    char *pages;

    *page = (size_t)sysconf(_SC_PAGESIZE);
    pages = mmap(NULL, 2 * *page, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(pages, MAP_FAILED);
    munmap(pages + *page, *page);
    memset(pages, 'x', *page);
    return pages;
}

static void check_addresses(const struct Memory *memory)
{
    static const char text[] = "what is here";
    char copy[64];
    size_t page;
    char *pages = half_mapped(&page);

    assert_true(Memory_read(memory, (uintptr_t)text, copy, sizeof(text)));
    assert_string_equal(copy, text);
    assert_true(Memory_read(memory, (uintptr_t)pages + page - 64, copy, 64));
    assert_true(copy[0] == 'x' && copy[63] == 'x');
    assert_false(Memory_read(memory, (uintptr_t)pages + page - 63, copy, 64));
    assert_false(Memory_read(memory, (uintptr_t)pages + page, copy, 8));
    assert_false(Memory_read(memory, 0, copy, 8));
    assert_false(Memory_read(memory, 1, copy, 8));
    assert_false(Memory_read(memory, UINTPTR_MAX - 7, copy, 8));
    assert_false(Memory_read(memory, UINTPTR_MAX - 7, copy, 64));
    assert_false(Memory_read(memory, (uintptr_t)1 << 63, copy, 8));
    assert_false(Memory_read(memory, (uintptr_t)0xdead << 48, copy, 8));
    mprotect(pages, page, PROT_NONE); // either answer, but no fault
    Memory_read(memory, (uintptr_t)pages, copy, 8);
    munmap(pages, page);
}

static void test_reads_by_system_calls(void **state)
{
    struct Memory memory;

    (void)state;
    assert_int_equal(Memory_open(&memory), 0);
    check_addresses(&memory);
    Memory_close(&memory);
    Memory_close(&memory); // twice is fine
}

static int check_file(void)
{
    struct Memory memory;

    if (Memory_open(&memory) != 0)
        return 1;
    if (memory.fd < 0)
        return 2;
    check_addresses(&memory);
    Memory_close(&memory);
    return 0;
}

// The program closes all descriptors, and a file of its own gets the number.
static int check_lost_file(void)
{
    static const char text[] = "what is here";
    struct Memory memory;
    char copy[sizeof text];
    int number, other;

    if (Memory_open(&memory) != 0)
        return 1;
    number = memory.fd;
    other = open("/dev/zero", O_RDONLY);
    if (dup2(other, number) != number)
        return 2;
    if (Memory_read(&memory, (uintptr_t)text, copy, sizeof copy))
        return 3;
    Memory_keep(&memory, 5 * S);
    Memory_keep(&memory, 7 * S - 1);
    if (memory.fd >= 0 || Memory_read(&memory, (uintptr_t)text, copy, 1))
        return 4; // it may still want the numbers for its own
    Memory_keep(&memory, 7 * S);
    if (memory.fd == number)
        return 7;
    check_addresses(&memory);
    number = memory.fd;
    Memory_keep(&memory, 100 * S); // nothing to do
    if (memory.fd != number)
        return 8;
    if (dup2(other, memory.fd) != memory.fd)
        return 5;
    Memory_close(&memory);
    if (fcntl(number, F_GETFD) < 0)
        return 6; // it was not ours to close
    return 0;
}

// The program has its system calls filtered while it is traced.
static int check_taken_away(void)
{
    static const int call = SYS_process_vm_readv;
    struct Memory memory;

    if (Memory_open(&memory) != 0 || memory.by_file)
        return CANNOT_FORBID; // it has been before
    if (!Memory_recover(&memory) || memory.by_file)
        return 2; // it still works
    if (!forbid(&call, 1, SECCOMP_RET_ERRNO | EPERM))
        return CANNOT_FORBID;
    if (Memory_read(&memory, (uintptr_t)&call, &(uint64_t){0}, 4))
        return 3;
    if (!Memory_recover(&memory) || !memory.by_file)
        return 4;
    check_addresses(&memory);
    if (!Memory_recover(&memory))
        return 5;
    check_addresses(&memory);
    Memory_close(&memory);
    return 0;
}

static int check_all_taken_away(void)
{
    static const int calls[] = {SYS_process_vm_readv, SYS_pread64};
    struct Memory memory;

    if (Memory_open(&memory) != 0 ||
        !forbid(calls, 2, SECCOMP_RET_ERRNO | EPERM))
        return CANNOT_FORBID;
    for (unsigned i = 0; i < 3; i++) {
        if (Memory_recover(&memory))
            return 2;
        Memory_keep(&memory, (1 + 3 * i) * (uint64_t)S);
        if (Memory_read(&memory, (uintptr_t)calls, &(uint64_t){0}, 8))
            return 1;
    }
    Memory_close(&memory);
    return 0;
}

static int check_nothing(void)
{
    struct Memory memory;

    return Memory_open(&memory) == -EPERM ? 0 : 1;
}

static void test_reads_by_the_file_where_these_are_forbidden(void **state)
{
    static const int call = SYS_process_vm_readv;

    (void)state;
    expect_in_a_cage(&call, 1, check_file);
    assert_int_equal(in_a_cage(&call, 1, check_lost_file), 0);
}

static void test_says_so_where_all_are_forbidden(void **state)
{
    static const int open_too[] = {SYS_process_vm_readv, SYS_openat};
    static const int pread_too[] = {SYS_process_vm_readv, SYS_pread64};

    (void)state;
    expect_in_a_cage(open_too, 2, check_nothing);
    assert_int_equal(in_a_cage(pread_too, 2, check_nothing), 0);
}

static void test_finds_another_way_where_one_is_taken_away(void **state)
{
    (void)state;
    expect_in_a_cage(NULL, 0, check_taken_away);
    assert_int_equal(in_a_cage(NULL, 0, check_all_taken_away), 0);
}

// By the page: the kernel is asked for eight bytes.
static void test_what_can_be_read(void **state)
{
    uint8_t *pages =
        mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    mprotect(pages + 4096, 4096, PROT_NONE);
    munmap(pages + 8192, 4096);
    assert_true(Memory_is_readable((uintptr_t)pages));
    assert_true(Memory_is_readable((uintptr_t)pages + 4088));
    assert_false(Memory_is_readable((uintptr_t)pages + 4092));
    assert_false(Memory_is_readable((uintptr_t)pages + 4096));
    assert_false(Memory_is_readable((uintptr_t)pages + 8192));
    assert_false(Memory_is_readable(0));
    assert_false(Memory_is_readable((uintptr_t)0xdead << 48));
    assert_false(Memory_is_readable(UINTPTR_MAX - 7));
    munmap(pages, 8192);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads_by_system_calls),
        cmocka_unit_test(test_reads_by_the_file_where_these_are_forbidden),
        cmocka_unit_test(test_finds_another_way_where_one_is_taken_away),
        cmocka_unit_test(test_says_so_where_all_are_forbidden),
        cmocka_unit_test(test_what_can_be_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
