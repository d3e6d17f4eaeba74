// SPDX-License-Identifier: Apache-2.0
#include "tests/host_runtime/eager/eager_fixture.h"

#include "compiler/translate.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/bef/bef_attribute.h"
#include "host_runtime/executor/descriptor/attribute_layout.h"
#include "tests/support/test_main.h"
#include "tools/kernels/kernel_rooms.h"
#include "tools/kernels/op_tables.h"

tfrt_host_context_t* eager_fixture_host;
tfrt_request_context_t* eager_fixture_request;
tfrt_execution_context_t eager_fixture_context;
tfrt_string_builder_t eager_fixture_recorded;

// --- Kernels ---------------------------------------------------------------------

static struct {
  tfrt_program_t* program;  // +1
  const tfrt_kernel_site_t* site;
  tfrt_async_value_t* value;  // +1
  int32_t number;
  bool fails;
} late_result;

static void hand_out_late(tfrt_kernel_frame_t* frame, bool fails) {
  late_result.program = tfrt_program_retain(tfrt_kernel_site_program(frame->site));
  late_result.site = frame->site;
  late_result.value = tfrt_async_value_create_unconstructed(TFRT_TYPE_I32);
  late_result.number = tfrt_kernel_frame_i32(frame, 0);
  late_result.fails = fails;
  tfrt_kernel_frame_set(frame, 0, tfrt_async_value_retain(late_result.value));
}

static void late(tfrt_kernel_frame_t* frame) { hand_out_late(frame, false); }
static void fail_late(tfrt_kernel_frame_t* frame) { hand_out_late(frame, true); }
static void pass(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i1(frame, 0, tfrt_async_value_is_available(frame->arguments[0]));
}
static void wait_for_value(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_ready_chain(frame, 0);
}
static void unique(tfrt_kernel_frame_t* frame) {
  tfrt_kernel_frame_set_i1(frame, 0, tfrt_kernel_frame_is_unique(frame, 0));
}
static void sum(tfrt_kernel_frame_t* frame) {
  int32_t total = 0;
  for (uint32_t i = 0; i < frame->argument_count; ++i) total += tfrt_kernel_frame_i32(frame, i);
  tfrt_kernel_frame_set_i32(frame, 0, total);
}
static void settings(tfrt_kernel_frame_t* frame) {
  uint32_t bits = tfrt_bef_attribute_read_u32(frame->attributes[2]);
  float ratio;
  memcpy(&ratio, &bits, sizeof(ratio));
  tfrt_kernel_frame_set_i32(frame, 0, (int32_t)tfrt_bef_attribute_read_u32(frame->attributes[0]));
  tfrt_kernel_frame_set_i1(frame, 1, *(const bool*)frame->attributes[1]);
  tfrt_kernel_frame_set_f32(frame, 2, ratio);
}

static const tfrt_attribute_descriptor_t one_of_each[] = {
    {"a_i1", TFRT_ATTRIBUTE_I1, NULL},
    {"b_i8", TFRT_ATTRIBUTE_I8, NULL},
    {"c_i16", TFRT_ATTRIBUTE_I16, NULL},
    {"d_i32", TFRT_ATTRIBUTE_I32, NULL},
    {"e_i64", TFRT_ATTRIBUTE_I64, NULL},
    {"f_ui8", TFRT_ATTRIBUTE_UI8, NULL},
    {"g_ui16", TFRT_ATTRIBUTE_UI16, NULL},
    {"h_ui32", TFRT_ATTRIBUTE_UI32, NULL},
    {"i_ui64", TFRT_ATTRIBUTE_UI64, NULL},
    {"j_f32", TFRT_ATTRIBUTE_F32, NULL},
    {"k_f64", TFRT_ATTRIBUTE_F64, NULL},
    {"l_string", TFRT_ATTRIBUTE_STRING, NULL},
    {"m_type", TFRT_ATTRIBUTE_TYPE, NULL},
    {"n_shape", TFRT_ATTRIBUTE_SHAPE, NULL},
    {"o_dense", TFRT_ATTRIBUTE_DENSE, NULL},
    {"p_array", TFRT_ATTRIBUTE_I64_ARRAY, NULL},
    {"q_aggregate", TFRT_ATTRIBUTE_AGGREGATE, NULL},
    {"r_unranked", TFRT_ATTRIBUTE_SHAPE, NULL},
};

static void record(tfrt_kernel_frame_t* frame) {
  tfrt_string_builder_clear(&eager_fixture_recorded);
  for (uint32_t i = 0; i < frame->attribute_count; ++i) {
    tfrt_bef_attribute_type_t type = tfrt_attribute_layout(one_of_each[i].kind);
    tfrt_string_builder_append(&eager_fixture_recorded, frame->attributes[i],
                               tfrt_bef_attribute_size(frame->attributes[i], type));
  }
}

