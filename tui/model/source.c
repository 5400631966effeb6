// SPDX-License-Identifier: MIT
// source.c first gets an O_PATH descriptor of the file, which does not open the
// file, and checks its type. Only a regular file is then opened. No device is
// therefore opened, and no process is woken that waits at a pipe.
#include "tui/model/source.h"

#include "ipc/own_file.h"
#include "tui/model/archive.h"
#include "tui/model/place.h"
#include "tui/text/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAB 8
// A file counts as unchanged if it was changed less than GRACE_S seconds after
// the process's start. GRACE_S is needed because the kernel's clock for file
// times ticks only every few milliseconds, and because the start of a process
// is known to ten milliseconds.
#define GRACE_S 1.0

// --- Finding the file

// Returns an O_PATH descriptor of the file, or -errno. If the path leads into
// an archive, returns the archive's descriptor and sets *member to the rest of
// the path. Otherwise *member is "".
static int find_file(const struct SourceRequest *request, struct stat *file,
                     char member[PATH_MAX])
{
    char path[PATH_MAX];
    int root = Place_root(request->pid), found;
    *member = 0;
    if (root < 0)
        return -errno;
    if (!Place_absolute(path, request->pid, request->file)) {
        close(root);
        return -ENAMETOOLONG;
    }
    found = Place_find(root, path, O_PATH);
    while (found == -ENOTDIR || found == -ENOENT) {
        char *slash = strrchr(path, '/'), rest[PATH_MAX];
        if (!slash || slash == path)
            break;
        snprintf(rest, sizeof rest, "%s%s%s", slash + 1, *member ? "/" : "",
                 member);
        *slash = 0;
        int above = Place_find(root, path, O_PATH);
        if (above >= 0 && (fstat(above, file) || !S_ISREG(file->st_mode))) {
            close(above); // If `above` is a directory, the path does not exist.
            break;
        }
        snprintf(member, PATH_MAX, "%s", rest);
        if (above != -ENOTDIR && above != -ENOENT)
            found = above;
    }
    close(root);
    if (found >= 0 && fstat(found, file)) {
        close(found);
        found = -EIO;
    }
    return found;
}

// --- Reading the file

static void say(struct Source *source, enum SourceState state, const char *file,
                const char *why)
{
    const char *slash = strrchr(file, '/');
    char name[96], part[100];
    // If the name of the file is long, keeps its end, which says most.
    snprintf(part, sizeof part, "%.90s",
             Text_tail(slash && slash[1] ? slash + 1 : file, 90));
    Text_clean(name, sizeof name, part);
    source->state = state;
    snprintf(source->why, sizeof source->why, "%s %s", name, why);
}

static bool is_later(struct timespec time, const struct SourceRequest *request)
{
    double s = (double)time.tv_sec + (double)time.tv_nsec / 1e9;
    // If the start of the process is NaN, the result is false.
    return s > request->process_start_s + GRACE_S;
}

// Adds a warning if the inode was changed after the process began. The file's
// time of modification may be older than the change of the inode, if the file
// was copied, or if only its name or mode was changed.
static void warn_if_replaced(struct Source *source,
                             const struct SourceRequest *request)
{
    if (is_later(source->file.st_ctim, request))
        say(source, SOURCE_FINE, request->file,
            "was replaced or touched after the process started");
}

// Returns the bytes of the file with the descriptor `named`, at most *size, and
// sets *size to the number of bytes. Returns NULL on failure.
static char *read_file(int named, size_t *size)
{
    char path[64], *text = malloc(*size + 1);
    size_t used = 0;
    ssize_t got = 1;
    snprintf(path, sizeof path, "/proc/self/fd/%d", named);
    int fd =
        text ? open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC) : -1;
    if (fd < 0) {
        free(text);
        return NULL;
    }
    while (used < *size && got > 0) {
        got = read(fd, text + used, *size - used);
        if (got > 0)
            used += (size_t)got;
    }
    close(fd);
    *size = used; // The file may have been truncated.
    text[used] = 0;
    return text;
}

static char *read_source(struct Source *source,
                         const struct SourceRequest *request, int named,
                         const char *member, size_t *size)
{
    char *text;
    *size = (size_t)source->file.st_size;
    if (*member) {
        const char *why;
        text = Archive_read(named, member, SOURCE_BYTES, size, &why);
        if (!text)
            say(source, SOURCE_REFUSED, request->file, why);
        return text;
    }
    text = read_file(named, size);
    if (!text)
        say(source, SOURCE_MISSING, request->file, "cannot be read");
    return text;
}

