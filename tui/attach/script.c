// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // O_PATH
#include "tui/attach/script.h"

#include "tui/model/as_user.h"
#include "tui/model/place.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define TEXT_MOST (PATH_MAX * 2 + 4096)
// A folder younger than OLD_S seconds may have no lock yet.
#define OLD_S 2

// The script starts a thread, so that the main thread can go on at once and run
// the program's signal handlers. The format has four arguments: the folder of
// the files, the package's folder in hexadecimal, the function to call, and the
// process's number.
static const char text[] =
    "import _thread\n"
    "where = '%s'\n"
    "def say(text):\n"
    "    import os\n"
    "    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC\n"
    "    file = os.open(where + '/answer.new', flags, 0o600)\n"
    "    try:\n"
    "        os.write(file, text.encode('utf-8', 'replace')[:500])\n"
    "    finally:\n"
    "        os.close(file)\n"
    "    if is_alone():\n"
    "        clean()\n"
    "        return False\n"
    "    os.rename(where + '/answer.new', where + '/answer')\n"
    "    return True\n"
    "def is_alone():\n"
    "    import os\n"
    "    try:\n"
    "        import fcntl\n"
    // The program gave up root, and may not read this module.
    "    except ImportError:\n"
    "        return False\n"
    "    try:\n"
    "        file = os.open(where + '/begun', os.O_RDONLY | os.O_CLOEXEC)\n"
    "    except FileNotFoundError:\n"
    "        return False\n"
    "    try:\n"
    "        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)\n"
    // If the file was removed, the answer was already read.
    "        return os.fstat(file).st_nlink > 0\n"
    "    except OSError:\n"
    "        return False\n"
    "    finally:\n"
    "        os.close(file)\n"
    "def clean():\n"
    "    import os\n"
    "    names = os.listdir(where)\n"
    "    if '" SCRIPT_SHARED
    "' in names:\n" // Other threads can still open attach.py.
    "        return\n"
    "    for name in names:\n"
    "        os.unlink(where + '/' + name)\n"
    "    os.rmdir(where)\n"
    "def is_ours(spec):\n"
    "    import os\n"
    "    places = spec and spec.submodule_search_locations or ()\n"
    "    return any(os.path.exists(place + '/_attach.py') for place in "
    "places)\n"
    "def load(sys, spec):\n"
    "    from importlib import _bootstrap\n"
    // ocular/__init__.py then prints no warning into the program.
    "    spec.loader_state = 'attaching'\n"
    "    try:\n"
    // Waits until an import by another request has ended.
    "        _bootstrap._load(spec)\n"
    "    except BaseException:\n"
    "        for name in list(sys.modules):\n"
    "            if name == 'ocular' or name.startswith('ocular.'):\n"
    "                del sys.modules[name]\n"
    "        raise\n"
    "def find(sys, folder):\n"
    "    import importlib.machinery, importlib.util\n"
    "    if 'ocular' in sys.modules:\n"
    // The files of this module may be gone.
    "        module = sys.modules['ocular']\n"
    "        if hasattr(module, '_attach') or is_ours(module.__spec__):\n"
    "            return\n"
    "        raise ImportError('the program has another module that is named "
    "'\n"
    "            'ocular')\n"
    "    why = 'none'\n"
    "    spec = importlib.util.find_spec('ocular')\n"
    "    if is_ours(spec):\n"
    "        try:\n"
    "            return load(sys, spec)\n"
    "        except ImportError as error:\n"
    "            why = str(error)\n"
    "    path = importlib.machinery.PathFinder\n"
    "    spec = path.find_spec('ocular', [folder]) if folder else None\n"
    "    if is_ours(spec):\n"
    "        return load(sys, spec)\n"
    "    version = '3.' + str(sys.version_info[1])\n"
    "    raise ImportError('there is no Ocular for Python ' + version + ' in "
    "its '\n"
    "        'environment (' + why + '), and none beside this ocular-top that "
    "it '\n"
    "        'may read: install Ocular where its packages are, with '\n"
    "        + sys.executable + ' -m pip')\n"
    "def work():\n"
    "    import os, sys\n"
    "    folder = os.fsdecode(bytes.fromhex('%s'))\n"
    "    answer = ''\n"
    "    kept = sys.dont_write_bytecode\n"
    "    try:\n"
    "        if is_alone():\n"
    "            return clean()\n"
    "        sys.dont_write_bytecode = True\n"
    "        try:\n"
    "            find(sys, folder)\n"
    "            from ocular import _attach\n"
    "            _attach.%s()\n"
    "        finally:\n"
    "            sys.dont_write_bytecode = kept\n"
    "    except BaseException as error:\n"
    "        answer = str(error) or type(error).__name__\n"
    "    try:\n"
    "        if not say(answer) and not answer:\n"
    "            _attach.end()\n"
    "    except BaseException:\n"
    "        pass\n"
    "def run():\n"
    "    try:\n"
    "        work()\n"
    "    finally:\n"
    // The functions form a cycle of references, and the garbage collector can
    // be off.
    "        globals().clear()\n"
    "def begin():\n"
    "    import os\n"
    // In a forked child, which got a copy of the request, the number is another
    // one.
    "    if os.getpid() != %d:\n"
    "        return\n"
    "    try:\n"
    "        os.rename(where + '/wanted', where + '/begun')\n"
    "    except OSError:\n"
    "        return\n"
    "    try:\n"
    "        _thread.start_new_thread(run, ())\n"
    "    except Exception as error:\n"
    "        say(str(error))\n"
    "try:\n"
    "    begin()\n"
    "except Exception:\n"
    "    pass\n"
    "except BaseException:\n"
    "    _thread.interrupt_main()\n";

