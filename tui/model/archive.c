// SPDX-License-Identifier: MIT
// Reads the archive's directory, which is at its end, and then the member,
// which is either stored or deflated. Every size and offset in the archive is
// checked against the archive's size before it is used.
#include "tui/model/archive.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define END_SIZE 22u // Size of the end record (EOCD) of an archive, in bytes.
#define ENTRY_SIZE 46u
#define LOCAL_SIZE 30u
#define ARCHIVE_MOST ((size_t)1 << 30)
#define DIRECTORY_MOST ((size_t)64 << 20)

struct Archive {
    int fd;
    size_t size;
};

static uint32_t u16(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8;
}

static uint32_t u32(const uint8_t *at)
{
    return u16(at) | u16(at + 2) << 16;
}

// Returns `count` bytes from offset `at`, or NULL. The caller frees these
// bytes.
static uint8_t *part(const struct Archive *archive, size_t at, size_t count)
{
    uint8_t *bytes;
    size_t used = 0;
    if (at > archive->size || count > archive->size - at)
        return NULL;
    bytes = malloc(count + 1);
    while (bytes && used < count) {
        ssize_t got =
            pread(archive->fd, bytes + used, count - used, (off_t)(at + used));
        if (got <= 0) {
            free(bytes);
            return NULL;
        }
        used += (size_t)got;
    }
    return bytes;
}

struct Directory {
    size_t at, size;
    // Length of what precedes the archive in the file. All offsets are relative
    // to the beginning of the archive.
    size_t begin;
};

// Finds the directory by the end record, which contains the directory's size. A
// comment may follow the end record. If a script precedes the archive, all
// offsets are too small by the length of the script. `begin` is that length.
static bool find_directory(const struct Archive *archive,
                           struct Directory *directory)
{
    size_t tail = END_SIZE + UINT16_MAX, from;
    bool found = false;
    if (tail > archive->size)
        tail = archive->size;
    uint8_t *bytes = part(archive, archive->size - tail, tail);
    for (from = tail < END_SIZE ? 0 : tail - END_SIZE + 1;
         bytes && from-- > 0 && !found;) {
        found = memcmp(bytes + from, "PK\5\6", 4) == 0;
        if (!found)
            continue;
        directory->at = archive->size - tail + from;
        directory->size = u32(bytes + from + 12);
        found = directory->size <= directory->at &&
                directory->size <= DIRECTORY_MOST;
        directory->at -= found ? directory->size : 0;
        directory->begin = directory->at - u32(bytes + from + 16);
        found &= directory->begin <= directory->at;
    }
    free(bytes);
    return found;
}

struct Member {
    uint32_t method, packed, size;
    size_t local; // Offset of the member's own header in the archive.
};

static bool find_member(const uint8_t *directory, size_t size, const char *name,
                        struct Member *member)
{
    size_t length = strlen(name), at = 0;
    while (size - at >= ENTRY_SIZE && !memcmp(directory + at, "PK\1\2", 4)) {
        const uint8_t *entry = directory + at;
        size_t name_size = u16(entry + 28);
        size_t whole =
            ENTRY_SIZE + name_size + u16(entry + 30) + u16(entry + 32);
        if (whole > size - at)
            return false;
        if (name_size == length && !memcmp(entry + ENTRY_SIZE, name, length)) {
            member->method = u16(entry + 10);
            member->packed = u32(entry + 20);
            member->size = u32(entry + 24);
            member->local = u32(entry + 42);
            return !(u16(entry + 8) & 1); // bit 0: encrypted
        }
        at += whole;
    }
    return false;
}

static bool unpack(const uint8_t *packed, const struct Member *member,
                   uint8_t *out)
{
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)packed,
                       .avail_in = member->packed,
                       .next_out = out,
                       .avail_out = member->size};
    if (member->method == 0 && member->packed == member->size) {
        memcpy(out, packed, member->size);
        return true;
    }
    if (member->method != 8 || inflateInit2(&stream, -MAX_WBITS) != Z_OK)
        return false;
    int result = inflate(&stream, Z_FINISH);
    inflateEnd(&stream);
    return result == Z_STREAM_END && stream.total_out == member->size;
}

static char *read_member(const struct Archive *archive,
                         const struct Member *member)
{
    size_t at = member->local;
    uint8_t *local = part(archive, at, LOCAL_SIZE), *packed = NULL;
    char *out = NULL;
    if (local && !memcmp(local, "PK\3\4", 4))
        packed =
            part(archive, at + LOCAL_SIZE + u16(local + 26) + u16(local + 28),
                 member->packed);
    if (packed)
        out = malloc((size_t)member->size + 1);
    if (out && !unpack(packed, member, (uint8_t *)out)) {
        free(out);
        out = NULL;
    }
    if (out)
        out[member->size] = 0;
    free(local);
    free(packed);
    return out;
}

static char *search(const struct Archive *archive, const char *name,
                    size_t most, size_t *size, const char **why)
{
    struct Member member = {0};
    struct Directory directory = {0};
    uint8_t *entries = NULL;
    char *out = NULL;
    *why = "is in a file that is no zip archive";
    if (find_directory(archive, &directory))
        entries = part(archive, directory.at, directory.size);
    if (!entries)
        return NULL;
    *why = "is not in its archive any more";
    if (find_member(entries, directory.size, name, &member)) {
        *why = member.size > most ? "is too large in its archive"
                                  : "cannot be read from its archive";
        member.local += directory.begin;
        if (member.size <= most)
            out = read_member(archive, &member);
    }
    free(entries);
    *size = out ? member.size : 0;
    return out;
}

char *Archive_read(int named, const char *member, size_t most, size_t *size,
                   const char **why)
{
    char path[64];
    struct stat file;
    char *out = NULL;
    snprintf(path, sizeof path, "/proc/self/fd/%d", named);
    struct Archive archive = {
        .fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)};
    *why = "is in an archive that cannot be read";
    if (archive.fd < 0)
        return NULL;
    if (!fstat(archive.fd, &file) && S_ISREG(file.st_mode) &&
        (size_t)file.st_size <= ARCHIVE_MOST) {
        archive.size = (size_t)file.st_size;
        out = search(&archive, member, most, size, why);
    }
    close(archive.fd);
    return out;
}
