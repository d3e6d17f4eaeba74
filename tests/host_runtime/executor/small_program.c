// SPDX-License-Identifier: Apache-2.0
#include "tests/host_runtime/executor/small_program.h"

#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/bef/bef_writer.h"
#include "tests/support/test_main.h"

tfrt_host_context_t* small_program_host;

int small_program_early_count;

static tfrt_async_value_t* late_value;
static int32_t late_number;

static void constant(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, (int32_t)tfrt_bef_attribute_read_u32(frame->attributes[0]));
}
static void add(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0,
                            tfrt_kernel_frame_i32(frame, 0) + tfrt_kernel_frame_i32(frame, 1));
}
static void late(tfrt_kernel_frame_t* frame) {
  late_number = tfrt_kernel_frame_i32(frame, 0);
  late_value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(late_value));
}
static void report_failure(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_fail(frame, TFRT_STATUS_INTERNAL, "it failed");
}
static void call_function(tfrt_kernel_frame_t* frame) {
  tfrt_function_execute(frame->functions[0], frame->context, frame->arguments, frame->results);
}
static void negative(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i1(frame, 0, tfrt_kernel_frame_i32(frame, 0) < 0);
}
static void wait_for_value(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}
static void forget(tfrt_kernel_frame_t* frame) { (void)frame; }
static void unique(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i1(frame, 0, tfrt_kernel_frame_is_unique(frame, 0));
}
static void set_twice(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i32(frame, 0, 1);
  tfrt_kernel_frame_set_i32(frame, 0, 2);
}

static void when(tfrt_kernel_frame_t* frame) {
  small_program_early_count += !tfrt_async_value_is_available(frame->arguments[0]);
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(frame->arguments[0]));
}

static void follows_schedule(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i1(frame, 0, frame->scheduled != NULL);
}

static void lie(tfrt_kernel_frame_t* frame) { tfrt_kernel_frame_set_i1(frame, 0, true); }

// Results 0 and 1: a value that was to be an i1 and has failed, and an indirect value that stands
// for it.
static void fail_as_i1(tfrt_kernel_frame_t* frame) {
  tfrt_async_value_t* value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I1);
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INTERNAL, "no i1");
  tfrt_async_value_set_error(value, status);
  tfrt_status_release(status);
  tfrt_indirect_value_t* indirect = tfrt_indirect_value_create();
  tfrt_indirect_value_forward(indirect, value);
  tfrt_kernel_frame_set(frame, 0, value);
  tfrt_kernel_frame_set(frame, 1, &indirect->base);
}

static void sync_constant(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_set_i32(frame, 0, (int32_t)tfrt_bef_attribute_read_u32(frame->attributes[0]));
}
static void sync_add(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_set_i32(frame, 0, tfrt_sync_frame_i32(frame, 0) + tfrt_sync_frame_i32(frame, 1));
}
static void sync_fail(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_fail(frame, TFRT_STATUS_INTERNAL, "it failed");
}
static void sync_call(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_call(frame, frame->functions[0], 0);
}
static void sync_negative(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_set_i1(frame, 0, tfrt_sync_frame_i32(frame, 0) < 0);
}
static void sync_forget(tfrt_sync_frame_t* frame) { (void)frame; }
static void sync_set_twice(tfrt_sync_frame_t* frame) {
  tfrt_sync_frame_set_i32(frame, 0, 1);
  tfrt_sync_frame_set_i32(frame, 0, 2);
}

void small_program_resolve_late(void) {
  tfrt_async_value_t* value = late_value;
  late_value = NULL;
  *(int32_t*)tfrt_async_value_payload(value) = late_number;
  tfrt_async_value_set_available(value);
  tfrt_async_value_release(value);
}

