// SPDX-License-Identifier: MIT
// Fuzzes the conversion of a program's recording. The file has either arbitrary
// bytes, or valid checksums with arbitrary events, names and open calls. The
// fuzzer converts the file to both formats of timelines and to a profile, and
// shows it as the viewer does.
#include "formats/conversion.h"
#include "formats/perfetto.h"
#include "formats/recording_reader.h"
#include "formats/summary.h"
#include "ipc/base/opened.h"
#include "tests/fuzz/replay.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static void put(int fd, const void *data, size_t size, uint64_t at)
{
    if (pwrite(fd, data, size, (off_t)at) != (ssize_t)size)
        abort();
}

static void put_head(int fd, unsigned older)
{
    struct RecordingHead head = {.magic = RECORDING_MAGIC,
                                 .version = RECORDING_VERSION - older,
                                 .hz = 1e9,
                                 .start_ticks = 1000};

    head.check = RecordingHead_check(&head);
    put(fd, &head, sizeof head, 0);
}

// Writes a block of the recording from the next bytes of the input. These bytes
// begin with the block's header. Returns the number of input bytes that remain.
static size_t put_block(int fd, const uint8_t *data, size_t left, uint64_t at)
{
    uint64_t size = RECORDING_PAGE, used = data[4] + 256u * (data[5] % 16);
    struct RecordingBlock block = {
        .magic = RECORDING_BLOCK,
        .at = at,
        .kind = data[0] % 9,
        .thread = data[1] % 4 == 3 ? TIMELINE_OWN : data[1] % 4,
        .sequence = data[2] % 8 == 7 ? RECORDING_LAST : data[2] % 8,
        .open_count = data[3] % 8,
        .tid = data[1],
        .name = "thread",
    };

    left -= 6;
    if (used > left)
        used = left;
    used = used / 8 * 8;
    while (size < used + sizeof block)
        size *= 2;
    block.size = size;
    block.used = used;
    block.data_check = Recording_check(RECORDING_SEED, data + 6, used);
    block.check = RecordingBlock_check(&block);
    put(fd, &block, sizeof block, at);
    put(fd, data + 6, used, at + sizeof block);
    return left - used;
}

static void fill(int fd, const uint8_t *data, size_t size)
{
    uint64_t at = RECORDING_PAGE;
    size_t left = size - 1;

    if (!(data[0] & 1)) {
        put(fd, data + 1, left, 0);
        return;
    }
    put_head(fd, data[0] >> 1 & 3u);
    while (left > 6) {
        left = put_block(fd, data + size - left, left, at);
        at += 2 * RECORDING_PAGE;
    }
}

static void write_to_null(struct RecordingReader *reader, const char *name)
{
    struct PerfettoResult result;
    struct Opened opened;
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    const struct FormatsFile file = {
        .path = name, .descriptor = null, .opened = &opened};

    Opened_note(&opened, null);
    Perfetto_write(&reader->trace, &file, &result);
    close(null);
}

// Reads the whole run and a part of it, as the viewer does.
static void show(const char *path)
{
    const struct SummaryWatch nobody = {0};
    struct Summary *summary;
    char why[256];
    unsigned part;

    if (Summary_open(&summary, path, nobody, why, sizeof why))
        return;
    for (part = 0; part < 2; part++) {
        struct SummaryStretch all = Summary_all(summary);
        struct Snapshot *snapshot;
        size_t i;

        all.from_s += part * (all.to_s - all.from_s) / 3;
        if (Summary_read(summary, all, nobody))
            abort();
        snapshot = Summary_snapshot(summary);
        for (i = 0; snapshot && i < snapshot->function_count; i++)
            Listing_free(Summary_listing(summary, snapshot->functions[i].id));
        FlameTable_free(Summary_stacks(summary));
        Snapshot_free(snapshot);
    }
    Summary_close(summary);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("recording", MFD_CLOEXEC);
    struct RecordingReader reader;
    char path[64], why[256];
    const char *const paths[] = {path, path};
    struct Conversion conversion = {
        .paths = paths,
        .path_count = 1,
        .output = {.path = "/tmp/ocular-fuzz.folded"},
        .facts = Snapshot_new()};

    if (fd < 0)
        abort();
    if (size)
        fill(fd, data, size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (RecordingReader_open(&reader, path, (struct RecordingWatch){0}, why,
                             sizeof why) == 0) {
        write_to_null(&reader, "x.json");
        write_to_null(&reader, "x.pftrace");
        RecordingReader_close(&reader);
        show(path);
        Conversion_run(&conversion);
        unlink("/tmp/ocular-fuzz.folded");
        Snapshot_renew(conversion.facts);
        conversion.path_count = 2;
        conversion.output.path = "/tmp/ocular-fuzz.json";
        Conversion_run(&conversion);
        unlink("/tmp/ocular-fuzz.json");
    } else if (!*why) {
        abort();
    }
    Snapshot_free(conversion.facts);
    close(fd);
    return 0;
}
