// SPDX-License-Identifier: MIT
#include "tracer/sample/wait_call.h"

#include <limits.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static bool is_of_files(long number)
{
    switch (number) {
#ifdef SYS_open
    case SYS_open:
    case SYS_stat:
    case SYS_lstat:
    case SYS_rename:
    case SYS_unlink:
    case SYS_mkdir:
    case SYS_rmdir:
#endif
    case SYS_openat:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS_preadv:
    case SYS_pwritev:
    case SYS_preadv2:
    case SYS_pwritev2:
    case SYS_copy_file_range:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_sync:
    case SYS_syncfs:
    case SYS_sync_file_range:
    case SYS_msync:
    case SYS_flock:
    case SYS_fcntl: // Of the operations of fcntl, only a file lock waits.
    case SYS_ftruncate:
    case SYS_fallocate:
    case SYS_close:
    case SYS_fstat:
    case SYS_newfstatat:
    case SYS_statx:
    case SYS_getdents64:
    case SYS_renameat:
    case SYS_renameat2:
    case SYS_unlinkat:
    case SYS_mkdirat:
        return true;
    default:
        return false;
    }
}

// Returns WAITS_SOCKET if the descriptor in the system call's first argument is
// a socket, otherwise WAITS_FILE. Returns WAIT_UNKNOWN if this is not known. A
// caller that has its own table of descriptors asks /proc. A caller that shares
// the program's table of descriptors calls fstat(), because the program's
// filter of system calls may forbid readlink(). The kind is unknown if the
// program has set a filter of system calls later.
static enum WaitKind of_descriptor(const struct WaitCall *call)
{
    char path[64], target[16] = "";
    struct stat status;
    bool known, socket;

    if (call->first > INT_MAX)
        return WAIT_UNKNOWN;
    if (call->own_files) {
        snprintf(path, sizeof path, "/proc/self/task/%d/fd/%d", (int)call->tid,
                 (int)call->first);
        known = readlink(path, target, sizeof target - 1) > 0;
        socket = strncmp(target, "socket:", 7) == 0;
    } else {
        known = fstat((int)call->first, &status) == 0;
        socket = known && S_ISSOCK(status.st_mode);
    }
    return !known ? WAIT_UNKNOWN : socket ? WAITS_SOCKET : WAITS_FILE;
}

// After a stop, for example by a debugger, the kernel continues a call with a
// time-out as SYS_restart_syscall with the same arguments. The arguments show
// which system call was continued, and `restarted` returns its number. The
// first argument of clock_nanosleep is the number of a clock. The second
// argument of poll is the number of descriptors, of futex an operation with
// flags, and of nanosleep a pointer.
static long restarted(const struct WaitCall *call)
{
    uint64_t command = call->second & FUTEX_CMD_MASK;

    if (call->number != SYS_restart_syscall)
        return call->number;
    if (call->first < 16 || call->second == 0 || call->second > UINT16_MAX)
        return SYS_nanosleep;
    if (call->second & ~(uint64_t)FUTEX_CMD_MASK &&
        (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET ||
         command == FUTEX_WAIT_REQUEUE_PI))
        return SYS_futex;
    return SYS_ppoll;
}

// Returns the kind of a wait for any of `count` descriptors.
static enum WaitKind of_poll(uint64_t count, bool *polls)
{
    *polls = count != 0;
    return count ? WAITS_SOCKET : WAITS_SLEEP;
}

enum WaitKind WaitCall_kind(const struct WaitCall *call, bool *polls)
{
    long number = restarted(call);

    *polls = false;
    switch (number) {
#ifdef SYS_accept
    case SYS_accept:
#endif
    case SYS_accept4:
        return WAITS_IDLE; // The thread has no request to serve.
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
        return of_poll(call->second, polls);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
        return of_poll(call->first, polls);
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
    case SYS_epoll_pwait:
        return of_poll(1, polls);
    case SYS_connect:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_recvmmsg:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
        return WAITS_SOCKET;
    // The descriptor may be a socket.
    case SYS_read:
    case SYS_readv:
    case SYS_write:
    case SYS_writev:
    case SYS_sendfile:
    case SYS_splice:
        return of_descriptor(call);
    case SYS_futex:
        return WAITS_LOCK;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
        return WAITS_SLEEP;
    default:
        return is_of_files(number) ? WAITS_FILE : WAITS_OTHER;
    }
}
