// SPDX-License-Identifier: MIT
// The file that takes what a timeline's memory has no room for: what it gives
// back, and when nothing fits.
#include "tracer/timeline/spill.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define PIECE 65472u

static char folder[] = "/tmp/ocular-test-spill-XXXXXX";
static char piece[PIECE], back[PIECE];

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

// Which it would not be if a name had been left.
static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static struct Spill *make(void)
{
    int error = 1;
    struct Spill *spill = Spill_new(folder, &error);

    assert_non_null(spill);
    assert_int_equal(error, 0);
    return spill;
}

static void fill(unsigned number)
{
    memset(piece, (int)(number % 251), sizeof piece);
}

static int put(struct Spill *spill, const void *data, size_t size, uint64_t *at)
{
    const struct iovec parts[2] = {{(void *)data, 100},
                                   {(char *)data + 100, size - 100}};

    return Spill_write(spill, parts, 2, at);
}

// The number of its file: the newest descriptor that lies in no folder.
static int descriptor(struct stat *status)
{
    int fd;

    for (fd = 1023; fd > 2; fd--)
        if (fstat(fd, status) == 0 && S_ISREG(status->st_mode) &&
            status->st_nlink == 0)
            return fd;
    fail();
    return -1;
}

static void what_goes_in_comes_out(void **state)
{
    struct Spill *spill = make();
    uint64_t at[100];
    unsigned i;

    (void)state;
    for (i = 0; i < 100; i++) {
        fill(i);
        assert_int_equal(put(spill, piece, PIECE - i, &at[i]), 0);
    }
    for (i = 100; i-- > 0;) {
        fill(i);
        assert_int_equal(Spill_read(spill, at[i], back, PIECE - i), 0);
        assert_memory_equal(back, piece, PIECE - i);
    }
    assert_true(Spill_read(spill, 1 << 30, back, 1) < 0);
    Spill_put(spill);
}

static void what_is_dropped_takes_no_room(void **state)
{
    struct Spill *spill = make();
    struct stat status;
    uint64_t at[100], more;
    unsigned i;

    (void)state;
    for (i = 0; i < 100; i++)
        assert_int_equal(put(spill, piece, PIECE, &at[i]), 0);
    descriptor(&status);
    assert_true(status.st_blocks * 512 >= 100 * PIECE);
    for (i = 0; i < 90; i++)
        Spill_drop(spill, at[i], PIECE);
    descriptor(&status);
    assert_true(status.st_blocks * 512 < 20 * 65536);
    for (i = 90; i < 100; i++) // the others are as they were
        assert_int_equal(Spill_read(spill, at[i], back, PIECE), 0);
    for (i = 90; i < 100; i++)
        Spill_drop(spill, at[i], PIECE);
    descriptor(&status);
    assert_int_equal(status.st_size, 0);
    assert_int_equal(put(spill, piece, PIECE, &more), 0);
    assert_int_equal(more, 0);
    Spill_put(spill);
}

static void the_limit_of_file_sizes_is_kept(void **state)
{
    struct rlimit before, limit;
    struct Spill *spill;
    uint64_t at;

    (void)state;
    getrlimit(RLIMIT_FSIZE, &before);
    limit = before;
    limit.rlim_cur = 3 * 65536;
    setrlimit(RLIMIT_FSIZE, &limit);
    spill = make();
    assert_int_equal(put(spill, piece, PIECE, &at), 0);
    assert_int_equal(put(spill, piece, PIECE, &at), 0);
    assert_int_equal(put(spill, piece, PIECE, &at), 0);
    assert_int_equal(put(spill, piece, PIECE, &at), -EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    Spill_put(spill);
}

// As a daemon does; what it opens next may have our number.
static void a_descriptor_that_changed_hands(void **state)
{
    struct Spill *spill = make();
    struct stat status;
    int fd, other = open("/dev/null", O_RDWR | O_CLOEXEC);
    uint64_t at, more;

    (void)state;
    assert_int_equal(put(spill, piece, PIECE, &at), 0);
    fd = descriptor(&status);
    assert_int_equal(dup2(other, fd), fd);
    assert_int_equal(put(spill, piece, PIECE, &more), -EBADF);
    assert_int_equal(Spill_read(spill, at, back, PIECE), -EBADF);
    Spill_drop(spill, at, PIECE);
    Spill_put(spill);
    assert_true(fcntl(fd, F_GETFD) >= 0); // it is not ours to close
    close(fd);
    close(other);
}

static void a_forked_child_leaves_it_alone(void **state)
{
    struct Spill *spill = make();
    uint64_t at, more;
    int status;
    pid_t child;

    (void)state;
    fill(7);
    assert_int_equal(put(spill, piece, PIECE, &at), 0);
    child = fork();
    if (child == 0) {
        Spill_drop(spill, at, PIECE);
        _exit(put(spill, back, PIECE, &more) == -EBADF ? 0 : 1);
    }
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_int_equal(Spill_read(spill, at, back, PIECE), 0);
    assert_memory_equal(back, piece, PIECE);
    Spill_put(spill);
}

static void no_such_folder(void **state)
{
    int error = 0;

    (void)state;
    assert_null(Spill_new("/nowhere/at/all", &error));
    assert_int_equal(error, -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(what_is_dropped_takes_no_room),
        cmocka_unit_test(the_limit_of_file_sizes_is_kept),
        cmocka_unit_test(a_descriptor_that_changed_hands),
        cmocka_unit_test(a_forked_child_leaves_it_alone),
        cmocka_unit_test(no_such_folder),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
