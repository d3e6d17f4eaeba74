// SPDX-License-Identifier: Apache-2.0
//
// Streams come from the chains that the pass `insert-chains` puts in: they are those of the same
// program with chains by hand, and not those that the values alone would give.
#include "compiler/analysis/stream_analysis.h"
#include "compiler/bef/bef_emitter.h"
#include "compiler/passes/chain_inserter.h"
#include "host_runtime/bef/bef_file.h"
#include "tests/compiler/compiler_test_support.h"
#include "tests/support/test_main.h"
#include "tools/kernels/op_tables.h"

// Places of ops in the program without chains, and of kernels in the file, whose first one stands
// for the arguments.
enum {
  FILL_A = 2,
  RELU_A = 4,
  KERNEL_FILL_A = 4,
  KERNEL_FILL_B = 5,
  KERNEL_RELU_A = 6,
  KERNEL_RELU_B = 8,
  KERNEL_COUNT = 10,
};

// Two tensors that have nothing to do with each other. Only a chain leads from `fill` to `relu`.
static const char kWithoutChains[] =
    "func.func @f() -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor) {\n"
    "  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]\n"
    "  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]\n"
    "  tfrt_dht.fill_tensor_with_constant.f32 %a 1.0 : f32\n"
    "  tfrt_dht.fill_tensor_with_constant.f32 %b 2.0 : f32\n"
    "  %x = tfrt_tensor.relu %a\n"
    "  %y = tfrt_tensor.relu %b\n"
    "  tfrt_dht.fill_tensor_with_constant.f32 %a 3.0 : f32\n"
    "  tfrt.return %x, %y : !tfrt_tensor.tensor, !tfrt_tensor.tensor\n"
    "}\n";

static const char kByHand[] =
    "func.func @f() -> (!tfrt_tensor.tensor, !tfrt_tensor.tensor) {\n"
    "  %a = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]\n"
    "  %b = tfrt_dht.create_uninitialized_tensor.f32.1 [2 : i64]\n"
    "  %c0 = tfrt.new.chain\n"
    "  %c1 = tfrt_dht.fill_tensor_with_constant.f32 %a, %c0 1.0 : f32\n"
    "  %c2 = tfrt_dht.fill_tensor_with_constant.f32 %b, %c0 2.0 : f32\n"
    "  %x = tfrt_tensor.relu %a, %c1\n"
    "  %c3 = tfrt.merge.chains %x : !tfrt_tensor.tensor\n"
    "  %y = tfrt_tensor.relu %b, %c2\n"
    "  %c4 = tfrt_dht.fill_tensor_with_constant.f32 %a, %c3 3.0 : f32\n"
    "  tfrt.return %x, %y : !tfrt_tensor.tensor, !tfrt_tensor.tensor\n"
    "}\n";

typedef struct translated_s {
  test_program_t program;
  void* bytes;
  size_t size;
  tfrt_bef_file_t* file;
  const tfrt_bef_function_t* function;
} translated_t;

static translated_t translate(const char* text) {
  translated_t translated;
  test_program_t* program = &translated.program;
  tfrt_allocator_t allocator = tfrt_allocator_system();
  test_program_verify(program, text);
  ck_assert_msg(program->module != NULL, "%s", tfrt_string_builder_text(&program->errors));
  ck_assert(tfrt_insert_chains(program->context, tfrt_all_op_tables(), program->module,
                               &program->diagnostics));
  ck_assert_ptr_null(tfrt_bef_emit(program->context, program->module, NULL, &program->diagnostics,
                                   allocator, &translated.bytes, &translated.size));
  ck_assert_ptr_null(
      tfrt_bef_file_create(translated.bytes, translated.size, allocator, &translated.file));
  translated.function = tfrt_bef_file_find_function(translated.file, "f");
  ck_assert_ptr_nonnull(translated.function);
  ck_assert_uint_eq(translated.function->kernel_count, KERNEL_COUNT);
  return translated;
}

static void free_translated(translated_t* translated) {
  tfrt_bef_file_release(translated->file);
  tfrt_allocator_free(tfrt_allocator_system(), translated->bytes, translated->size);
  test_program_free(&translated->program);
}

static uint32_t stream_of(const translated_t* translated, uint32_t kernel) {
  return tfrt_bef_file_kernel(translated->file, translated->function, kernel).stream_id;
}

START_TEST(streams_are_those_of_the_chains_by_hand) {
  translated_t inserted = translate(kWithoutChains);
  translated_t by_hand = translate(kByHand);
  for (uint32_t i = 0; i < KERNEL_COUNT; ++i) {
    const tfrt_bef_kernel_t kernel = tfrt_bef_file_kernel(inserted.file, inserted.function, i);
    const tfrt_bef_kernel_t other = tfrt_bef_file_kernel(by_hand.file, by_hand.function, i);
    ck_assert_str_eq(kernel.name, other.name);
    ck_assert_msg(kernel.stream_id == other.stream_id, "kernel %u, '%s': stream %u, not %u", i,
                  kernel.name, kernel.stream_id, other.stream_id);
  }
  free_translated(&by_hand);
  free_translated(&inserted);
}
END_TEST

// Without a chain `relu` comes behind `create`, as `fill` does: they are in different streams.
START_TEST(streams_follow_the_chains) {
  test_program_t program;
  tfrt_stream_analysis_t analysis;
  test_program_verify(&program, kWithoutChains);
  const tfrt_ir_block_t* block =
      tfrt_ir_function_block(tfrt_ir_module_block(program.module)->first);
  ck_assert_ptr_null(
      tfrt_stream_analysis_initialize(&analysis, block, true, tfrt_allocator_system()));
  ck_assert_uint_ne(tfrt_stream_analysis_op_stream(&analysis, FILL_A),
                    tfrt_stream_analysis_op_stream(&analysis, RELU_A));
  tfrt_stream_analysis_deinitialize(&analysis);
  test_program_free(&program);

  translated_t inserted = translate(kWithoutChains);
  ck_assert_uint_eq(stream_of(&inserted, KERNEL_FILL_A), stream_of(&inserted, KERNEL_RELU_A));
  ck_assert_uint_eq(stream_of(&inserted, KERNEL_FILL_B), stream_of(&inserted, KERNEL_RELU_B));
  ck_assert_uint_ne(stream_of(&inserted, KERNEL_FILL_A), stream_of(&inserted, KERNEL_FILL_B));
  free_translated(&inserted);
}
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* streams = tcase_create("streams");
  tcase_add_test(streams, streams_are_those_of_the_chains_by_hand);
  tcase_add_test(streams, streams_follow_the_chains);
  Suite* suite = suite_create("inserted_streams");
  suite_add_tcase(suite, streams);
  return suite;
}
