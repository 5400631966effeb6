// SPDX-License-Identifier: MIT
// The reader looks for the start of a block at each multiple of RECORDING_UNIT
// bytes. The header of a valid block says where the next block begins.
#include "formats/recording_reader.h"
#include "formats/darkness.h"
#include "ipc/base/heap.h"
#include "ipc/wire.h"
#include "tracer/hook/exceptions.h"
#include "tracer/sample/event_loops.h"
#include "tracer/sample/flame.h"
#include "tracer/timeline/event_code.h"
#include "tracer/timeline/track.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Largest number of bytes of data that a block may have.
#define MOST_DATA WIRE_MAX_FRAME
#define HEADER sizeof(struct RecordingBlock)

// --- The head ----------------------------------------------------------------

// Reads the head of the recording and returns 0, or returns -errno with a
// sentence in `why` that names the error.
static int read_head(struct RecordingReader *reader, char *why, size_t why_size)
{
    struct RecordingHead *head = &reader->head;
    int error = Recording_read(reader->recording, 0, head, sizeof *head);

    if (error || head->magic != RECORDING_MAGIC) {
        snprintf(why, why_size, "this is no recording of Ocular's");
        return -EINVAL;
    }
    if (head->version < RECORDING_OLDEST || head->version > RECORDING_VERSION) {
        snprintf(why, why_size,
                 "this is a recording of version %" PRIu32
                 ", and this Ocular reads versions %u to %u",
                 head->version, RECORDING_OLDEST, RECORDING_VERSION);
        return -EINVAL;
    }
    if (head->check != RecordingHead_check(head) ||
        !(head->hz >= 1e5 && head->hz <= 1e11)) {
        snprintf(why, why_size, "the first page of this recording is damaged");
        return -EINVAL;
    }
    head->mode[sizeof head->mode - 1] = '\0';
    head->python[sizeof head->python - 1] = '\0';
    head->command[sizeof head->command - 1] = '\0';
    return 0;
}

// --- Blocks ------------------------------------------------------------------

static void read_names(struct RecordingReader *reader)
{
    const uint8_t *at = reader->data.data, *end = at + reader->data.size;

    while ((size_t)(end - at) >= sizeof(struct RecordingName)) {
        struct RecordingName record;
        struct ReadName *name;
        size_t size;

        memcpy(&record, at, sizeof record);
        size = sizeof record + record.name_size + record.file_size;
        size = (size + 7) / 8 * 8;
        if (size > (size_t)(end - at) || !record.name_size || !record.file_size)
            return;
        name = (struct ReadName *)Bytes_extend(&reader->names, sizeof *name);
        if (!name)
            return;
        *name = (struct ReadName){record.id, record.line, record.address,
                                  reader->text.size,
                                  reader->text.size + record.name_size};
        at += sizeof record;
        Bytes_put(&reader->text, at, record.name_size - 1u);
        Bytes_put_u8(&reader->text, 0);
        Bytes_put(&reader->text, at + record.name_size, record.file_size - 1u);
        Bytes_put_u8(&reader->text, 0);
        at += size - sizeof record;
    }
}

static void read_opcodes(struct RecordingReader *reader)
{
    const char *at = (const char *)reader->data.data;
    const char *end = at + reader->data.size;
    unsigned i;

    for (i = 0; i < 256 && at < end; i++) {
        size_t size = strnlen(at, (size_t)(end - at));

        snprintf(reader->opcodes->name[i], sizeof *reader->opcodes->name,
                 "%.*s", (int)size, at);
        at += size + 1;
    }
}

// Returns true if each row except the root comes after its parent, if each wait
// has a row, and if the table has no more rows than Ocular writes. A larger
// table is refused, because the time of a conversion can grow with the square
// of the number of rows.
static bool is_tree(const struct FlameTable *table)
{
    size_t i;

    if (table->row_count > FLAME_NODES || table->function_count > FLAME_NODES ||
        table->wait_count > FLAME_NODES + FLAME_OWN_WAITS)
        return false;
    for (i = 1; i < table->row_count; i++)
        if (table->rows[i].parent >= i)
            return false;
    for (i = 0; i < table->wait_count; i++)
        if (table->waits[i].parent >= table->row_count)
            return false;
    return table->row_count > 0;
}

