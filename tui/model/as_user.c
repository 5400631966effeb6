// SPDX-License-Identifier: MIT
// AsUser changes only the user and group for file access (setfsuid). If the old
// user was root, the kernel also drops the capabilities that override the mode
// of a file.
#include "tui/model/as_user.h"

#include <errno.h>
#include <grp.h>
#include <sys/fsuid.h>
#include <unistd.h>

// Replaces the groups of the viewer by the groups of the user, because the
// viewer's groups may open files that the user must not open. In a user
// namespace the kernel may forbid a change of groups, but there the viewer has
// few groups.
static void change_groups(struct AsUser *as, const struct ProcessUser *user)
{
    as->group_count = getgroups(PROCESS_GROUPS, as->groups);
    if (as->group_count >= 0 && setgroups(user->group_count, user->groups))
        as->group_count = -1;
}

int AsUser_begin(struct AsUser *as, const struct ProcessUser *user)
{
    *as = (struct AsUser){.changed = geteuid() == 0 && user->uid != 0};
    if (!as->changed)
        return 0;
    change_groups(as, user);
    setfsgid(user->gid);
    setfsuid(user->uid);
    // setfsuid() returns the previous id instead of an error. setfsuid(-1) only
    // returns the current id.
    if ((uid_t)setfsuid((uid_t)-1) == user->uid &&
        (gid_t)setfsgid((gid_t)-1) == user->gid)
        return 0;
    AsUser_end(as);
    return -EPERM;
}

void AsUser_end(struct AsUser *as)
{
    if (!as->changed)
        return;
    setfsuid(geteuid());
    setfsgid(getegid());
    if (as->group_count >= 0)
        setgroups((size_t)as->group_count, as->groups);
    as->changed = false;
}
