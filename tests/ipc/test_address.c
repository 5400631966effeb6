// SPDX-License-Identifier: MIT
// Tests ipc/address. This module chooses the directory, refuses users, lists
// sockets and removes stale sockets.
#define _GNU_SOURCE 1 // for nftw
#include "ipc/address.h"
#include "ipc/socket.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit.h"

static char base[64];
static char why[512];

static char *in_base(const char *name)
{
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];

    snprintf(path, 256, "%s/%s", base, name);
    return path;
}

static void has(const char *text, const char *word)
{
    if (!strstr(text, word))
        fail_msg("'%s' lacks '%s'", text, word);
}

static int prepare(char path[ADDRESS_MAX])
{
    return Address_prepare(path, 77, why, sizeof(why));
}

static void set_up(void), tear_down(void);

TEST_WITH(test_restore, set_up, tear_down)
{
    char path[ADDRESS_MAX], before[ADDRESS_MAX], expected[64];

    setenv("OCULAR_DIR", in_base("own"), 1);
    assert_int_equal(prepare(path), 0);
    memcpy(before, path, sizeof(path));
    rmdir(in_base("own"));
    // the module does not read the variable again
    setenv("OCULAR_DIR", "/elsewhere", 1);
    assert_int_equal(Address_restore(path, 77), 0);
    assert_string_equal(path, before);
    assert_int_equal(access(in_base("own"), F_OK), 0);
    rmdir(in_base("own"));
    // A file has the name of the directory, so the directory cannot be made
    // again.
    fclose(fopen(in_base("own"), "w"));
    assert_int_equal(Address_restore(path, 77), 0);
    snprintf(expected, sizeof(expected), "/tmp/ocular-%u/77.sock", geteuid());
    assert_string_equal(path, expected);
}

// Starts a child that serves in `directory`, and waits until it serves. If
// `directory` is NULL, the child serves nowhere. `name` is the number in the
// name of the socket; 0 stands for the child's own pid.
static pid_t spawn(const char *directory, pid_t name)
{
    int ready[2];
    char byte = 0;
    pid_t child;

    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        char path[ADDRESS_MAX];

        prctl(PR_SET_PDEATHSIG, SIGKILL);
        snprintf(path, sizeof(path), "%s/%d.sock", directory ? directory : "",
                 (int)(name ? name : getpid()));
        if (directory && Socket_listen(path) < 0)
            byte = 1;
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 0);
    close(ready[0]);
    close(ready[1]);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

// The kernel reports which process listens at a socket. If the name of a socket
// has the number of another process, the process that listens is not mistaken
// for that other process.
TEST_WITH(test_find_is_not_misled, set_up, tear_down)
{
    struct Served found;
    pid_t target = spawn(NULL, 0), other;

    setenv("OCULAR_DIR", base, 1);
    other = spawn(base, target);
    assert_int_equal(Address_find(&found, target, why, sizeof(why)), -ENOENT);
    end(other);
    end(target);
}

// Starts a shell with this name and argument, whose environment has OCULAR_DIR.
static pid_t run_shell(const char *name, const char *argument)
{
    char byte;
    int ready[2];
    pid_t child;

    setenv("OCULAR_DIR", base, 1);
    assert_int_equal(pipe(ready), 0);
    child = fork();
    if (child == 0) {
        dup2(ready[1], 1);
        execl("/bin/sh", name, "-c", "echo; sleep 30; :", argument,
              (char *)NULL);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

// The viewer has no OCULAR_DIR in its environment, but the process was started
// with one.
TEST_WITH(test_find_by_its_environment, set_up, tear_down)
{
    struct Served found;
    char path[ADDRESS_MAX];
    pid_t child = run_shell("sh", NULL);

    unsetenv("OCULAR_DIR");
    // The shell cannot listen, so this test process listens at the path that
    // belongs to the shell. Then Address_find finds this test process instead
    // of the shell.
    snprintf(path, sizeof(path), "%s/%d.sock", base, (int)child);
    assert_int_equal(Address_find(&found, child, why, sizeof(why)), -ENOENT);
    assert_null(strstr(why, "stale"));
    close(Socket_listen(path));
    assert_int_equal(Address_find(&found, child, why, sizeof(why)), -ENOENT);
    has(why, "stale"); // This means that the folder was searched.
    assert_int_equal(access(path, F_OK), -1);
    end(child);
}

TEST_WITH(test_command_is_harmless, set_up, tear_down)
{
    struct Served found;
    pid_t child =
        run_shell("sh\x1b[31m", "\xe2\x80\xae\xc3\xa9\xff\x07\xc2\x9b");

    Address_find(&found, child, why, sizeof(why));
    assert_string_equal(found.command,
                        "sh?[31m -c echo; sleep 30; : ?\xc3\xa9???");
    end(child);
}

static void touch(const char *name)
{
    fclose(fopen(in_base(name), "w"));
}

TEST_WITH(test_list, set_up, tear_down)
{
    struct Served *list;
    pid_t children[5];
    char name[32];
    long count, ours = 0;

    setenv("OCULAR_DIR", base, 1);
    setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
    for (int i = 0; i < 5; i++)
        children[i] = spawn(base, 0);
    close(Socket_listen(in_base("99999.sock"))); // a stale socket
    touch("123.sock");                           // a file that is not a socket
    touch("12x.sock");
    touch(".sock");
    touch("-5.sock");
    // A pid is never written in this form.
    close(Socket_listen(in_base("0012.sock")));
    touch("99999999999999999999.sock");
    count = Address_list(&list);
    // Other processes on this machine serve in other folders.
    assert_int_equal(count, 5);
    for (long i = 0; i < count; i++) {
        assert_true(i == 0 || list[i - 1].pid < list[i].pid);
        for (int c = 0; c < 5; c++)
            ours += list[i].pid == children[c];
        assert_int_not_equal(list[i].pid, 99999);
        if (!strncmp(list[i].path, base, strlen(base)))
            has(list[i].command, "test_address");
    }
    assert_int_equal(ours, 5);
    free(list);
    assert_int_equal(access(in_base("99999.sock"), F_OK), -1);
    // Nothing has touched this file.
    assert_int_equal(access(in_base("123.sock"), F_OK), 0);
    assert_int_equal(access(in_base("0012.sock"), F_OK), 0);
    for (int i = 0; i < 5; i++)
        end(children[i]);
    // All processes have been killed, so all their sockets are stale.
    count = Address_list(&list);
    for (long i = 0; i < count; i++)
        assert_int_not_equal(strncmp(list[i].path, base, strlen(base)), 0);
    free(list);
    snprintf(name, sizeof(name), "%d.sock", (int)children[0]);
    assert_int_equal(access(in_base(name), F_OK), -1);
}

TEST_WITH(test_list_where_others_may_write, set_up, tear_down)
{
    struct Served *list;
    pid_t child;
    long count;

    setenv("OCULAR_DIR", base, 1);
    setenv("XDG_RUNTIME_DIR", "/nonexistent", 1);
    child = spawn(base, 0);
    chmod(base, 0777);
    count = Address_list(&list);
    for (long i = 0; i < count; i++)
        assert_int_not_equal(list[i].pid, child);
    free(list);
    chmod(base, 0700);
    end(child);
}

static void set_up(void)
{
    unsetenv("OCULAR_DIR");
    unsetenv("XDG_RUNTIME_DIR");
    snprintf(base, sizeof(base), "/tmp/ocular-test-XXXXXX");
    assert_non_null(mkdtemp(base));
}

static int remove_one(const char *path, const struct stat *status, int type,
                      struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

static void tear_down(void)
{
    assert_int_equal(nftw(base, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}