// Returns true if none of the lists is longer than Ocular's own lists. A longer
// list could take the viewer much time, because it goes through each list once
// for every row of another list.
static bool is_of_program(const struct Snapshot *snapshot)
{
    return snapshot->exception_count <= EXCEPTION_KINDS &&
           snapshot->loop_count <= EVENT_LOOPS &&
           snapshot->stall_count <= STALLS;
}

// Keeps the snapshot of a block, unless a newer one was read. The block may
// have been forged by an attacker. Returns the snapshot that is no longer
// needed, or NULL.
static struct Snapshot *keep_snapshot(struct RecordingReader *reader,
                                      const struct RecordingBlock *block,
                                      struct Snapshot *snapshot)
{
    // The first snapshot of a recording has only settings.
    bool total =
        block->kind == RECORDING_SNAPSHOT &&
        (!isnan(snapshot->uptime_s) || reader->head.version < RECORDING_TOTALS);
    struct Snapshot **place = total ? &reader->final : &reader->settings;
    struct Snapshot *before = *place;

    if (total && before && block->sequence < reader->final_sequence)
        return snapshot;
    *place = snapshot;
    if (!total)
        return before;
    reader->final_sequence = block->sequence;
    reader->ended = block->sequence == RECORDING_LAST ||
                    reader->head.version < RECORDING_TOTALS;
    return before;
}

// Reads a block with a snapshot, with settings or with stacks.
static int read_message(struct RecordingReader *reader,
                        const struct RecordingBlock *block)
{
    struct Message message;
    long used = Message_decode(&message, reader->data.data, reader->data.size,
                               WIRE_MAX_FRAME);
    int error = 0;

    if (used <= 0)
        return used == -ENOMEM ? -ENOMEM : -EINVAL;
    if (message.type == MESSAGE_SNAPSHOT && is_of_program(message.snapshot)) {
        message.snapshot = keep_snapshot(reader, block, message.snapshot);
    } else if (message.type == MESSAGE_STACKS && is_tree(message.stacks)) {
        FlameTable_free(reader->stacks);
        reader->stacks = message.stacks;
        message.stacks = NULL;
    } else {
        error = -EINVAL;
    }
    Message_release(&message);
    return error;
}

// Decodes the events in the data of the present block (reader->data). The open
// calls come first in the data and take `open` bytes, and the events follow. If
// memory is out, returns NULL and sets *count to 0. If there are more than
// `most` events, returns NULL and sets *count to the number of events.
static const struct Event *read_events(struct RecordingReader *reader,
                                       size_t open, size_t most, size_t *count)
{
    const uint8_t *from = reader->data.data + open;
    size_t size = reader->data.size - open;
    struct Event *events;

    Bytes_clear(&reader->events);
    *count = EventCode_read(from, size, NULL, most + 1);
    if (*count > most)
        return NULL;
    events = (struct Event *)Bytes_extend(&reader->events,
                                          *count * sizeof *events + 1);
    if (!events)
        *count = 0;
    else
        EventCode_read(from, size, events, *count);
    return events;
}

// Returns the largest number of events that Ocular writes into one chunk. An
// attacker's file could have chunks with many more events in little space.
static size_t most_events(size_t open_count)
{
    return 4 * open_count > BLOCK_EVENTS ? 4 * open_count : BLOCK_EVENTS;
}

