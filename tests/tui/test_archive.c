// SPDX-License-Identifier: MIT
// Tests the reader of zip archives. Each member is read completely or not at
// all, even if the archive has random bytes.
#include "tests/random.h"
#include "tui/model/archive.h"

#include <string.h>
#include <unistd.h>

#include "tests/unit.h"

// Bytes of an archive that these commands have made: python3 -c 'import zipfile
// as z f = z.ZipFile("a.zip", "w"); f.writestr("a.py", "x = 1 ")
// f.writestr("p/b.py", "y = 2 " * 50, z.ZIP_DEFLATED)'
static const uint8_t archive[] = {
    0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x21, 0x00, 0x3b, 0x89, 0xf6, 0x8b, 0x06, 0x00, 0x00, 0x00, 0x06, 0x00,
    0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x61, 0x2e, 0x70, 0x79, 0x78, 0x20,
    0x3d, 0x20, 0x31, 0x0a, 0x50, 0x4b, 0x03, 0x04, 0x14, 0x00, 0x00, 0x00,
    0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x03, 0xa5, 0xb9, 0x31, 0x0c, 0x00,
    0x00, 0x00, 0x2c, 0x01, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x70, 0x2f,
    0x62, 0x2e, 0x70, 0x79, 0xab, 0x54, 0xb0, 0x55, 0x30, 0xe2, 0xaa, 0x1c,
    0x25, 0x89, 0x20, 0x01, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03, 0x14, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x21, 0x00, 0x3b, 0x89, 0xf6, 0x8b,
    0x06, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00, 0x00,
    0x00, 0x00, 0x61, 0x2e, 0x70, 0x79, 0x50, 0x4b, 0x01, 0x02, 0x14, 0x03,
    0x14, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x03, 0xa5,
    0xb9, 0x31, 0x0c, 0x00, 0x00, 0x00, 0x2c, 0x01, 0x00, 0x00, 0x06, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01,
    0x28, 0x00, 0x00, 0x00, 0x70, 0x2f, 0x62, 0x2e, 0x70, 0x79, 0x50, 0x4b,
    0x05, 0x06, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x02, 0x00, 0x66, 0x00,
    0x00, 0x00, 0x58, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static int file_of(const uint8_t *bytes, size_t size)
{
    char path[] = "/tmp/ocular-archive-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(write(fd, bytes, size), size);
    return fd;
}

static char *get(const uint8_t *bytes, size_t all, const char *member,
                 const char **why)
{
    int fd = file_of(bytes, all);
    size_t size;
    char *text = Archive_read(fd, member, 1 << 20, &size, why);
    close(fd);
    if (text)
        assert_int_equal(text[size], 0);
    return text;
}

TEST(test_stored_and_deflated)
{
    const char *why;
    char *text = get(archive, sizeof archive, "a.py", &why);
    assert_string_equal(text, "x = 1\n");
    free(text);
    text = get(archive, sizeof archive, "p/b.py", &why);
    assert_int_equal(strlen(text), 300);
    assert_memory_equal(text + 294, "y = 2\n", 7);
    free(text);
    assert_null(get(archive, sizeof archive, "b.py", &why));
    assert_string_equal(why, "is not in its archive any more");
    assert_null(get(archive, 20, "a.py", &why));
    assert_string_equal(why, "is in a file that is no zip archive");
    assert_null(get(archive, 0, "a.py", &why));
}

// The archive made by "zipapp" begins with a script, and its offsets count from
// the beginning of the script.
TEST(test_a_script_before_it)
{
    static const char script[] = "#!/usr/bin/env python3\n";
    uint8_t both[sizeof script - 1 + sizeof archive];
    const char *why;
    memcpy(both, script, sizeof script - 1);
    memcpy(both + sizeof script - 1, archive, sizeof archive);
    char *text = get(both, sizeof both, "a.py", &why);
    assert_string_equal(text, "x = 1\n");
    free(text);
}

TEST(test_too_large)
{
    const char *why;
    size_t size;
    int fd = file_of(archive, sizeof archive);
    assert_null(Archive_read(fd, "p/b.py", 299, &size, &why));
    assert_string_equal(why, "is too large in its archive");
    close(fd);
}

TEST(test_damage)
{
    uint8_t copy[sizeof archive];
    unsigned good = 0, bad = 0;
    for (int round = 0; round < 3000; round++) {
        size_t size = sizeof archive;
        const char *why;
        memcpy(copy, archive, sizeof archive);
        for (uint64_t i = random_u64() % 4; i--;)
            copy[random_u64() % size] = (uint8_t)random_u64();
        if (random_u64() % 4 == 0)
            size = random_u64() % size;
        char *text = get(copy, size, round % 2 ? "a.py" : "p/b.py", &why);
        good += text != NULL;
        bad += text == NULL;
        free(text);
    }
    assert_true(good > 100 && bad > 100);
}
