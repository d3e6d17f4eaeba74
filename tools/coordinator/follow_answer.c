// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/follow_answer.h"

#include <string.h>

#include "tools/coordinator/inventory_lines.h"

tfrt_status_t tfrt_follow_answer_parse(tfrt_string_view_t text, tfrt_follow_answer_t* out_answer) {
  *out_answer = (tfrt_follow_answer_t){0};
  tfrt_inventory_line_t line;
  out_answer->lines = text;
  if (!tfrt_inventory_lines_next(&out_answer->lines, &line) ||
      !tfrt_inventory_line_is(&line, "detached")) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the host says something about the job that makes no sense; run the "
                              "same release everywhere");
  }
  out_answer->is_starting =
      tfrt_inventory_line_has(&line, "state", tfrt_string_view_of("starting"));
  out_answer->has_ended = tfrt_inventory_line_has(&line, "state", tfrt_string_view_of("ended"));
  out_answer->function = tfrt_inventory_line_text(&line, "function");
  out_answer->result_count = (uint32_t)tfrt_inventory_line_number(&line, "results");
  out_answer->from = tfrt_inventory_line_number(&line, "from");
  out_answer->next = tfrt_inventory_line_number(&line, "next");
  out_answer->has_more = tfrt_inventory_line_number(&line, "more") != 0;
  out_answer->is_loss = tfrt_inventory_line_number(&line, "lost") != 0;
  return NULL;
}

// Takes the number before |end| off |*text|; false if there is none.
static bool tfrt_follow_answer_take_number(tfrt_string_view_t* text, char end,
                                           uint32_t* out_number) {
  uint64_t number = 0;
  size_t size = 0;
  while (size < text->size && text->data[size] >= '0' && text->data[size] <= '9') {
    number = 10 * number + (uint64_t)(text->data[size++] - '0');
    if (number > UINT32_MAX) return false;
  }
  if (size == 0 || size == text->size || text->data[size] != end) return false;
  *text = tfrt_string_view_make(text->data + size + 1, text->size - size - 1);
  *out_number = (uint32_t)number;
  return true;
}

bool tfrt_follow_answer_take_line(tfrt_follow_answer_t* answer, uint32_t* out_rank,
                                  tfrt_string_view_t* out_text) {
  uint32_t size = 0;
  tfrt_string_view_t rest = answer->lines;
  answer->lines.size = 0;
  if (!tfrt_follow_answer_take_number(&rest, ' ', out_rank)) return false;
  if (!tfrt_follow_answer_take_number(&rest, '\n', &size) || rest.size <= size) return false;
  *out_text = tfrt_string_view_make(rest.data, size);
  answer->lines = tfrt_string_view_make(rest.data + size + 1, rest.size - size - 1);
  return true;
}