static void do_nothing(tfrt_kernel_frame_t* frame) { (void)frame; }

static const tfrt_operand_descriptor_t i32_operand[] = {{"x", "i32", TFRT_OPERAND_DEMANDED}};
static const tfrt_operand_descriptor_t passed[] = {{"x", TFRT_TYPE_ANY, TFRT_OPERAND_PASSED}};
static const tfrt_operand_descriptor_t awaited[] = {{"x", TFRT_TYPE_ANY, TFRT_OPERAND_AWAITED}};
static const tfrt_operand_descriptor_t consumed[] = {
    {"x", "i32" TFRT_TYPE_OR "i64", TFRT_OPERAND_CONSUMED}};
static const tfrt_result_descriptor_t i32_result[] = {{"r", "i32"}};
static const tfrt_result_descriptor_t i1_result[] = {{"r", "i1"}};
static const tfrt_result_descriptor_t chain_result[] = {{"r", "!tfrt.chain"}};
static const tfrt_result_descriptor_t three_results[] = {{"r", "i32"}, {"s", "i1"}, {"t", "f32"}};
static const tfrt_attribute_descriptor_t defaults[] = {{"count", TFRT_ATTRIBUTE_I32, "7"},
                                                       {"flag", TFRT_ATTRIBUTE_I1, "true"},
                                                       {"ratio", TFRT_ATTRIBUTE_F32, "0.5"}};

static const tfrt_attribute_descriptor_t dense[] = {{"value", TFRT_ATTRIBUTE_DENSE, NULL}};

static const tfrt_kernel_descriptor_t descriptors[] = {
    {.name = "eager.late", TFRT_OPERANDS(i32_operand), TFRT_RESULTS(i32_result)},
    {.name = "eager.fail_late", TFRT_OPERANDS(i32_operand), TFRT_RESULTS(i32_result)},
    {.name = "eager.pass", TFRT_OPERANDS(passed), TFRT_RESULTS(i1_result)},
    {.name = "eager.wait", TFRT_OPERANDS(awaited), TFRT_RESULTS(chain_result)},
    {.name = "eager.unique", TFRT_OPERANDS(consumed), TFRT_RESULTS(i1_result)},
    {.name = "eager.sum",
     TFRT_OPERANDS(i32_operand),
     TFRT_RESULTS(i32_result),
     .flags = TFRT_KERNEL_VARIADIC_OPERANDS},
    {.name = "eager.settings", TFRT_RESULTS(three_results), TFRT_ATTRIBUTES(defaults)},
    {.name = "eager.record", TFRT_ATTRIBUTES(one_of_each)},
    {.name = "eager.dense", TFRT_ATTRIBUTES(dense)},
};
static const tfrt_kernel_registration_t registrations[] = {
    {"eager.late", late},           {"eager.fail_late", fail_late}, {"eager.pass", pass},
    {"eager.wait", wait_for_value}, {"eager.unique", unique},       {"eager.sum", sum},
    {"eager.settings", settings},   {"eager.record", record},       {"eager.dense", do_nothing},
};
static const tfrt_kernel_table_t table = {descriptors, TFRT_ARRAY_SIZE(descriptors)};

// --- Set-up ------------------------------------------------------------------------

static tfrt_work_queue_t* make_queue(int threads) {
  tfrt_work_queue_t* queue = NULL;
  tfrt_thread_pool_options_t options = {.thread_count = threads, .blocking_thread_count = 1};
  ck_assert_ptr_null(
      threads ? tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &queue)
              : tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  return queue;
}

void eager_fixture_set_up_with_threads(int threads) {
  tfrt_string_builder_initialize(&eager_fixture_recorded, tfrt_allocator_system());
  ck_assert_ptr_null(tfrt_host_context_allocate(tfrt_allocator_system(), tfrt_clock_system(),
                                                make_queue(threads), &eager_fixture_host));
  ck_assert_ptr_null(tfrt_kernel_rooms_register(eager_fixture_host->registry));
  ck_assert_ptr_null(tfrt_kernel_registry_add_all(eager_fixture_host->registry, &table,
                                                  registrations, TFRT_ARRAY_SIZE(registrations)));
  tfrt_request_options_t options = tfrt_request_options_default();
  eager_fixture_use_request(&options);
}

void eager_fixture_set_up(void) { eager_fixture_set_up_with_threads(0); }

