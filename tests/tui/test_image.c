// SPDX-License-Identifier: MIT
// Searches for exported symbols of libraries in the memory of this process. The
// search must also end if the memory contains random bytes.
#define _GNU_SOURCE 1 // for dladdr()
#include "tui/attach/image.h"

#include "tests/random.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit.h"

#define ROUNDS 20000
#define BEGINNING 2048 // bytes of the header and of the table of segments

// Returns the address at which the C library is loaded.
static uint64_t library(void)
{
    Dl_info info;
    void *function = dlsym(RTLD_DEFAULT, "getppid");
    assert_true(dladdr(function, &info) != 0);
    return (uintptr_t)info.dli_fbase;
}

TEST(test_what_is_no_image_is_refused)
{
    struct Image image;
    char text[BEGINNING] = "no library";
    assert_int_equal(Image_load(&image, getpid(), (uintptr_t)text), -ENOEXEC);
    assert_int_equal(Image_load(&image, getpid(), 0), -EFAULT);
    assert_int_equal(Image_load(&image, 1 << 30, library()), -ESRCH);
    memset(text, 0, sizeof text);
    memcpy(text, ELFMAG, SELFMAG);
    text[EI_CLASS] = ELFCLASS64;
    assert_int_equal(Image_load(&image, getpid(), (uintptr_t)text), -ENOEXEC);
}

// First changes random bytes at the beginning of the library, and then the
// addresses of its symbol table.
TEST(test_garbage_ends)
{
    struct Image good;
    char *copy = malloc(BEGINNING);
    assert_non_null(copy);
    assert_int_equal(Image_load(&good, getpid(), library()), 0);
    for (int i = 0; i < ROUNDS; i++) {
        struct Image image;
        struct Symbol found;
        memcpy(copy, (const void *)(uintptr_t)library(), BEGINNING);
        for (int j = 0; j < 4; j++)
            copy[random_u64() % BEGINNING] = (char)random_u64();
        if (Image_load(&image, getpid(), (uintptr_t)copy) == 0)
            Image_find(&image, "getppid", &found);
        image = good;
        uint64_t *fields[] = {&image.symbols, &image.names, &image.hash};
        *fields[i % 3] += random_u64() % 100000;
        Image_find(&image, "getppid", &found);
    }
    free(copy);
}