// Adds the chunk in the present block to the reader. If the block is truncated,
// the chunk has only the events that are in the file.
static int read_chunk(struct RecordingReader *reader,
                      const struct RecordingBlock *block)
{
    size_t open = block->open_count * sizeof(struct OpenCall), count;
    size_t most = most_events(block->open_count);
    const struct Event *events;
    struct ReadChunk *read;

    if (open > reader->data.size)
        return -EINVAL;
    events = read_events(reader, open, most, &count);
    if (count > most)
        return -EINVAL;
    read = (struct ReadChunk *)Bytes_extend(&reader->chunks, sizeof *read);
    if (!read)
        return -ENOMEM;
    Darkness_see(&reader->dark, events, count);
    *read = (struct ReadChunk){
        .chunk = {.thread = block->thread,
                  .open_count = block->open_count,
                  .event_count = count,
                  .file = reader->recording,
                  .at = block->at + HEADER,
                  .size = reader->data.size,
                  .sequence = block->sequence,
                  .check = Recording_check(RECORDING_SEED, reader->data.data,
                                           reader->data.size),
                  .first_ticks = count ? Event_ticks(&events[0]) : 0,
                  .last_ticks = count ? Event_ticks(&events[count - 1]) : 0},
    };
    read->thread = (struct TimelineThread){
        .number = block->thread,
        .tid = (pid_t)block->tid,
        .lost = block->lost,
        .forgotten = block->forgotten,
    };
    memcpy(read->thread.name, block->name, sizeof block->name - 1);
    return 0;
}

// Reads the data of a block, or the part of the data that is in the file.
// Returns false if the data is damaged or cannot be read.
static bool read_data(struct RecordingReader *reader,
                      const struct RecordingBlock *block, uint64_t end)
{
    uint64_t begin = block->at + HEADER;
    uint64_t size = block->used;
    bool whole = begin + size <= end;
    uint8_t *data;

    if (!whole)
        size = end > begin ? (end - begin) / 8 * 8 : 0;
    Bytes_clear(&reader->data);
    data = Bytes_extend(&reader->data, (size_t)size + 1);
    if (!data)
        return false;
    // One byte more than the data is allocated, so that the data of an empty
    // block has an address, too.
    reader->data.size = (size_t)size;
    if (Recording_read(reader->recording, begin, data, (size_t)size))
        return false;
    // The readable data of a truncated block is used nevertheless.
    if (!whole)
        reader->damaged++;
    return !whole || Recording_check(RECORDING_SEED, data, (size_t)size) ==
                         block->data_check;
}

// If the program was killed, the recording can contain two lists of the same
// kind. The list that comes later in the file replaces the earlier list.
static void read_list(const struct RecordingReader *reader, struct Bytes *list,
                      size_t each)
{
    Bytes_clear(list);
    Bytes_put(list, reader->data.data, reader->data.size / each * each);
}

static bool is_block(const struct RecordingBlock *block, uint64_t at)
{
    return block->at == at && block->check == RecordingBlock_check(block) &&
           block->size >= RECORDING_UNIT && block->size % RECORDING_UNIT == 0 &&
           block->used % 8 == 0 && block->used <= MOST_DATA &&
           block->used + HEADER <= block->size;
}

// Returns true if the program may have changed the block while a viewer copied
// the file. Only blocks that were begun after the cut (Timeline_cut) can
// change. A missing block with events from before the cut is counted by
// show_thread.
static bool may_be_later(const struct RecordingReader *reader,
                         const struct RecordingBlock *block)
{
    return reader->to_cut &&
           (block->kind == RECORDING_CHUNK || block->kind == RECORDING_NAMES ||
            block->kind == RECORDING_SNAPSHOT);
}

