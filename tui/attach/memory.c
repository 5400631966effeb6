// SPDX-License-Identifier: MIT
// See memory.h.
#define _GNU_SOURCE 1 // process_vm_readv
#include "tui/attach/memory.h"

#include <errno.h>
#include <sys/uio.h>

// The address of another process is a number here, and never dereferenced.
static struct iovec range(uint64_t address, size_t size)
{
    return (struct iovec){(void *)(uintptr_t)address, size};
}

static int result(ssize_t moved, size_t size)
{
    if (moved < 0)
        return -errno;
    return (size_t)moved == size ? 0 : -EFAULT;
}

int Memory_read(pid_t pid, uint64_t address, void *out, size_t size)
{
    struct iovec here = {out, size}, there = range(address, size);
    return result(process_vm_readv(pid, &here, 1, &there, 1, 0), size);
}

int Memory_write(pid_t pid, uint64_t address, const void *data, size_t size)
{
    struct iovec here = {(void *)(uintptr_t)data, size};
    struct iovec there = range(address, size);
    return result(process_vm_writev(pid, &here, 1, &there, 1, 0), size);
}
