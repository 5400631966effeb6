// SPDX-License-Identifier: MIT
// Fuzzes the replay of recordings. The file for ocular-top --replay has
// arbitrary bytes. The viewer plays the file to its end, and sends requests
// meanwhile.
#include "tests/fuzz/replay.h"
#include "tui/model/capture.h"
#include "tui/model/playback.h"

#include <sys/mman.h>
#include <unistd.h>

#define STEPS 1000

static void ask(struct Playback *replay, enum MessageType type, uint64_t about)
{
    struct Message request = {.type = type, .number = about};

    Playback_request(replay, &request);
}

static void play(struct Playback *replay)
{
    struct Message message = {0};

    for (int i = 0; i < STEPS; i++) {
        int got = Playback_next(replay, &message);

        if (got < 0)
            break;
        if (got > 0)
            Message_release(&message);
        if (i % 8 == 0) {
            ask(replay, MESSAGE_FLAME, 0);
            ask(replay, MESSAGE_DETAIL, (uint64_t)i / 8);
        }
        Playback_step(replay);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("recording", MFD_CLOEXEC);
    struct Playback *replay;
    char path[64], why[256];

    // The file consists of the known magic bytes and the bytes of the fuzzer.
    if (fd < 0 ||
        write(fd, CAPTURE_MAGIC, CAPTURE_MAGIC_SIZE) != CAPTURE_MAGIC_SIZE ||
        write(fd, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (Playback_open(&replay, path, false, why, sizeof(why)) == 0) {
        play(replay);
        Playback_close(replay);
    }
    close(fd);
    return 0;
}
