// SPDX-License-Identifier: Apache-2.0
#include "kernels/test/native_functions.h"

#include "kernels/test/async_kernels.h"

// Takes anything and gives nothing.
static void test_native_sink(tfrt_kernel_frame_t* frame) { (void)frame; }

// Takes anything and gives a chain.
static void test_native_async_sink(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}

static void test_native_add(tfrt_kernel_frame_t* frame) {
  uint32_t sum =
      (uint32_t)tfrt_kernel_frame_i32(frame, 0) + (uint32_t)tfrt_kernel_frame_i32(frame, 1);
  tfrt_kernel_frame_set_i32(frame, 0, (int32_t)sum);
}

static void test_native_error(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INTERNAL, "something bad happened");
}

// --- Signatures ----------------------------------------------------------------

static const tfrt_operand_descriptor_t any_arguments[] = {
    {"arguments", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED},
};
static const tfrt_operand_descriptor_t two_i32[] = {
    {"lhs", "i32", TFRT_OPERAND_DEMANDED},
    {"rhs", "i32", TFRT_OPERAND_DEMANDED},
};
static const tfrt_result_descriptor_t chain_result[] = {{"chain", "!tfrt.chain"}};
static const tfrt_result_descriptor_t i32_result[] = {{"result", "i32"}};

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "native_sink",
     .summary = "Does nothing.",
     TFRT_OPERANDS(any_arguments),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS},
    {.name = "native_async_sink",
     .summary = "Gives a chain.",
     TFRT_OPERANDS(any_arguments),
     TFRT_RESULTS(chain_result),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS},
    {.name = "native_add",
     .summary = "The sum of both arguments.",
     TFRT_OPERANDS(two_i32),
     TFRT_RESULTS(i32_result)},
    {.name = "native_async_add",
     .summary = "The sum of both arguments, later.",
     TFRT_OPERANDS(two_i32),
     TFRT_RESULTS(i32_result)},
    {.name = "native_error", .summary = "An error.", TFRT_RESULTS(i32_result)},
};

// --- Registration --------------------------------------------------------------

tfrt_status_t tfrt_test_native_functions_register(tfrt_kernel_registry_t* registry) {
  static const tfrt_kernel_registration_t functions[] = {
      {"native_sink", test_native_sink},   {"native_async_sink", test_native_async_sink},
      {"native_add", test_native_add},     {"native_async_add", tfrt_test_async_add_i32},
      {"native_error", test_native_error},
  };
  static const tfrt_kernel_table_t table = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
  return tfrt_kernel_registry_add_natives(registry, &table, functions, TFRT_ARRAY_SIZE(functions));
}
