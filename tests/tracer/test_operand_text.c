// SPDX-License-Identifier: MIT
// Operand text comes back by kind and number, and none that was not added.
#include "tracer/session/operand_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void test_by_kind_and_number(void **state)
{
    struct OperandText *operands = OperandText_new(7);
    char text[32];
    uint32_t i;

    (void)state;
    assert_int_equal(operands->id, 7);
    assert_null(OperandText_get(operands, TEXT_NAMES, 0));
    for (i = 0; i < 5000; i++) {
        snprintf(text, sizeof text, "name%u", i);
        assert_int_equal(OperandText_add(operands, TEXT_NAMES, text), 0);
    }
    assert_int_equal(OperandText_add(operands, TEXT_CONSTS, ""), 0);
    assert_string_equal(OperandText_get(operands, TEXT_NAMES, 0), "name0");
    assert_string_equal(OperandText_get(operands, TEXT_NAMES, 4999),
                        "name4999");
    assert_null(OperandText_get(operands, TEXT_NAMES, 5000));
    assert_null(OperandText_get(operands, TEXT_NAMES, UINT32_MAX));
    assert_string_equal(OperandText_get(operands, TEXT_CONSTS, 0), "");
    assert_null(OperandText_get(operands, TEXT_LOCALS, 0));
    assert_true(OperandText_bytes(operands) > 5000 * 9);
    OperandText_free(operands);
    OperandText_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_kind_and_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
