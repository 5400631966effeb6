// SPDX-License-Identifier: MIT
#define _GNU_SOURCE 1 // process_vm_readv
#include "tui/attach/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

// Describes a range of addresses in another process by a struct iovec. The
// pointer in the struct is never dereferenced in this process.
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

// A container such as Docker's may refuse process_vm_readv() but allow
// /proc/PID/mem.
static bool is_refused(ssize_t moved)
{
    return moved < 0 && (errno == EPERM || errno == ENOSYS);
}

static int open_memory(pid_t pid, int mode)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    return open(path, mode | O_CLOEXEC);
}

int ProcessMemory_read(pid_t pid, uint64_t address, void *out, size_t size)
{
    struct iovec here = {out, size}, there = range(address, size);
    ssize_t moved = process_vm_readv(pid, &here, 1, &there, 1, 0);
    int file = is_refused(moved) ? open_memory(pid, O_RDONLY) : -1;
    if (file < 0)
        return result(moved, size);
    int error = result(pread(file, out, size, (off_t)address), size);
    close(file);
    // No memory is mapped at the address.
    return error == -EIO ? -EFAULT : error;
}

int ProcessMemory_write(pid_t pid, uint64_t address, const void *data,
                        size_t size)
{
    struct iovec here = {(void *)(uintptr_t)data, size};
    struct iovec there = range(address, size);
    ssize_t moved = process_vm_writev(pid, &here, 1, &there, 1, 0);
    int file = is_refused(moved) ? open_memory(pid, O_WRONLY) : -1;
    if (file < 0)
        return result(moved, size);
    int error = result(pwrite(file, data, size, (off_t)address), size);
    close(file);
    return error == -EIO ? -EFAULT : error;
}
