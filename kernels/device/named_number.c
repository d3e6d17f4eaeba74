// SPDX-License-Identifier: Apache-2.0
#include "kernels/device/named_number.h"

#include <stdio.h>

#include "host_runtime/bef/bef_attribute.h"

// Room for the names of a table in a message.
#define TFRT_NAMED_NUMBERS_TEXT_SIZE 512

tfrt_status_t tfrt_named_number_read(const tfrt_named_numbers_t* numbers, const void* attribute,
                                     int* out_number) {
  tfrt_string_view_t name = tfrt_bef_attribute_string(attribute);
  for (size_t i = 0; i < numbers->count; ++i) {
    if (!tfrt_string_view_equal(name, tfrt_string_view_of(numbers->numbers[i].name))) continue;
    *out_number = numbers->numbers[i].number;
    return NULL;
  }
  char text[TFRT_NAMED_NUMBERS_TEXT_SIZE] = "";
  size_t used = 0;
  for (size_t i = 0; i < numbers->count && used < sizeof(text); ++i) {
    used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", i > 0 ? ", " : "",
                             numbers->numbers[i].name);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "'%.*s' is no %s, which is one of: %s",
                            TFRT_STRING_VIEW_ARGUMENTS(name), numbers->what, text);
}