void eager_fixture_tear_down(void) {
  tfrt_request_context_release(eager_fixture_request);
  eager_fixture_request = NULL;
  tfrt_host_context_free(eager_fixture_host);
  tfrt_string_builder_deinitialize(&eager_fixture_recorded);
  ck_assert_int_eq(tfrt_async_value_live_count(), 0);
}

void eager_fixture_use_request(const tfrt_request_options_t* options) {
  tfrt_request_context_release(eager_fixture_request);
  ck_assert_ptr_null(
      tfrt_request_context_create(options, tfrt_allocator_system(), &eager_fixture_request));
  eager_fixture_context = tfrt_host_context_execution(eager_fixture_host, eager_fixture_request);
}

// All op tables of the project, and this one.
static tfrt_op_tables_t all_tables(tfrt_kernel_table_t* storage, size_t capacity) {
  const tfrt_op_tables_t* rooms = tfrt_all_op_tables();
  ck_assert_uint_lt(rooms->count, capacity);
  for (size_t i = 0; i < rooms->count; ++i) storage[i] = rooms->tables[i];
  storage[rooms->count] = table;
  return (tfrt_op_tables_t){.tables = storage, .count = rooms->count + 1};
}

tfrt_program_t* eager_fixture_load(const char* text) {
  tfrt_allocator_t system = tfrt_allocator_system();
  tfrt_kernel_table_t storage[64];
  tfrt_op_tables_t tables = all_tables(storage, TFRT_ARRAY_SIZE(storage));
  tfrt_string_builder_t report;
  tfrt_string_builder_initialize(&report, system);
  void* bytes = NULL;
  size_t size = 0;
  tfrt_status_t status = tfrt_translate_text_to_bef("test.mlir", tfrt_string_view_of(text), &tables,
                                                    NULL, system, &report, &bytes, &size);
  ck_assert_msg(!status, "%s", tfrt_string_builder_text(&report));
  tfrt_string_builder_deinitialize(&report);
  tfrt_bef_file_t* file = NULL;
  tfrt_program_t* program = NULL;
  ck_assert_ptr_null(tfrt_bef_file_create_take(bytes, size, system, &file));
  ck_assert_ptr_null(tfrt_program_create(file, eager_fixture_host->registry, system, &program));
  tfrt_bef_file_release(file);
  return program;
}

tfrt_eager_op_t* eager_fixture_op(const char* name) {
  tfrt_eager_op_options_t options = {.name = name,
                                     .place = {.name = "caller", .file = "here.c", .line = 7}};
  tfrt_eager_op_t* op = NULL;
  ck_assert_ptr_null(tfrt_eager_op_create(eager_fixture_host->registry, &options, &op));
  return op;
}

void eager_fixture_resolve_late(void) {
  ck_assert_ptr_nonnull(late_result.value);
  if (late_result.fails) {
    tfrt_kernel_site_fail_take(late_result.site, late_result.value,
                               tfrt_status_create(TFRT_STATUS_INTERNAL, "it failed late"));
  } else {
    *(int32_t*)tfrt_async_value_payload(late_result.value) = late_result.number;
    tfrt_async_value_set_available(late_result.value);
  }
  tfrt_async_value_release(late_result.value);
  tfrt_program_release(late_result.program);
  late_result.value = NULL;
}

// --- What comes out ------------------------------------------------------------------

void eager_fixture_expect(tfrt_status_t status, tfrt_status_code_t code, const char* message) {
  ck_assert_str_eq(tfrt_status_message(status), message);
  ck_assert_int_eq(tfrt_status_code(status), code);
  tfrt_status_release(status);
}

void eager_fixture_expect_error(tfrt_async_value_t* value, tfrt_status_code_t code,
                                const char* message) {
  ck_assert(tfrt_async_value_is_error(value));
  eager_fixture_expect(tfrt_status_retain(tfrt_async_value_error(value)), code, message);
  tfrt_async_value_release(value);
}

static void* payload(tfrt_async_value_t* value, tfrt_type_id_t type) {
  ck_assert_int_eq(tfrt_async_value_state(value), TFRT_ASYNC_VALUE_AVAILABLE);
  tfrt_async_value_t* resolved = tfrt_async_value_resolved(value);
  ck_assert_int_eq(resolved->type_id, type);
  return tfrt_async_value_payload(resolved);
}

int32_t eager_fixture_take_i32(tfrt_async_value_t* value) {
  int32_t number = *(int32_t*)payload(value, TFRT_TYPE_I32);
  tfrt_async_value_release(value);
  return number;
}

bool eager_fixture_take_i1(tfrt_async_value_t* value) {
  bool truth = *(bool*)payload(value, TFRT_TYPE_I1);
  tfrt_async_value_release(value);
  return truth;
}