// Reads the block at an offset of the file. A damaged block is counted and
// skipped. Returns 0 or -ENOMEM.
static int read_block(struct RecordingReader *reader,
                      const struct RecordingBlock *block, uint64_t end)
{
    uint64_t damaged = reader->damaged;
    int error = 0;

    if (block->magic != RECORDING_BLOCK) // The program has dropped the block.
        return 0;
    if (!read_data(reader, block, end))
        error = reader->data.error ? -ENOMEM : -EINVAL;
    else if (block->kind == RECORDING_CHUNK)
        error = read_chunk(reader, block);
    else if (block->kind == RECORDING_NAMES)
        read_names(reader);
    else if (block->kind == RECORDING_OPCODES)
        read_opcodes(reader);
    else if (block->kind == RECORDING_SNAPSHOT ||
             block->kind == RECORDING_STACKS ||
             block->kind == RECORDING_SETTINGS)
        error = read_message(reader, block);
    else if (block->kind == RECORDING_CALLS)
        read_list(reader, &reader->calls, sizeof(struct RecordingCalls));
    else if (block->kind == RECORDING_DARK)
        read_list(reader, &reader->dark_now, sizeof(struct RecordingDark));
    else if (block->kind == RECORDING_THREADS)
        read_list(reader, &reader->listed, sizeof(struct RecordingThread));
    if (error == -EINVAL)
        reader->damaged++;
    if (may_be_later(reader, block))
        reader->damaged = damaged;
    return error == -ENOMEM ? error : 0;
}

static bool goes_on(const struct RecordingReader *reader, uint64_t at,
                    uint64_t end)
{
    const struct RecordingWatch *watch = &reader->watch;

    return !watch->go_on ||
           watch->go_on(watch->context, (double)at / (double)end);
}

static int read_blocks(struct RecordingReader *reader)
{
    uint64_t end = Recording_bytes(reader->recording), at = RECORDING_PAGE;
    int error = 0;

    while (!error && at && at + HEADER <= end) {
        struct RecordingBlock block;

        if (Recording_read(reader->recording, at, &block, sizeof block) == 0 &&
            is_block(&block, at)) {
            error = goes_on(reader, at, end) ? read_block(reader, &block, end)
                                             : -ECANCELED;
            at += block.size <= end ? block.size : end;
            continue;
        }
        at = Recording_seek(reader->recording, at + RECORDING_UNIT) /
             RECORDING_UNIT * RECORDING_UNIT;
    }
    return error;
}

// --- The timeline ------------------------------------------------------------

static int compare(uint64_t a, uint64_t b)
{
    return a < b ? -1 : a > b;
}

// Sorts chunks by thread, and then by sequence number. If two chunks of a
// thread have the same sequence number, the chunk with more events comes last.
static int compare_chunks(const void *a, const void *b)
{
    const struct TimelineChunk *left = &((const struct ReadChunk *)a)->chunk;
    const struct TimelineChunk *right = &((const struct ReadChunk *)b)->chunk;
    int by = compare(left->thread, right->thread);

    by = by ? by : compare(left->sequence, right->sequence);
    return by ? by : compare(left->event_count, right->event_count);
}

// Compares structs whose first member is a 32-bit number: names by their id,
// and threads by their number.
static int compare_numbers(const void *a, const void *b)
{
    return compare(*(const uint32_t *)a, *(const uint32_t *)b);
}

// Returns the number of missing chunks of a thread. The sequence numbers of a
// thread's chunks are consecutive. The first sequence number of a thread is 0,
// unless some of its chunks were forgotten.
static uint64_t count_missing(const struct ReadChunk *first,
                              const struct ReadChunk *last, bool forgotten,
                              size_t count)
{
    uint64_t begin = forgotten ? first->chunk.sequence : 0;
    uint64_t there = last->chunk.sequence - begin + 1;

    return there > count ? there - count : 0;
}

static void show_chunk(struct RecordingReader *reader,
                       const struct ReadChunk *read)
{
    const struct TimelineChunk *chunk = &read->chunk;
    struct TimelineView *view = &reader->view;
    uint64_t first = chunk->first_ticks;

    Bytes_put(&reader->shown, &chunk, sizeof chunk);
    if (first && (!view->first_ticks || first < view->first_ticks))
        view->first_ticks = first;
    if (chunk->last_ticks > view->last_ticks)
        view->last_ticks = chunk->last_ticks;
}

