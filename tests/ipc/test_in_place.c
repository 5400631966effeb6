// SPDX-License-Identifier: MIT
// Tests that ipc/base/in_place gives a file with a temporary name its final
// name. tests/tui/test_export_file.c tests files without a name.
#include "ipc/base/in_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit.h"

static char folder[64];
static int directory;

static unsigned files(void)
{
    DIR *entries = opendir(folder);
    unsigned count = 0;

    while (readdir(entries))
        count++;
    closedir(entries);
    return count - 2;
}

static off_t size_of(const char *name)
{
    struct stat status;

    return fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW)
               ? -1
               : status.st_size;
}

static int create(const char *name, const char *text)
{
    int fd = openat(directory, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    return fd;
}

static void set_up(void), tear_down(void);

TEST_WITH(test_with_another_name, set_up, tear_down)
{
    int fd = create("tmp", "123");

    assert_int_equal(InPlace_put(directory, "tmp", fd, "name", false), 0);
    assert_int_equal(size_of("name"), 3);
    assert_int_equal(files(), 1);
    close(fd);
    fd = create("tmp", "12345");
    assert_int_equal(InPlace_put(directory, "tmp", fd, "name", false), -EEXIST);
    assert_int_equal(size_of("name"), 3);
    assert_int_equal(files(), 2);
    assert_int_equal(InPlace_put(directory, "tmp", fd, "name", true), 0);
    assert_int_equal(size_of("name"), 5);
    assert_int_equal(files(), 1);
    close(fd);
}

static void set_up(void)
{
    strcpy(folder, "/tmp/ocular-in-place-XXXXXX");
    assert_non_null(mkdtemp(folder));
    directory = open(folder, O_RDONLY | O_DIRECTORY);
    assert_true(directory >= 0);
}

static void tear_down(void)
{
    DIR *entries = opendir(folder);
    const struct dirent *entry;

    while ((entry = readdir(entries)))
        unlinkat(directory, entry->d_name, 0);
    closedir(entries);
    close(directory);
    assert_int_equal(rmdir(folder), 0);
}
