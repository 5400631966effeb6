// SPDX-License-Identifier: MIT
#include "tracer/timeline/recording_names.h"
#include "ipc/base/array.h"

#include <errno.h>
#include <string.h>

#define BLOCK ((64u << 10) - sizeof(struct RecordingBlock))
// Largest id. One bit for each possible id takes 8 MiB.
#define MOST_IDS (1u << 26)
// Largest number of bytes of a function's name, and also of a file's name.
#define MOST_TEXT 4096u
// Largest number of ids that wait because their names are not known yet.
#define MOST_WAITING 4096u

void RecordingNames_release(struct RecordingNames *names)
{
    Heap_free(names->known);
    Heap_free(names->wanted);
    Heap_free(names->half[0]);
    Heap_free(names->half[1]);
    Bytes_release(&names->text);
}

static bool has_bit(struct RecordingNames *names, uint32_t id)
{
    size_t bytes = names->known_bytes ? names->known_bytes : 1024;
    uint8_t *known;

    if (id / 8 < names->known_bytes)
        return true;
    if (id >= MOST_IDS)
        return false;
    while (bytes <= id / 8)
        bytes *= 2;
    known = Heap_resize(names->known, bytes);
    if (!known)
        return false;
    memset(known + names->known_bytes, 0, bytes - names->known_bytes);
    names->known = known;
    names->known_bytes = bytes;
    return true;
}

void RecordingNames_want(struct RecordingNames *names, uint32_t id)
{
    if (!has_bit(names, id))
        return;
    if (!ARRAY_GROW(names->wanted, names->wanted_count, names->wanted_room, 64))
        return;
    names->known[id / 8] |= (uint8_t)(1u << id % 8);
    names->wanted[names->wanted_count++] = id;
}

void RecordingNames_restart(struct RecordingNames *names)
{
    uint32_t id;

    for (id = 0; id < 8 * names->known_bytes; id++)
        if (names->known[id / 8] >> id % 8 & 1)
            RecordingNames_want(names, id);
    names->count[0] = names->count[1] = 0;
    names->opcodes = false;
    Bytes_clear(&names->text);
    if (names->half[1])
        memset(names->half[1], 0, names->blocks * sizeof *names->half[1]);
}

// Appends the new names to the block that is being filled. Returns 0 or -errno.
static int save(struct RecordingNames *names, struct Recording *recording)
{
    struct RecordingBlock block = {.kind = RECORDING_NAMES};
    struct RecordingSlot *slot = &names->half[1][names->count[1]];
    size_t saved = slot->used;
    struct RecordingSlot larger = {0};
    int error;

    if (names->text.size <= saved)
        return 0;
    if (RecordingSlot_fits(slot, names->text.size - saved))
        return Recording_append(recording, slot, &block,
                                names->text.data + saved,
                                names->text.size - saved);
    error = Recording_append(recording, &larger, &block, names->text.data,
                             names->text.size);
    if (error)
        return error;
    Recording_drop(recording, slot);
    *slot = larger;
    return 0;
}

// Begins a new block of names, because the newest block is full. Names are in
// two halves. Returns true if the older half was dropped, so that its names
// must be written again.
static bool begin_block(struct RecordingNames *names,
                        struct Recording *recording)
{
    struct RecordingSlot *older = names->half[0];
    size_t i;

    Bytes_clear(&names->text);
    if (++names->count[1] < names->blocks)
        return false;
    for (i = 0; i < names->count[0]; i++)
        Recording_drop(recording, &older[i]);
    memset(older, 0, names->blocks * sizeof *older);
    names->half[0] = names->half[1];
    names->half[1] = older;
    names->count[0] = names->count[1];
    names->count[1] = 0;
    return true;
}

static size_t size_of(const char *text)
{
    size_t size = strlen(text) + 1;

    return size < MOST_TEXT ? size : MOST_TEXT;
}

