// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // for process_vm_readv
#include "tracer/sample/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

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
    int fd = Opened_open("/proc/self/mem", O_RDONLY, 0);

    Opened_note(&memory->opened, fd);
    memory->fd = fd;
    memory->again_ns = 0;
}

static bool choose(struct Memory *memory)
{
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
    // If the program has closed /proc/self/mem, only Memory_keep opens the file
    // again, not Memory_recover.
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

static bool read_file(int fd, uintptr_t from, void *to, size_t size)
{
    ssize_t got;

    do
        got = pread(fd, to, size, (off_t)from);
    while (got < 0 && errno == EINTR);
    return got == (ssize_t)size;
}

bool Memory_read(const struct Memory *memory, uintptr_t from, void *to,
                 size_t size)
{
    struct iovec theirs = {(void *)from, size}, ours = {to, size};

    // The descriptor's number may belong to another file now.
    if (memory->by_file)
        return Opened_holds(&memory->opened, memory->fd) &&
               read_file(memory->fd, from, to, size);
    return process_vm_readv(memory->pid, &ours, 1, &theirs, 1, 0) ==
           (ssize_t)size;
}

// Returns true if the memory at `at` can be read. The kernel reads a signal set
// at `at` before it refuses the unknown operation (kernel/signal.c,
// rt_sigprocmask).
bool Memory_is_readable(uintptr_t at)
{
    const long nothing = -1, set_size = 8;

    return syscall(SYS_rt_sigprocmask, nothing, at, NULL, set_size) < 0 &&
           errno == EINVAL;
}
