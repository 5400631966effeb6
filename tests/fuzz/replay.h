// SPDX-License-Identifier: MIT
// Replaces libFuzzer. Runs the inputs in the given files and folders, so that
// every machine tests the kept corpus (test_fuzz.py). Prints the number of
// inputs. The file of each fuzzer includes this header.
#pragma once

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define REPLAY_MAX ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int replay_file(const char *path)
{
    // The memory is exactly as large as the input, so that reading beyond the
    // input is noticed.
    uint8_t *room = malloc(REPLAY_MAX), *data;
    FILE *file = fopen(path, "rb");
    size_t size;

    if (!room || !file)
        return -1;
    size = fread(room, 1, REPLAY_MAX, file);
    fclose(file);
    data = realloc(room, size ? size : 1);
    LLVMFuzzerTestOneInput(data, size);
    free(data);
    return 0;
}

static inline int replay_folder(const char *path)
{
    DIR *stream = opendir(path);
    const struct dirent *entry;
    char name[4096];
    int count = 0;

    while (stream && (entry = readdir(stream))) {
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        if (entry->d_name[0] != '.' && replay_file(name) == 0)
            count++;
    }
    if (stream)
        closedir(stream);
    return count;
}

#ifndef FUZZING
int main(int argc, char **argv)
{
    int count = 0;

    for (int i = 1; i < argc; i++)
        count += replay_folder(argv[i]);
    printf("%d\n", count);
    return count ? 0 : 1;
}
#endif