// Adds a name to the block that is being filled, and returns 0 or -errno.
static int add(struct RecordingNames *names, struct Recording *recording,
               uint32_t id, const struct PerfettoName *name)
{
    struct RecordingName record = {
        .id = id,
        .line = name->line,
        .address = name->address,
        .name_size = (uint16_t)size_of(name->name),
        .file_size = (uint16_t)size_of(name->file),
    };
    size_t size = sizeof record + record.name_size + record.file_size;
    size_t padded = (size + 7) / 8 * 8;
    uint8_t *at;
    int error = 0;

    if (names->text.size + padded > BLOCK) {
        error = save(names, recording);
        names->restarts |= begin_block(names, recording);
    }
    at = Bytes_extend(&names->text, padded);
    if (!at)
        return -ENOMEM;
    memset(at, 0, padded);
    memcpy(at, &record, sizeof record);
    at += sizeof record;
    memcpy(at, name->name, record.name_size - 1u);
    memcpy(at + record.name_size, name->file, record.file_size - 1u);
    return error;
}

static int write_opcodes(struct RecordingNames *names,
                         struct Recording *recording,
                         const struct Opcodes *opcodes)
{
    struct RecordingBlock block = {.kind = RECORDING_OPCODES};
    struct RecordingSlot slot = {0};
    struct Bytes text;
    unsigned i;
    int error;

    Bytes_init(&text);
    for (i = 0; i < 256; i++) {
        const char *name = Opcodes_text(opcodes, (uint8_t)i);

        Bytes_put(&text, name, strlen(name) + 1);
    }
    while (text.size % 8 && !text.error)
        Bytes_put_u8(&text, 0);
    error = text.error ? text.error
                       : Recording_append(recording, &slot, &block, text.data,
                                          text.size);
    Bytes_release(&text);
    names->opcodes = !error;
    return error;
}

static bool make_halves(struct RecordingNames *names)
{
    size_t i;

    for (i = 0; i < 2; i++)
        if (!names->half[i])
            names->half[i] = Heap_zeroed(names->blocks, sizeof **names->half);
    return names->half[0] && names->half[1];
}

struct RecordingWanted RecordingNames_take(struct RecordingNames *names)
{
    struct RecordingWanted wanted = {names->wanted, names->wanted_count};

    names->wanted = NULL;
    names->wanted_count = names->wanted_room = 0;
    return wanted;
}

int RecordingNames_write(struct RecordingNames *names,
                         struct Recording *recording,
                         const struct RecordingSource *source,
                         struct RecordingWanted *wanted)
{
    struct PerfettoName name;
    size_t i, left = 0, count = wanted->count;
    int error = 0, failed;

    if (!make_halves(names))
        return -ENOMEM;
    if (!names->opcodes && source->opcodes)
        error = write_opcodes(names, recording, source->opcodes);
    for (i = 0; i < count; i++) {
        uint32_t id = wanted->ids[i];

        if (!source->name(source->context, id, &name)) {
            // The name is not known at this time, because the function is being
            // retired.
            if (left < MOST_WAITING)
                wanted->ids[left++] = id;
            continue;
        }
        failed = add(names, recording, id, &name);
        error = failed ? failed : error;
    }
    wanted->count = left;
    failed = save(names, recording);
    return failed ? failed : error;
}

void RecordingNames_end(struct RecordingNames *names,
                        struct Recording *recording)
{
    // With one more block, the older half would be dropped with its names.
    if (names->text.size && names->count[1] + 1 < names->blocks)
        begin_block(names, recording);
}

void RecordingNames_give_back(struct RecordingNames *names,
                              struct RecordingWanted *wanted)
{
    size_t i;

    if (names->restarts)
        memset(names->known, 0, names->known_bytes);
    names->restarts = false;
    for (i = 0; i < wanted->count; i++)
        RecordingNames_want(names, wanted->ids[i]);
    Heap_free(wanted->ids);
    *wanted = (struct RecordingWanted){0};
}
