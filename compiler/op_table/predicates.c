// SPDX-License-Identifier: Apache-2.0

#include "compiler/op_table/predicates.h"

#include "host_runtime/base/macros.h"

static const char* const of_integers[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                          "sge", "ult", "ule", "ugt", "uge"};
static const char* const of_floats[] = {"false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                        "ueq",   "ugt", "uge", "ult", "ule", "une", "uno", "true"};

static const char* const of_memory[] = {
    "addf",     "addi",    "andi", "assign", "maximumf", "maxnumf", "maxs", "maxu",
    "minimumf", "minnumf", "mins", "minu",   "mulf",     "muli",    "ori",  "xori"};

const char* tfrt_predicate_name(bool is_float, uint64_t number) {
  if (is_float) return number < TFRT_ARRAY_SIZE(of_floats) ? of_floats[number] : NULL;
  return number < TFRT_ARRAY_SIZE(of_integers) ? of_integers[number] : NULL;
}

uint32_t tfrt_predicate_find(bool is_float, tfrt_string_view_t name) {
  const char* text;
  for (uint32_t i = 0; (text = tfrt_predicate_name(is_float, i)) != NULL; ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(text))) return i;
  }
  return UINT32_MAX;
}

const char* tfrt_atomic_change_name(uint64_t number) {
  return number < TFRT_ARRAY_SIZE(of_memory) ? of_memory[number] : NULL;
}

uint32_t tfrt_atomic_change_find(tfrt_string_view_t name) {
  for (uint32_t i = 0; i < TFRT_ARRAY_SIZE(of_memory); ++i) {
    if (tfrt_string_view_equal(name, tfrt_string_view_of(of_memory[i]))) return i;
  }
  return UINT32_MAX;
}
