// SPDX-License-Identifier: MIT
#include "ipc/places.h"
#include "ipc/process.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void Places_add(struct Places *places, const char *format, ...)
{
    char *place = places->directories[places->count];
    va_list arguments;
    int wanted;

    if (places->count ==
        sizeof(places->directories) / sizeof(places->directories[0]))
        return;
    va_start(arguments, format);
    wanted = vsnprintf(place, ADDRESS_MAX, format, arguments);
    va_end(arguments);
    if (wanted >= ADDRESS_MAX || *place != '/')
        return; // A socket's directory has a short and absolute path.
    for (unsigned i = 0; i < places->count; i++) {
        if (!strcmp(places->directories[i], place))
            return;
    }
    places->count++;
}

void Places_add_own(struct Places *places)
{
    const char *chosen = getenv("OCULAR_DIR");
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (Places_is_set(chosen))
        Places_add(places, "%s", chosen);
    if (Places_is_set(runtime))
        Places_add(places, "%s/ocular", runtime);
}

void Places_add_usual(struct Places *places, const char *root, uid_t uid)
{
    Places_add(places, "%s/run/user/%u/ocular", root, (unsigned)uid);
    Places_add(places, "%s/tmp/ocular-%u", root, (unsigned)uid);
}

void Places_add_its(struct Places *places, const char *root, pid_t pid)
{
    char value[ADDRESS_MAX];

    if (Process_variable(pid, "OCULAR_DIR", value, sizeof(value)) > 0)
        Places_add(places, "%s%s", root, value);
    if (Process_variable(pid, "XDG_RUNTIME_DIR", value, sizeof(value)) > 0)
        Places_add(places, "%s%s/ocular", root, value);
}
