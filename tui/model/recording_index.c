// SPDX-License-Identifier: MIT
#include "tui/model/recording_index.h"

#include "ipc/version.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAME_START 12u // Bytes of a frame before its payload.
#define ID_END 12u      // Bytes of a LISTING's payload up to the end of the id.

int RecordingIndex_read(const struct RecordingIndex *index,
                        const struct RecordingEntry *entry,
                        struct Message *message)
{
    uint8_t *bytes = malloc(entry->size);
    long used = -EIO;
    if (!bytes)
        return -ENOMEM;
    if (pread(index->fd, bytes, entry->size, entry->at) == (long)entry->size)
        used = Message_decode(message, bytes, entry->size, WIRE_MAX_FRAME);
    free(bytes);
    if (used == 0)
        return -EPROTO;
    return used < 0 ? (int)used : 0;
}

static int add_entry(struct RecordingIndex *index, struct RecordingEntry entry)
{
    if (index->count == index->capacity) {
        size_t capacity = index->capacity ? 2 * index->capacity : 256;
        struct RecordingEntry *entries =
            realloc(index->entries, capacity * sizeof *entries);
        if (!entries)
            return -ENOMEM;
        index->entries = entries;
        index->capacity = capacity;
    }
    index->entries[index->count++] = entry;
    return 0;
}

// Checks the protocol version of the recorded process. Returns 0, or
// -EPROTONOSUPPORT with the reason in `why`.
static int check_version(const struct RecordingIndex *index,
                         const struct RecordingEntry *entry, char *why,
                         size_t why_size)
{
    struct Message hello;
    if (RecordingIndex_read(index, entry, &hello))
        return 0; // The replay will report the error.
    uint32_t version = hello.version;
    if (version != WIRE_VERSION)
        snprintf(why, why_size,
                 "it holds protocol %u (Ocular %.60s), this ocular-top %s "
                 "reads %d: use the ocular-top that it was recorded with",
                 (unsigned)version, hello.text ? hello.text : "?",
                 OCULAR_VERSION, WIRE_VERSION);
    Message_release(&hello);
    return version == WIRE_VERSION ? 0 : -EPROTONOSUPPORT;
}

// Reads the first bytes of an entry. Returns false if the bytes are invalid.
static bool read_start(struct RecordingEntry *entry, const uint8_t *start,
                       size_t size)
{
    struct Cursor cursor = Cursor_of(start, size);
    entry->time = Cursor_f64(&cursor);
    bool framed = memcmp(cursor.at, "Oc", 2) == 0;
    Cursor_u16(&cursor);
    entry->type = (enum MessageType)Cursor_u16(&cursor);
    entry->size = FRAME_START + (size_t)Cursor_u32(&cursor);
    Cursor_u32(&cursor); // The request's number.
    if (entry->type == MESSAGE_LISTING && entry->size >= FRAME_START + ID_END) {
        Cursor_u32(&cursor);
        entry->about = Cursor_u64(&cursor);
    }
    return framed && entry->size <= WIRE_MAX_FRAME && entry->time >= 0;
}

// Adds an entry to the index for each frame of the file. An incomplete frame at
// the end is ignored.
static int scan(struct RecordingIndex *index, off_t size, char *why,
                size_t why_size)
{
    off_t at = CAPTURE_MAGIC_SIZE;
    int error = 0;
    while (!error && size - at >= (off_t)(CAPTURE_TIME_SIZE + FRAME_START)) {
        uint8_t start[CAPTURE_TIME_SIZE + FRAME_START + ID_END] = {0};
        struct RecordingEntry entry = {.at = at + CAPTURE_TIME_SIZE};
        if (pread(index->fd, start, sizeof start, at) <
            (long)(CAPTURE_TIME_SIZE + FRAME_START))
            return -EIO;
        index->damaged = !read_start(&entry, start, sizeof start);
        if (index->damaged || entry.at + (off_t)entry.size > size)
            break;
        error = add_entry(index, entry);
        if (!error && entry.type == MESSAGE_HELLO)
            error = check_version(index, &entry, why, why_size);
        at = entry.at + (off_t)entry.size;
    }
    return error;
}

int RecordingIndex_open(struct RecordingIndex *index, const char *path,
                        char *why, size_t why_size)
{
    *index = (struct RecordingIndex){.fd = -1};
    *why = 0;
    char magic[CAPTURE_MAGIC_SIZE];
    struct stat status;
    // With O_NONBLOCK, open() of a pipe does not wait for a writer.
    index->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (index->fd < 0 || fstat(index->fd, &status))
        return -errno;
    if (!S_ISREG(status.st_mode) ||
        pread(index->fd, magic, sizeof magic, 0) != sizeof magic ||
        memcmp(magic, CAPTURE_MAGIC, sizeof magic) != 0)
        return -EPROTO;
    return scan(index, status.st_size, why, why_size);
}

void RecordingIndex_close(struct RecordingIndex *index)
{
    if (index->fd >= 0)
        close(index->fd);
    free(index->entries);
    *index = (struct RecordingIndex){.fd = -1};
}

bool RecordingIndex_has(const struct RecordingIndex *index,
                        enum MessageType type)
{
    for (size_t i = 0; i < index->count; i++)
        if (index->entries[i].type == type)
            return true;
    return false;
}

long RecordingIndex_find(const struct RecordingIndex *index, size_t next,
                         enum MessageType type, uint64_t about)
{
    long found = -1;
    for (size_t i = 0; i < index->count; i++) {
        const struct RecordingEntry *entry = &index->entries[i];
        if (i >= next && found >= 0)
            break;
        if (entry->type == type && entry->about == about)
            found = (long)i;
    }
    return found;
}
