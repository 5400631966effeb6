// SPDX-License-Identifier: MIT
// Tests ipc/base/heap. The blocks do not overlap, are zeroed, and keep their
// contents. The heap leaks no memory, wastes none, and takes none from malloc.
#include "ipc/base/heap.h"
#include "tests/random.h"
#include "tests/sanitizers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit.h"

#define MIB ((size_t)1 << 20)

// Under a sanitizer the heap uses malloc, and maps no memory itself.
#define OURS (!UNDER_ASAN && !UNDER_TSAN)

static const size_t sizes[] = {
    0,    1,    16,    17,    64,    255,     256,          257,  288,
    289,  511,  512,   513,   1024,  1025,    1088,         4097, 8191,
    8192, 8193, 65472, 65536, 70000, 1 << 20, (1 << 20) + 1};
#define COUNT (sizeof(sizes) / sizeof(sizes[0]))

static size_t maps(void)
{
    FILE *file = fopen("/proc/self/maps", "r");
    size_t count = 0;

    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;)
        count += c == '\n';
    fclose(file);
    return count;
}

// Returns the bytes of address space that the process has mapped.
static size_t address_space(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    size_t pages;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu", &pages), 1);
    fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

TEST(test_blocks_are_apart)
{
    unsigned char *blocks[COUNT][20];

    for (size_t s = 0; s < COUNT; s++)
        for (size_t i = 0; i < 20; i++) {
            blocks[s][i] = Heap_alloc(sizes[s]);
            assert_non_null(blocks[s][i]);
            assert_int_equal((uintptr_t)blocks[s][i] % 16, 0);
            if (sizes[s] % 64 == 0 && sizes[s])
                assert_int_equal((uintptr_t)blocks[s][i] % 64, 0);
            memset(blocks[s][i], (int)(s * 20 + i) % 251, sizes[s]);
        }
    for (size_t s = 0; s < COUNT; s++)
        for (size_t i = 0; i < 20; i++) {
            for (size_t at = 0; at < sizes[s]; at++)
                assert_int_equal(blocks[s][i][at], (s * 20 + i) % 251);
            Heap_free(blocks[s][i]);
        }
    Heap_free(NULL);
}

// The heap returns the memory of freed blocks to the kernel, except a few
// slabs.
TEST(test_nothing_is_kept)
{
    static void *blocks[5000];
    size_t before = address_space(), most;

    for (int round = 0; round < 20; round++) {
        for (size_t i = 0; i < 5000; i++)
            blocks[i] = Heap_alloc(random_u64() % 3000);
        most = address_space();
        for (size_t i = 0; i < 5000; i++)
            Heap_free(blocks[(i * 1237) % 5000]);
        if (OURS)
            assert_true(most - before > 5 * MIB && most - before < 12 * MIB);
        assert_true(!OURS || address_space() <= before + MIB / 2);
    }
    blocks[0] = Heap_alloc(10 * MIB);
    if (OURS)
        assert_true(address_space() >= before + 10 * MIB);
    Heap_free(blocks[0]);
    assert_true(!OURS || address_space() <= before + MIB / 2);
}

// Many blocks share one memory mapping. The kernel allows 65 530 memory
// mappings for each process. If a block shrinks, it keeps its mapping.
TEST(test_many_large_ones)
{
    static char *blocks[3000];
    size_t before = maps(), used = Heap_used(), mapped;

    for (size_t i = 0; i < 3000; i++)
        blocks[i] = Heap_alloc(i % 3 ? 65536 : 10000);
    assert_true(!OURS || maps() < before + 300);
    assert_true(!OURS || Heap_used() - used > 3000 * (size_t)40000);
    for (size_t i = 0; i < 3000; i++)
        Heap_free(blocks[i]);
    assert_int_equal(Heap_used(), used);
    for (size_t i = 0; i < HEAP_KEPT; i++)
        blocks[i] = Heap_alloc(10000);
    for (size_t i = 0; i < HEAP_KEPT; i++)
        Heap_free(blocks[i]);
    blocks[0] = Heap_alloc(100000);
    mapped = address_space();
    // The heap already keeps as many freed blocks as its limit allows. The heap
    // keeps this block too, and returns another one to the kernel.
    Heap_free(blocks[0]);
    assert_true(!OURS || address_space() == mapped - 65536);
    blocks[1] = Heap_zeroed(1, 100000);
    assert_true(!OURS || blocks[1] == blocks[0]);
    for (size_t i = 0; i < 100000; i++)
        assert_int_equal(blocks[1][i], 0);
    Heap_free(blocks[1]);
    blocks[0] = Heap_resize(Heap_alloc(8192), 4160);
    assert_true(!OURS || Heap_used() - used < 5000);
    blocks[0] = Heap_resize(blocks[0], 300000);
    blocks[0] = Heap_resize(blocks[0], 9000);
    assert_true(!OURS || Heap_used() - used < 70000);
    Heap_free(blocks[0]);
    assert_int_equal(Heap_used(), used);
}

static void *come_and_go(void *argument)
{
    uint64_t dice = (uintptr_t)argument;
    unsigned char *blocks[200] = {NULL};

    for (int i = 0; i < 100000; i++) {
        size_t at = (dice >> 33) % 200, size = 1 + (dice >> 20) % 2000;

        if (blocks[at])
            assert_int_equal(blocks[at][0],
                             (unsigned char)(at + (uintptr_t)argument));
        Heap_free(blocks[at]);
        // Knuth's constants
        dice = dice * 6364136223846793005u + 1442695040888963407u;
        blocks[at] = Heap_alloc(size);
        memset(blocks[at], (int)(at + (uintptr_t)argument), size);
    }
    for (size_t at = 0; at < 200; at++)
        Heap_free(blocks[at]);
    return NULL;
}

TEST(test_threads)
{
    pthread_t threads[4];

    for (uintptr_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, come_and_go, (void *)(i + 1));
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static _Atomic bool over;

static void *never_rest(void *unused)
{
    (void)unused;
    while (!over)
        Heap_free(Heap_alloc(300));
    return NULL;
}

// In a child the heap is complete and unlocked, even if another thread was
// using the heap at the fork.
TEST(test_forks)
{
    pthread_t thread;

    if (FORKS_ALONE)
        skip();
    pthread_create(&thread, NULL, never_rest, NULL);
    for (int i = 0; i < 200; i++) {
        pid_t child;
        int status;

        Heap_before_fork();
        child = fork();
        Heap_after_fork();
        if (child == 0) {
            alarm(20);
            Heap_free(Heap_alloc(300));
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    over = true;
    pthread_join(thread, NULL);
}