static const struct RecordingThread *
find_listed(const struct RecordingReader *reader, uint32_t number)
{
    const struct RecordingThread key = {.number = number};

    if (!reader->listed.size)
        return NULL;
    return bsearch(&key, reader->listed.data, reader->listed.size / sizeof key,
                   sizeof key, compare_numbers);
}

// Copies the numbers and the name of the thread from the list of threads.
static void update(struct TimelineThread *thread,
                   const struct RecordingThread *listed)
{
    thread->tid = (pid_t)listed->tid;
    thread->lost = listed->lost;
    thread->forgotten = listed->forgotten;
    memcpy(thread->name, listed->name, sizeof thread->name - 1);
}

// Returns the number of chunks of the thread that come before the cut.
static size_t count_to_cut(const struct RecordingReader *reader,
                           const struct ReadChunk *all, size_t count)
{
    const struct RecordingThread *listed =
        find_listed(reader, all->thread.number);

    while (count &&
           (!listed || all[count - 1].chunk.sequence >= listed->sequence))
        count--;
    return count;
}

// Adds a thread and its chunks to the view. The newest number of lost events is
// in the thread's last chunk.
static void show_thread(struct RecordingReader *reader,
                        const struct ReadChunk *all, size_t count)
{
    const struct RecordingThread *listed =
        find_listed(reader, all->thread.number);
    const struct ReadChunk *last;
    struct TimelineThread thread;
    size_t i, shown = 0;

    if (reader->to_cut && reader->listed.size)
        count = count_to_cut(reader, all, count);
    if (!count)
        return;
    last = &all[count - 1];
    thread = last->thread;
    for (i = 0; i < count; i++) {
        // If the program was killed, two chunks of a thread can have the same
        // sequence number. Of two chunks with the same sequence number, the
        // later one is used.
        if (i + 1 < count && all[i + 1].chunk.sequence == all[i].chunk.sequence)
            continue;
        show_chunk(reader, &all[i]);
        shown++;
    }
    if (listed && last->chunk.sequence < listed->sequence)
        // The list of threads was written after the thread's last chunk.
        update(&thread, listed);
    // The thread's number of forgotten events may be older than the number in
    // the head.
    reader->damaged += count_missing(
        all, last, thread.forgotten > 0 || reader->head.forgotten > 0, shown);
    Bytes_put(&reader->threads, &thread, sizeof thread);
}

// Adds those threads from the list of threads that have no chunks.
static void show_silent(struct RecordingReader *reader)
{
    size_t i, known = reader->threads.size / sizeof(struct TimelineThread);
    size_t count = reader->listed.size / sizeof(struct RecordingThread);

    for (i = 0; i < count; i++) {
        const struct RecordingThread *listed =
            (const struct RecordingThread *)reader->listed.data + i;
        struct TimelineThread thread = {.number = listed->number};

        if (known && bsearch(&thread, reader->threads.data, known,
                             sizeof thread, compare_numbers))
            continue;
        update(&thread, listed);
        Bytes_put(&reader->threads, &thread, sizeof thread);
    }
    count = reader->threads.size / sizeof(struct TimelineThread);
    if (count > known)
        qsort(reader->threads.data, count, sizeof(struct TimelineThread),
              compare_numbers);
}

// Makes the view from the chunks and returns 0 or -ENOMEM.
static int make_view(struct RecordingReader *reader)
{
    // Even an empty list needs an address, because the writers add an index to
    // it.
    static const struct TimelineChunk *const none;
    struct ReadChunk *all = (struct ReadChunk *)reader->chunks.data;
    size_t i, begin = 0, count = reader->chunks.size / sizeof *all;
    struct TimelineView *view = &reader->view;

    if (count)
        qsort(all, count, sizeof *all, compare_chunks);
    for (i = 0; i < count; i++) {
        if (i + 1 < count && all[i + 1].chunk.thread == all[i].chunk.thread)
            continue;
        show_thread(reader, &all[begin], i + 1 - begin);
        begin = i + 1;
    }
    show_silent(reader);
    view->chunks = reader->shown.size
                       ? (const struct TimelineChunk *const *)reader->shown.data
                       : &none;
    view->chunk_count = reader->shown.size / sizeof *view->chunks;
    view->threads = (const struct TimelineThread *)reader->threads.data;
    view->thread_count = reader->threads.size / sizeof *view->threads;
    for (i = 0; i < view->thread_count; i++)
        view->lost += view->threads[i].lost;
    view->lost += reader->head.lost;
    view->forgotten = reader->head.forgotten;
    view->whole_ticks = reader->head.whole_ticks;
    return reader->shown.error | reader->threads.error;
}

