// SPDX-License-Identifier: MIT
// Tests tui/model/export_file, which decides where the file is made, which
// errors are reported, and whose rights are used if root watches another user's
// process. Also tests ipc/base/in_place with a file that has a temporary name.
#include "tui/model/export_file.h"

#include "ipc/base/in_place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit.h"

#define OTHER 12345 // user id of another user

static char directory[64];

static const char *in_directory(const char *name)
{
    static char path[sizeof directory + 1 + NAME_MAX];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static unsigned files(void)
{
    DIR *entries = opendir(directory);
    unsigned count = 0;
    while (readdir(entries))
        count++;
    closedir(entries);
    return count - 2;
}

static off_t size_of(const char *name)
{
    struct stat status;
    return lstat(in_directory(name), &status) ? -1 : status.st_size;
}

static void create(const char *name)
{
    int fd = open(in_directory(name), O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static int open_file(struct ExportFile *file, const char *name, bool overwrite)
{
    return ExportFile_open(file, getpid(), in_directory(name), overwrite);
}

static void set_up(void), tear_down(void);

TEST_WITH(test_nothing_is_overwritten_unasked, set_up, tear_down)
{
    struct ExportFile file;
    create("old");
    assert_int_equal(open_file(&file, "old", false), -EEXIST);
    assert_int_equal(files(), 1);
    assert_int_equal(open_file(&file, "old", true), 0);
    assert_int_equal(write(file.fd, "1", 1), 1);
    assert_int_equal(ExportFile_commit(&file, 1), 0);
    assert_int_equal(size_of("old"), 1);
    // Another program creates the file during the export.
    assert_int_equal(open_file(&file, "late", false), 0);
    create("late");
    assert_int_equal(ExportFile_commit(&file, 0), -EEXIST);
    assert_int_equal(files(), 2);
}

// Some file systems have no files without a name. There the file has a
// temporary name at first.
TEST_WITH(test_with_another_name, set_up, tear_down)
{
    int folder = open(directory, O_RDONLY | O_DIRECTORY);
    int fd = openat(folder, "tmp", O_WRONLY | O_CREAT, 0600);
    create("name");
    assert_int_equal(write(fd, "12345", 5), 5);
    assert_int_equal(InPlace_put(folder, "tmp", fd, "name", false), -EEXIST);
    assert_int_equal(size_of("name"), 0);
    assert_int_equal(files(), 2);
    assert_int_equal(InPlace_put(folder, "tmp", fd, "name", true), 0);
    assert_int_equal(size_of("name"), 5);
    assert_int_equal(files(), 1);
    close(fd);
    fd = openat(folder, "tmp", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(InPlace_put(folder, "tmp", fd, "new", false), 0);
    assert_int_equal(files(), 2);
    close(fd);
    close(folder);
}

TEST_WITH(test_what_is_no_file, set_up, tear_down)
{
    struct ExportFile file;
    assert_int_equal(mkdir(in_directory("folder"), 0700), 0);
    assert_int_equal(mkfifo(in_directory("pipe"), 0600), 0);
    assert_int_equal(symlink("pipe", in_directory("link")), 0);
    for (int overwrite = 0; overwrite < 2; overwrite++) {
        assert_int_equal(open_file(&file, "folder", overwrite), -EISDIR);
        assert_int_equal(open_file(&file, "folder/", overwrite), -EISDIR);
        assert_int_equal(open_file(&file, "folder/..", overwrite), -EISDIR);
        assert_int_equal(open_file(&file, "pipe", overwrite), -EINVAL);
        assert_int_equal(open_file(&file, "link", overwrite), -EINVAL);
        assert_int_equal(open_file(&file, "none/new", overwrite), -ENOENT);
        assert_int_equal(ExportFile_open(&file, 0, "/dev/null", overwrite),
                         -EINVAL);
    }
    assert_int_equal(files(), 3);
    rmdir(in_directory("folder"));
}

// Perhaps the watched process has made this link, so the export must not write
// to the target of the link.
TEST_WITH(test_a_link_is_replaced, set_up, tear_down)
{
    struct ExportFile file;
    struct stat status;
    create("precious");
    assert_int_equal(symlink("precious", in_directory("link")), 0);
    assert_int_equal(symlink("nothing", in_directory("dangling")), 0);
    assert_int_equal(open_file(&file, "link", false), -EEXIST);
    assert_int_equal(open_file(&file, "dangling", false), -EEXIST);
    assert_int_equal(open_file(&file, "link", true), 0);
    assert_int_equal(write(file.fd, "1", 1), 1);
    assert_int_equal(ExportFile_commit(&file, 1), 0);
    assert_int_equal(size_of("precious"), 0);
    assert_int_equal(lstat(in_directory("link"), &status), 0);
    assert_true(S_ISREG(status.st_mode));
}

// Root watches another user's process, which has chosen the directory.
TEST_WITH(test_roots_rights_are_not_the_process, set_up, tear_down)
{
    struct ExportFile file;
    struct stat status;
    int theirs[2];
    if (geteuid())
        skip();
    assert_int_equal(pipe(theirs), 0);
    pid_t pid = fork();
    if (pid == 0) {
        char byte = !(setgid(OTHER) == 0 && setuid(OTHER) == 0);
        _exit(write(theirs[1], &byte, 1) != 1 || pause());
    }
    char failed = 1;
    assert_int_equal(read(theirs[0], &failed, 1), 1);
    assert_false(failed);
    // At first only root may write to the directory, and then only the other
    // user.
    assert_int_equal(ExportFile_open(&file, pid, in_directory("new"), false),
                     -EACCES);
    assert_int_equal(chown(directory, OTHER, OTHER), 0);
    assert_int_equal(ExportFile_open(&file, pid, in_directory("new"), false),
                     0);
    assert_int_equal(ExportFile_commit(&file, 0), 0);
    assert_int_equal(stat(in_directory("new"), &status), 0);
    assert_int_equal(status.st_uid, OTHER);
    assert_int_equal(status.st_gid, OTHER);
    assert_int_equal(ExportFile_open(&file, pid, in_directory("no"), false), 0);
    ExportFile_drop(&file);
    assert_int_equal(files(), 1);
    // The test process has its own rights again.
    create("ours");
    assert_int_equal(stat(in_directory("ours"), &status), 0);
    assert_int_equal(status.st_uid, 0);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    close(theirs[0]);
    close(theirs[1]);
}

static void set_up(void)
{
    strcpy(directory, "/tmp/ocular-export-XXXXXX");
    assert_non_null(mkdtemp(directory));
}

static void tear_down(void)
{
    DIR *entries = opendir(directory);
    const struct dirent *entry;
    while ((entry = readdir(entries)))
        unlink(in_directory(entry->d_name));
    closedir(entries);
    assert_int_equal(rmdir(directory), 0);
}
