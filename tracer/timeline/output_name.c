// SPDX-License-Identifier: MIT
#include "tracer/timeline/output_name.h"
#include "ipc/file_kind.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool OutputName_is_device(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 && S_ISCHR(status.st_mode);
}

bool OutputName_is_taken(const char *path)
{
    return access(path, F_OK) == 0 && !OutputName_is_device(path);
}

static void number_name(const char *output, unsigned number,
                        char path[PATH_MAX])
{
    size_t stem = FileKind_of(output).stem;
    char tag[16] = "";

    if (number > 1)
        snprintf(tag, sizeof tag, ".%u", number);
    snprintf(path, PATH_MAX, "%.*s.%d%s%s", (int)stem, output, (int)getpid(),
             tag, output + stem);
}

void OutputName_own(const char *output, char path[PATH_MAX])
{
    if (OutputName_is_device(output))
        snprintf(path, PATH_MAX, "%s", output);
    else
        number_name(output, 1, path);
}

void OutputName_recording(const char *output, const char *folder,
                          unsigned number, char path[PATH_MAX])
{
    size_t stem = FileKind_of(output).stem;
    const char *slash = strrchr(output, '/');
    size_t begin = *folder && slash ? (size_t)(slash - output) + 1 : 0;
    char pid[16], tag[16] = "";
    int size = snprintf(pid, sizeof pid, ".%d", (int)getpid());

    // In a forked child, the name of the output already contains the pid.
    if (stem > begin + (size_t)size &&
        !strncmp(output + stem - size, pid, (size_t)size))
        stem -= (size_t)size;
    if (number > 1)
        snprintf(tag, sizeof tag, ".%u", number);
    snprintf(path, PATH_MAX, "%s%s%.*s%s%s.ocular", folder, *folder ? "/" : "",
             (int)(stem - begin), output + begin, pid, tag);
}

void OutputName_choose(const char *output, char path[PATH_MAX])
{
    unsigned number;

    snprintf(path, PATH_MAX, "%s", output);
    for (number = 1; OutputName_is_taken(path) && number < 10000; number++)
        number_name(output, number, path);
}