// Splits the text into lines as Python does it. Returns the number of lines, or
// 0 if memory is out.
static size_t cut_lines(struct Source *source, size_t size)
{
    char *at = source->text, *end = at + size;
    size_t count = 1, line = 0;
    for (char *c = at; c < end; c++)
        count += *c == '\n' || *c == '\r';
    source->lines = malloc(count * sizeof *source->lines);
    if (!source->lines)
        return 0;
    source->lines[line++] = at;
    for (; at < end; at++) {
        bool both = *at == '\r' && at + 1 < end && at[1] == '\n';
        if (*at != '\n' && *at != '\r') {
            if (!*at)
                // NUL would end the line, so it is replaced by 1, which is not
                // printable either.
                *at = 1;
            continue;
        }
        *at = 0;
        at += both;
        if (at + 1 < end)
            source->lines[line++] = at + 1;
    }
    return line;
}

static bool comes_from_no_file(struct Source *source, const char *file)
{
    size_t length = strlen(file);
    char name[80];
    if (length && (*file != '<' || file[length - 1] != '>'))
        return false;
    Text_clean(name, sizeof name, file);
    source->state = SOURCE_NONE;
    if (OwnFile_is_c(file))
        snprintf(source->why, sizeof source->why,
                 "a C function has no Python source");
    else if (!strncmp(file, "<frozen ", 8))
        snprintf(source->why, sizeof source->why,
                 "%s is built into the interpreter", name);
    else
        snprintf(source->why, sizeof source->why,
                 "made at run time (%s): there is no source file",
                 length ? name : "no file is named");
    return true;
}

static void explain(struct Source *source, const char *file, int error)
{
    if (error == -ENOENT || error == -ENOTDIR)
        say(source, SOURCE_MISSING, file, "is not there");
    else if (error == -EACCES || error == -EPERM)
        say(source, SOURCE_MISSING, file, "may not be read");
    else if (error == -ENAMETOOLONG)
        say(source, SOURCE_MISSING, file, "cannot be found");
    else if (error == -ELOOP)
        say(source, SOURCE_REFUSED, file, "is a link that leads nowhere");
    else
        say(source, SOURCE_MISSING, file, "cannot be opened");
}

void Source_load(struct Source *source, const struct SourceRequest *request)
{
    char member[PATH_MAX];
    size_t size = 0;
    *source = (struct Source){.state = SOURCE_FINE};
    if (comes_from_no_file(source, request->file))
        return;
    int named = find_file(request, &source->file, member);
    if (named < 0) {
        memset(&source->file, 0, sizeof source->file);
        explain(source, request->file, named);
        return;
    }
    if (!S_ISREG(source->file.st_mode))
        say(source, SOURCE_REFUSED, request->file, "is no regular file");
    else if (is_later(source->file.st_mtim, request))
        say(source, SOURCE_CHANGED, request->file,
            "has changed since the process started");
    else if (!*member && (size_t)source->file.st_size > SOURCE_BYTES)
        say(source, SOURCE_REFUSED, request->file, "is larger than 8 MiB");
    else
        source->text = read_source(source, request, named, member, &size);
    close(named);
    if (!source->text)
        return;
    source->line_count = cut_lines(source, size);
    if (!source->line_count)
        say(source, SOURCE_REFUSED, request->file, "needs too much memory");
    else
        warn_if_replaced(source, request);
}

void Source_release(struct Source *source)
{
    free(source->text);
    free(source->lines);
    *source = (struct Source){.state = SOURCE_NONE};
}

static bool differ(struct timespec a, struct timespec b)
{
    return a.tv_sec != b.tv_sec || a.tv_nsec != b.tv_nsec;
}

bool Source_is_stale(const struct Source *source,
                     const struct SourceRequest *request)
{
    struct Source other = {.state = SOURCE_FINE};
    char member[PATH_MAX];
    if (source->state == SOURCE_NONE)
        return false;
    int named = find_file(request, &other.file, member);
    if (named < 0)
        return source->file.st_ino != 0;
    close(named);
    return other.file.st_ino != source->file.st_ino ||
           other.file.st_dev != source->file.st_dev ||
           other.file.st_size != source->file.st_size ||
           differ(other.file.st_mtim, source->file.st_mtim) ||
           differ(other.file.st_ctim, source->file.st_ctim);
}

// --- Lines

const char *Source_line(const struct Source *source, uint64_t line)
{
    return line && line <= source->line_count ? source->lines[line - 1] : NULL;
}

void Source_expand(char *out, size_t size, const char *line)
{
    struct Glyph glyph;
    size_t used = 0;
    int column = 0;
    while (used + 4 < size) {
        const char *start = line;
        if (*line == '\t') {
            do
                out[used++] = ' ';
            while (++column % TAB && used + 4 < size);
            line++;
            continue;
        }
        if (!Text_next(&line, &glyph))
            break;
        if (used + (size_t)(line - start) >= size)
            break;
        memcpy(out + used, start, (size_t)(line - start));
        used += (size_t)(line - start);
        column += glyph.width;
    }
    out[used] = 0;
}