static bool find_name(void *context, uint32_t id, struct PerfettoName *name)
{
    const struct RecordingReader *reader = context;
    const struct ReadName key = {.id = id}, *found = NULL;
    const char *text = (const char *)reader->text.data;

    if (reader->names.size)
        found =
            bsearch(&key, reader->names.data, reader->names.size / sizeof key,
                    sizeof key, compare_numbers);
    if (!found)
        return reader->source &&
               reader->source->name(reader->source->context, id, name);
    *name = (struct PerfettoName){text + found->name, text + found->file,
                                  found->line, (uintptr_t)found->address};
    return true;
}

// Makes the list of functions that are dark at the end of the timeline. The
// list that was written at the newest cut is used only if the timeline ends at
// that cut. If the program was killed after the newest cut, the events show
// which functions were dark.
static void list_dark(struct RecordingReader *reader)
{
    struct PerfettoTrace *trace = &reader->trace;

    Darkness_sort(&reader->dark);
    if (!reader->dark_now.size || !(reader->to_cut || reader->head.ended)) {
        trace->dark = Darkness_list(&reader->dark, &trace->dark_count);
        return;
    }
    trace->dark = (struct RecordingDark *)reader->dark_now.data;
    trace->dark_count = reader->dark_now.size / sizeof *trace->dark;
    // From here on, the trace owns the list of dark functions.
    reader->dark_now.data = NULL;
    Darkness_update(&reader->dark, reader->view.last_ticks, trace->dark,
                    &trace->dark_count);
}

static void describe(struct RecordingReader *reader)
{
    const struct RecordingHead *head = &reader->head;
    struct Snapshot *settings = reader->settings;

    // The budget in the newest snapshot is the newest one.
    if (reader->final &&
        (!settings || reader->head.version >= RECORDING_TOTALS))
        settings = reader->final;
    if (settings &&
        !(settings->overhead_budget > 0 && settings->overhead_budget <= 1))
        // The recording has no budget, or has a budget that is impossible.
        settings->overhead_budget = NAN;
    reader->trace = (struct PerfettoTrace){
        .view = &reader->view,
        .pid = (pid_t)head->pid,
        .command = head->command,
        .python = head->python,
        .mode = head->mode,
        .threshold = head->threshold,
        .settings = settings,
        .snapshot = reader->final,
        .start_ticks = head->start_ticks,
        .start_unix_ns = head->start_unix_ns,
        .start_boot_ns = head->start_boot_ns,
        .hz = head->hz,
        .opcodes = reader->opcodes,
        .context = reader,
        .name = find_name,
    };
    list_dark(reader);
}

static int read_all(struct RecordingReader *reader)
{
    int error;

    reader->opcodes = Heap_zeroed(1, sizeof *reader->opcodes);
    error = reader->opcodes ? read_blocks(reader) : -ENOMEM;
    if (!error)
        error = reader->names.error | reader->text.error | reader->dark.error;
    if (!error)
        error = make_view(reader);
    if (error)
        return error < 0 ? error : -ENOMEM;
    if (reader->names.size)
        qsort(reader->names.data, reader->names.size / sizeof(struct ReadName),
              sizeof(struct ReadName), compare_numbers);
    describe(reader);
    return 0;
}

