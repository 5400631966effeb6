// SPDX-License-Identifier: MIT
// Tests ipc/base/in_place. A file that has a temporary name, and a file that
// has none, get their final name.
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

// Returns a file without a name that contains this text. Skips the test if such
// a file cannot be made.
static int unnamed(const char *text)
{
    int fd = InPlace_open_unnamed(directory, ".");

    if (fd == -EOPNOTSUPP || fd == -EISDIR || fd == -ENOENT)
        // this file system has no files without names, or there is no /proc
        skip();
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

TEST_WITH(test_without_a_name, set_up, tear_down)
{
    char path[sizeof folder + 8];
    int fd = unnamed("123");

    assert_int_equal(files(), 0);
    assert_int_equal(InPlace_put(directory, NULL, fd, "name", false), 0);
    assert_int_equal(size_of("name"), 3);
    close(fd);
    fd = unnamed("12345");
    assert_int_equal(InPlace_put(directory, NULL, fd, "name", false), -EEXIST);
    assert_int_equal(size_of("name"), 3);
    assert_int_equal(InPlace_put(directory, NULL, fd, "name", true), 0);
    assert_int_equal(size_of("name"), 5);
    close(fd);
    // The final name is a whole path, and another file already has the name
    // that would be the temporary name.
    fd = unnamed("1234567");
    snprintf(path, sizeof path, ".ocular-%ld-0.tmp", (long)getpid());
    close(create(path, "theirs"));
    snprintf(path, sizeof path, "%s/name", folder);
    assert_int_equal(InPlace_put(AT_FDCWD, NULL, fd, path, true), 0);
    assert_int_equal(size_of("name"), 7);
    assert_int_equal(files(), 2);
    close(fd);
}

TEST_WITH(test_where_a_directory_is, set_up, tear_down)
{
    int fd = unnamed("123");

    assert_int_equal(mkdirat(directory, "name", 0700), 0);
    assert_int_equal(InPlace_put(directory, NULL, fd, "name", false), -EEXIST);
    assert_int_equal(InPlace_put(directory, NULL, fd, "name", true), -EISDIR);
    assert_int_equal(InPlace_put(directory, NULL, fd, "no/name", true),
                     -ENOENT);
    assert_int_equal(files(), 1);
    close(fd);
    unlinkat(directory, "name", AT_REMOVEDIR);
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