static const tfrt_operand_descriptor_t two_i32[] = {{"a", "i32", TFRT_OPERAND_DEMANDED},
                                                    {"b", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t awaited[] = {{"x", TFRT_TYPE_ANY, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t demanded[] = {{"x", TFRT_TYPE_ANY, TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t passed[] = {{"x", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED}};
static const tfrt_result_descriptor_t i32_result[] = {{"r", "i32"}};
static const tfrt_result_descriptor_t two_i32_results[] = {{"first", "i32"}, {"second", "i32"}};
static const tfrt_result_descriptor_t i1_result[] = {{"r", "i1"}};
static const tfrt_result_descriptor_t chain_result[] = {{"r", "!tfrt.chain"}};
static const tfrt_result_descriptor_t any_result[] = {{"r", TFRT_TYPE_ANY}};
static const tfrt_attribute_descriptor_t value[] = {{"value", TFRT_ATTRIBUTE_I32, NULL}};
static const tfrt_attribute_descriptor_t callee[] = {{"callee", TFRT_ATTRIBUTE_SYMBOL, NULL}};

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "test.constant",
     TFRT_RESULTS(i32_result),
     TFRT_ATTRIBUTES(value),
     .flags = TFRT_KERNEL_CONSTANT | TFRT_KERNEL_SYNC_TOO},
    {.name = "test.add",
     TFRT_OPERANDS(two_i32),
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_SYNC_TOO},
    {.name = "test.cheap_add",
     TFRT_OPERANDS(two_i32),
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_PURE,
     .cost = 10},
    {.name = "test.late", .operands = two_i32, .operand_count = 1, TFRT_RESULTS(i32_result)},
    {.name = "test.fail", TFRT_RESULTS(i32_result), .flags = TFRT_KERNEL_SYNC_TOO},
    {.name = "test.call",
     TFRT_OPERANDS(passed),
     TFRT_RESULTS(any_result),
     TFRT_ATTRIBUTES(callee),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS | TFRT_KERNEL_VARIADIC_RESULTS | TFRT_KERNEL_SYNC_TOO},
    {.name = "test.negative",
     .operands = two_i32,
     .operand_count = 1,
     TFRT_RESULTS(i1_result),
     .flags = TFRT_KERNEL_SYNC_TOO},
    {.name = "test.wait", TFRT_OPERANDS(awaited), TFRT_RESULTS(chain_result)},
    {.name = "test.when",
     TFRT_OPERANDS(awaited),
     TFRT_RESULTS(any_result),
     .flags = TFRT_KERNEL_WAITS_ITSELF},
    {.name = "test.follows_schedule", TFRT_OPERANDS(passed), TFRT_RESULTS(i1_result)},
    {.name = "test.forget", TFRT_RESULTS(i32_result), .flags = TFRT_KERNEL_SYNC_TOO},
    {.name = "test.unique", TFRT_OPERANDS(demanded), TFRT_RESULTS(i1_result)},
    {.name = "test.lie", TFRT_RESULTS(i32_result)},
    {.name = "test.fail_as_i1", TFRT_RESULTS(two_i32_results)},
    {.name = "test.twice", TFRT_RESULTS(i32_result), .flags = TFRT_KERNEL_SYNC_TOO},
};
static const tfrt_kernel_table_t table = {descriptors, TFRT_ARRAY_SIZE(descriptors)};
static const tfrt_kernel_registration_t registrations[] = {
    {"test.constant", constant},
    {"test.add", add},
    {"test.cheap_add", add},
    {"test.late", late},
    {"test.fail", report_failure},
    {"test.call", call_function},
    {"test.negative", negative},
    {"test.wait", wait_for_value},
    {"test.when", when},
    {"test.follows_schedule", follows_schedule},
    {"test.forget", forget},
    {"test.unique", unique},
    {"test.lie", lie},
    {"test.fail_as_i1", fail_as_i1},
    {"test.twice", set_twice},
};
static const tfrt_sync_kernel_registration_t sync_registrations[] = {
    {"test.constant", sync_constant}, {"test.add", sync_add},
    {"test.fail", sync_fail},         {"test.call", sync_call},
    {"test.negative", sync_negative}, {"test.forget", sync_forget},
    {"test.twice", sync_set_twice},
};

static const tfrt_kernel_descriptor_t native_descriptors[] = {
    {.name = "plus", TFRT_OPERANDS(two_i32), TFRT_RESULTS(i32_result)},
    {.name = "nothing", TFRT_OPERANDS(demanded), .flags = TFRT_KERNEL_VARIADIC_OPERANDS},
};
static const tfrt_kernel_table_t native_table = {native_descriptors,
                                                 TFRT_ARRAY_SIZE(native_descriptors)};
static const tfrt_kernel_registration_t native_registrations[] = {{"plus", add},
                                                                  {"nothing", forget}};

void small_program_set_up(void) {
  small_program_early_count = 0;
  tfrt_work_queue_t* queue = NULL;
  ck_assert_ptr_null(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  ck_assert_ptr_null(tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(), queue,
                                                &small_program_host));
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(small_program_host->registry, &table,
                                                  registrations, TFRT_ARRAY_SIZE(registrations)));
  ck_assert_ptr_null(tfrt_kernel_registry_add_sync(small_program_host->registry, &table,
                                                   sync_registrations,
                                                   TFRT_ARRAY_SIZE(sync_registrations)));
  ck_assert_ptr_null(tfrt_kernel_registry_add_natives(small_program_host->registry, &native_table,
                                                      native_registrations,
                                                      TFRT_ARRAY_SIZE(native_registrations)));
}

void small_program_tear_down(void) {
  tfrt_host_context_free(small_program_host);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

// The arguments, an attribute and a function.
#define MAX_WORDS (SMALL_PROGRAM_MAX + 2)

// The writer's form of |kernel|; |words| holds what it points to.
static tfrt_bef_writer_kernel_t make_kernel(tfrt_bef_writer_t* writer, const small_kernel_t* kernel,
                                            uint32_t line, uint32_t words[MAX_WORDS]) {
  static const tfrt_string_view_t attribute_name = {"value", 5};
  tfrt_bef_writer_kernel_t made = {
      .code = tfrt_bef_writer_add_kernel_name(writer, tfrt_string_view_of(kernel->name)),
      .location =
          tfrt_bef_writer_add_location_file(writer, tfrt_string_view_of("small.mlir"), line, 3),
      .argument_count = kernel->argument_count,
      .result_count = kernel->result_count,
      .stream_id = kernel->stream,
      .attribute_count = kernel->has_attribute,
      .function_count = kernel->calls_main || kernel->calls_native,
      .words = words,
      .attribute_names = &attribute_name,
  };
  for (uint32_t i = 0; i < kernel->argument_count; ++i) *words++ = kernel->arguments[i];
  if (kernel->has_attribute) {
    tfrt_bef_value_t attribute = {.type = (tfrt_bef_attribute_type_t)TFRT_BEF_DTYPE_I32,
                                  .bits = (uint32_t)kernel->attribute};
    *words++ = tfrt_bef_writer_add_attribute(writer, &attribute);
  }
  // Functions are numbered: main, then the native one.
  if (made.function_count) *words = kernel->calls_native ? 1 : 0;
  return made;
}

static void add_main(tfrt_bef_writer_t* writer, const small_program_t* program) {
  enum { MAX = 64 };
  tfrt_bef_writer_kernel_t kernels[MAX];
  uint32_t words[MAX][MAX_WORDS];
  uint32_t i32_type = tfrt_bef_writer_add_type(writer, tfrt_string_view_of("i32"));
  uint32_t argument_types[SMALL_PROGRAM_MAX];
  uint32_t register_types[MAX];
  uint32_t argument_count = 0;
  for (; program->argument_types[argument_count]; ++argument_count) {
    argument_types[argument_count] = tfrt_bef_writer_add_type(
        writer, tfrt_string_view_of(program->argument_types[argument_count]));
  }
  for (uint32_t i = 0; i < MAX; ++i) register_types[i] = i32_type;
  uint32_t next_register = argument_count;
  for (uint32_t i = 0; i < program->kernel_count; ++i) {
    const small_kernel_t* kernel = &program->kernels[i];
    for (uint32_t k = 0; k < kernel->result_count; ++k) {
      ck_assert_uint_eq(kernel->results[k], next_register++);
    }
    kernels[i] = make_kernel(writer, kernel, 10 + i, words[i]);
  }
  tfrt_bef_writer_function_t function = {
      .name = tfrt_string_view_of("main"),
      .kind = program->kind,
      .argument_count = argument_count,
      .result_count = program->result_count,
      .argument_types = argument_types,
      .result_types = register_types,
      .location = tfrt_bef_writer_add_location_unknown(writer),
      .register_count = program->register_count,
      .kernel_count = program->kernel_count,
      .register_types = register_types,
      .result_registers = program->results,
      .kernels = kernels,
  };
  tfrt_bef_writer_add_function(writer, &function);
}

static void add_native(tfrt_bef_writer_t* writer, const small_program_t* program) {
  uint32_t argument_types[SMALL_PROGRAM_MAX];
  for (uint32_t i = 0; i < program->native_arguments; ++i) {
    argument_types[i] = tfrt_bef_writer_add_type(writer, tfrt_string_view_of("i32"));
  }
  const char* result = program->native_results;
  uint32_t result_type = result ? tfrt_bef_writer_add_type(writer, tfrt_string_view_of(result)) : 0;
  tfrt_bef_writer_function_t function = {
      .name = tfrt_string_view_of(program->native),
      .kind = TFRT_BEF_FUNCTION_NATIVE,
      .argument_count = program->native_arguments,
      .argument_types = argument_types,
      .result_count = result != NULL,
      .result_types = &result_type,
  };
  tfrt_bef_writer_add_function(writer, &function);
}

tfrt_status_t small_program_make(const small_program_t* program, tfrt_program_t** out_program) {
  *out_program = NULL;
  tfrt_bef_writer_t* writer = NULL;
  ck_assert_ptr_null(tfrt_bef_writer_allocate(true, tfrt_allocator_system(), &writer));
  add_main(writer, program);
  if (program->native) add_native(writer, program);
  void* bytes = NULL;
  size_t size = 0;
  ck_assert_ptr_null(tfrt_bef_writer_finish(writer, &bytes, &size));
  tfrt_bef_writer_free(writer);
  tfrt_bef_file_t* file = NULL;
  tfrt_status_t loaded = tfrt_bef_file_create_take(bytes, size, tfrt_allocator_system(), &file);
  if (loaded) ck_abort_msg("%s", tfrt_status_message(loaded));
  tfrt_status_t status =
      tfrt_program_create(file, small_program_host->registry, tfrt_allocator_system(), out_program);
  tfrt_bef_file_release(file);
  return status;
}