// Opens the recording at `path` and checks its first page. Returns 0, or -errno
// with a sentence in `why` that names the error.
static int open_file(struct RecordingReader *reader, const char *path,
                     char *why, size_t why_size)
{
    int error;

    *why = '\0';
    reader->recording = Recording_open(path, &error);
    if (!error)
        return read_head(reader, why, why_size);
    snprintf(why, why_size, "%s",
             error == -EINVAL ? "this is no recording of Ocular's"
                              : strerror(-error));
    return error;
}

// Reads all blocks of the recording. `error` is the result of reading the first
// page. If `error` is not 0, no block is read.
static int read_rest(struct RecordingReader *reader, int error, char *why,
                     size_t why_size)
{
    uint64_t damaged;

    if (!error) {
        error = read_all(reader);
        if (error)
            snprintf(why, why_size, "%s", strerror(-error));
    }
    damaged = reader->damaged;
    if (error)
        RecordingReader_close(reader);
    else if (damaged)
        snprintf(why, why_size,
                 "%" PRIu64
                 " of its blocks %s damaged or cut off: what is "
                 "missing of %s is left out",
                 damaged, damaged == 1 ? "is" : "are",
                 damaged == 1 ? "it" : "them");
    return error;
}

int RecordingReader_probe(const char *path, char *why, size_t why_size)
{
    struct RecordingReader reader = {0};
    int error = open_file(&reader, path, why, why_size);

    if (reader.recording)
        Recording_put(reader.recording);
    return error;
}

int RecordingReader_open(struct RecordingReader *reader, const char *path,
                         struct RecordingWatch watch, char *why,
                         size_t why_size)
{
    memset(reader, 0, sizeof *reader);
    reader->watch = watch;
    return read_rest(reader, open_file(reader, path, why, why_size), why,
                     why_size);
}

int RecordingReader_read(struct RecordingReader *reader,
                         struct Recording *recording,
                         const struct RecordingSource *source,
                         struct RecordingWatch watch, char *why,
                         size_t why_size)
{
    memset(reader, 0, sizeof *reader);
    reader->to_cut = true;
    reader->source = source;
    reader->watch = watch;
    reader->recording = recording;
    Recording_get(recording);
    *why = '\0';
    return read_rest(reader, read_head(reader, why, why_size), why, why_size);
}

void RecordingReader_close(struct RecordingReader *reader)
{
    Heap_free(reader->trace.dark);
    Snapshot_free(reader->final);
    Snapshot_free(reader->settings);
    FlameTable_free(reader->stacks);
    Bytes_release(&reader->calls);
    Heap_free(reader->opcodes);
    Bytes_release(&reader->chunks);
    Bytes_release(&reader->shown);
    Bytes_release(&reader->threads);
    Bytes_release(&reader->listed);
    Bytes_release(&reader->dark_now);
    Bytes_release(&reader->names);
    Bytes_release(&reader->text);
    Bytes_release(&reader->data);
    Bytes_release(&reader->events);
    Bytes_release(&reader->dark);
    if (reader->recording)
        Recording_put(reader->recording);
    memset(reader, 0, sizeof *reader);
}

void RecordingReader_facts(const struct RecordingReader *reader,
                           struct Snapshot *out)
{
    static const char *const settings[] = {"version", "chosen", "budget",
                                           "filter"};
    const struct PerfettoTrace *trace = &reader->trace;
    size_t i;

    out->schema = SNAPSHOT_SCHEMA;
    out->pid = (uint64_t)trace->pid;
    out->command = Snapshot_text(out, trace->command);
    out->python = Snapshot_text(out, trace->python);
    out->mode = Snapshot_text(out, trace->mode);
    out->threshold = trace->threshold;
    out->tsc_hz = trace->hz;
    for (i = 0; trace->settings && i < sizeof settings / sizeof *settings; i++)
        Record_take(&SNAPSHOT_RECORD, out, trace->settings, settings[i],
                    &out->arena);
}
