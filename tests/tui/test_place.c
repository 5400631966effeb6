// SPDX-License-Identifier: MIT
// Tests tui/model/place: files are found while other files are renamed.
#include "tui/model/place.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ROUNDS 20000

static void rename_for_ever(const char *folder)
{
    char here[64], there[64];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    snprintf(here, sizeof here, "%s/a", folder);
    snprintf(there, sizeof there, "%s/b", folder);
    for (;;) {
        rename(here, there);
        rename(there, here);
    }
}

// In this case openat2() asks for another try.
static void test_beside_renames(void **state)
{
    char folder[] = "/tmp/place.XXXXXX", name[64], path[80];
    int root = Place_root(getpid()), failed = 0;
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(name, sizeof name, "%s/a", folder);
    assert_int_equal(mkdir(name, 0700), 0);
    snprintf(path, sizeof path, "%s/../..%s", folder, folder);
    pid_t other = fork();
    if (!other)
        rename_for_ever(folder);
    for (int i = 0; i < ROUNDS; i++) {
        int fd = Place_find(root, path, O_PATH);
        failed += fd < 0;
        if (fd >= 0)
            close(fd);
    }
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    close(root);
    rmdir(name);
    snprintf(name, sizeof name, "%s/b", folder);
    rmdir(name);
    rmdir(folder);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_beside_renames)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