// --- The folder of the script

// Files of the folder. The locked file is removed last.
static const char *const names[] = {"attach.py",  "wanted", "revoked",
                                    "answer.new", "answer", SCRIPT_SHARED,
                                    SCRIPT_ASKED, "begun"};

#define FOLDER_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

// Removes a folder without following symbolic links, because the root user of a
// container could replace the folder by a link.
static void remove_folder(int tmp, const char *name)
{
    int folder = openat(tmp, name, FOLDER_FLAGS);
    if (folder < 0)
        return;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unlinkat(folder, names[i], 0);
    close(folder);
    unlinkat(tmp, name, AT_REMOVEDIR);
}

static bool has(int folder, const char *name)
{
    return faccessat(folder, name, F_OK, 0) == 0;
}

static int open_file(int folder, const char *name)
{
    return openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
}

// Returns true if a process still holds the lock of `folder`.
static bool is_locked(int folder)
{
    int fd = open_file(folder, has(folder, "begun") ? "begun" : "wanted");
    if (fd < 0)
        return errno != ENOENT;
    bool locked = flock(fd, LOCK_SH | LOCK_NB) != 0;
    close(fd);
    return locked;
}

// Removes the folders of programs that were killed while they attached. The
// folder stays if the process that has the request still lives, because this
// process removes the folder when it runs the script. The process `own` has no
// pending request, so its folders are also removed.
static void remove_old(int tmp, pid_t own)
{
    char path[64];
    const struct dirent *entry;
    snprintf(path, sizeof path, "/proc/self/fd/%d", tmp);
    DIR *stream = opendir(path);
    while (stream && (entry = readdir(stream))) {
        struct stat status;
        long pid = strncmp(entry->d_name, SCRIPT_NAME, strlen(SCRIPT_NAME)) == 0
                       ? strtol(entry->d_name + strlen(SCRIPT_NAME), NULL, 10)
                       : 0;
        int folder = pid > 0 ? openat(tmp, entry->d_name, FOLDER_FLAGS) : -1;
        if (folder < 0)
            continue;
        bool lives = kill((pid_t)pid, 0) == 0 || errno != ESRCH;
        if (fstat(folder, &status) == 0 &&
            status.st_mtime + OLD_S < time(NULL) && !is_locked(folder) &&
            (!lives || pid == own || !has(folder, SCRIPT_ASKED)))
            remove_folder(tmp, entry->d_name);
        close(folder);
    }
    if (stream)
        closedir(stream);
}

