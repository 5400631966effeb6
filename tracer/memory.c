// SPDX-License-Identifier: MIT
// The three ways of reading our own memory; see the header.
#define _GNU_SOURCE 1 // process_vm_readv
#include "tracer/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define BATCH 32 // parts a system call
#define AGAIN_NS 2000000000u

static bool works(const struct Memory *memory)
{
    static const uint64_t probe = 0x6f63756c61720a0du;
    uint64_t copy = 0;

    return Memory_read(memory, (uintptr_t)&probe, &copy, sizeof(copy)) &&
           copy == probe;
}

static void open_file(struct Memory *memory)
{
    int fd = Opened_above(open("/proc/self/mem", O_RDONLY | O_CLOEXEC));

    Opened_note(&memory->opened, fd);
    memory->fd = fd;
    memory->again_ns = 0;
}

static bool choose(struct Memory *memory)
{
    memory->pushes = true;
    if (works(memory))
        return true;
    memory->pushes = false;
    if (works(memory))
        return true;
    memory->by_file = true;
    open_file(memory);
    return works(memory);
}

int Memory_open(struct Memory *memory)
{
    *memory = (struct Memory){.pid = getpid(), .fd = -1};
    if (choose(memory))
        return 0;
    Memory_close(memory);
    return -EPERM;
}

bool Memory_recover(struct Memory *memory)
{
    // The file's turn comes again by itself: Memory_keep.
    return works(memory) || (!memory->by_file && choose(memory));
}

void Memory_close(struct Memory *memory)
{
    Opened_close(&memory->opened, memory->fd);
    memory->fd = -1;
}

void Memory_keep(struct Memory *memory, uint64_t now_ns)
{
    if (!memory->by_file || Opened_holds(&memory->opened, memory->fd))
        return;
    memory->fd = -1;
    if (!memory->again_ns)
        memory->again_ns = now_ns + AGAIN_NS;
    else if (now_ns >= memory->again_ns)
        open_file(memory);
}

static bool adjoins(const struct iovec *before, const void *to)
{
    return (char *)before->iov_base + before->iov_len == to;
}

static bool read_file(int fd, uintptr_t from, void *to, size_t size)
{
    ssize_t got;

    do
        got = pread(fd, to, size, (off_t)from);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

// Not the C library's: sanitizers check what that is given to read, and report
// the program whose memory it is.
static ssize_t push(pid_t pid, const struct iovec *from, size_t count,
                    const struct iovec *to, size_t places)
{
    return syscall(SYS_process_vm_writev, pid, from, count, to, places, 0ul);
}

// One system call for 1 to BATCH parts. It stops at the first that fails;
// returns how many it has settled, that one included.
static size_t read_batch(const struct Memory *memory, struct MemoryPart *parts,
                         size_t count)
{
    struct iovec from[BATCH], to[BATCH];
    size_t places = 0, left, i;
    ssize_t got;

    for (i = 0; i < count; i++) {
        from[i] = (struct iovec){(void *)parts[i].from, parts[i].size};
        // The kernel takes its time between two places to write to.
        if (places > 0 && adjoins(&to[places - 1], parts[i].to))
            to[places - 1].iov_len += parts[i].size;
        else
            to[places++] = (struct iovec){parts[i].to, parts[i].size};
    }
    got = memory->pushes
              ? push(memory->pid, from, count, to, places)
              : process_vm_readv(memory->pid, to, places, from, count, 0);
    // Addresses that no program can have fail it all before anything is read.
    if (got < 0 && count > 1)
        return read_batch(memory, parts, 1);
    left = got > 0 ? (size_t)got : 0;
    for (i = 0; i < count && left >= parts[i].size; i++) {
        parts[i].read = true;
        left -= parts[i].size;
    }
    return i < count ? i + 1 : count;
}

void Memory_read_parts(const struct Memory *memory, struct MemoryPart *parts,
                       size_t count)
{
    size_t done = 0;

    for (size_t i = 0; i < count; i++)
        parts[i].read = false;
    if (memory->by_file && !Opened_holds(&memory->opened, memory->fd))
        return; // another file's number
    while (done < count) {
        size_t left = count - done;

        if (!memory->by_file) {
            done +=
                read_batch(memory, parts + done, left < BATCH ? left : BATCH);
            continue;
        }
        parts[done].read = parts[done].size == 0 ||
                           read_file(memory->fd, parts[done].from,
                                     parts[done].to, parts[done].size);
        done++;
    }
}

bool Memory_read(const struct Memory *memory, uintptr_t from, void *to,
                 size_t size)
{
    struct MemoryPart part = {from, to, size, false};

    Memory_read_parts(memory, &part, 1);
    return part.read;
}

// The kernel reads the set before it refuses to do with it what it does not
// know (kernel/signal.c, rt_sigprocmask).
bool Memory_is_readable(uintptr_t at)
{
    const long nothing = -1, set_size = 8;

    return syscall(SYS_rt_sigprocmask, nothing, at, NULL, set_size) < 0 &&
           errno == EINVAL;
}