// Makes a file in the folder of the script. Returns a descriptor or -errno.
static int make_file(const struct Script *script, const char *name)
{
    int fd = openat(script->folder, name,
                    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    return fd < 0 ? -errno : fd;
}

static int write_text(const struct Script *script, const char *verb,
                      const char *folder)
{
    char *whole = malloc(TEXT_MOST), *hex = calloc(2, PATH_MAX);
    char where[SCRIPT_PATH];
    int fd = -1, error = whole && hex ? 0 : -ENOMEM;
    for (size_t i = 0; !error && folder[i] && i < PATH_MAX - 1; i++)
        sprintf(hex + 2 * i, "%02x", (unsigned char)folder[i]);
    memcpy(where, script->path, sizeof where);
    *strrchr(where, '/') = '\0';
    if (!error)
        fd = make_file(script, "attach.py");
    if (!error && fd < 0)
        error = fd;
    if (!error) {
        int size = snprintf(whole, TEXT_MOST, text, where, hex, verb,
                            (int)script->inner_pid);
        ssize_t written = write(fd, whole, (size_t)size);
        error = written < 0 ? -errno : written < size ? -ENOSPC : 0;
    }
    if (fd >= 0)
        close(fd);
    free(whole);
    free(hex);
    return error;
}

static int make_folder(struct Script *script, pid_t pid)
{
    char path[SCRIPT_PATH];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s%d-XXXXXX", script->tmp,
             SCRIPT_NAME, (int)pid);
    if (!mkdtemp(path))
        return -errno;
    snprintf(script->name, sizeof script->name, "%s", strrchr(path, '/') + 1);
    snprintf(script->path, sizeof script->path, "/tmp/%.40s/attach.py",
             script->name);
    script->folder = openat(script->tmp, script->name, FOLDER_FLAGS);
    if (script->folder < 0)
        return -errno;
    script->lock = make_file(script, "wanted");
    if (script->lock < 0)
        return script->lock;
    return flock(script->lock, LOCK_EX | LOCK_NB) ? -errno : 0;
}

int Script_write(struct Script *script, pid_t pid, const char *verb,
                 const char *folder, char *why, size_t why_size)
{
    struct AsUser as;
    *script = (struct Script){.pid = pid, .tmp = -1, .folder = -1, .lock = -1};
    struct Process process;
    int error = Process_look(&process, pid);
    if (!error)
        error = Process_user(&script->user, pid);
    if (!error)
        error = AsUser_begin(&as, &script->user);
    if (!error) {
        script->inner_pid = process.inner_pid;
        script->tmp = Place_folder(pid, "tmp");
        error = script->tmp < 0 ? script->tmp : make_folder(script, pid);
        if (!error)
            error = write_text(script, verb, folder);
        AsUser_end(&as);
    }
    if (!error)
        return 0;
    snprintf(why, why_size,
             "a file for process %d cannot be written into its /tmp: %s",
             (int)pid, strerror(-error));
    Script_remove(script, false);
    return error;
}

enum ScriptState Script_look(const struct Script *script, char *answer,
                             size_t size)
{
    int fd = open_file(script->folder, "answer");
    if (fd >= 0) {
        ssize_t got = read(fd, answer, size - 1);
        answer[got > 0 ? got : 0] = '\0';
        close(fd);
        return SCRIPT_DONE;
    }
    return has(script->folder, "wanted") ? SCRIPT_WAITS : SCRIPT_BEGUN;
}

bool Script_revoke(const struct Script *script)
{
    struct AsUser as;
    if (AsUser_begin(&as, &script->user))
        return false;
    bool revoked =
        renameat(script->folder, "wanted", script->folder, "revoked") == 0;
    AsUser_end(&as);
    return revoked;
}

int Script_mark(const struct Script *script, const char *name)
{
    struct AsUser as;
    int error = AsUser_begin(&as, &script->user);
    if (error)
        return error;
    int fd = make_file(script, name);
    AsUser_end(&as);
    if (fd < 0)
        return fd;
    close(fd);
    return 0;
}

void Script_remove(struct Script *script, bool only)
{
    struct AsUser as;
    if (*script->name && !AsUser_begin(&as, &script->user)) {
        remove_folder(script->tmp, script->name);
        remove_old(script->tmp, only ? script->pid : 0);
        AsUser_end(&as);
    }
    if (script->lock >= 0)
        close(script->lock);
    if (script->folder >= 0)
        close(script->folder);
    if (script->tmp >= 0)
        close(script->tmp);
    *script = (struct Script){.tmp = -1, .folder = -1, .lock = -1};
}
