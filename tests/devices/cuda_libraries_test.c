// SPDX-License-Identifier: Apache-2.0
//
// NVIDIA's libraries on top of the driver: what is said when they are absent, and that each of
// their functions may fail, once: the caller gets that error, the next calls are taken, and
// nothing is left behind.
#include <stdio.h>

#include "devices/cuda/cublaslt_api.h"
#include "devices/cuda/cuda_platform.h"
#include "devices/device_allocator.h"
#include "devices/device_blas.h"
#include "devices/device_ccl.h"
#include "devices/device_dnn_plan.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/counting_allocator.h"
#include "host_runtime/base/sync.h"
#include "tests/devices/awaiting.h"
#include "tests/fakes/cuda/fake_cuda.h"
#include "tests/support/test_main.h"

// A platform over the fake driver; all of its memory comes back.
typedef struct tfrt_test_s {
  tfrt_work_queue_t* work_queue;
  tfrt_counting_allocator_t counting;
  tfrt_device_platform_t* platform;
  tfrt_device_t* device;
  tfrt_device_stream_t* stream;
  tfrt_device_allocator_t* allocator;
  tfrt_device_buffer_t* memory;  // 256 bytes, ones of f32
} tfrt_test_t;

// Opens the device; |library|, unless NULL, is what is opened as a library.
static void test_open(tfrt_test_t* t, const char* library) {
  tfrt_thread_pool_options_t threads = {.thread_count = 2};
  tfrt_cuda_platform_options_t options = {.library_for_testing = TFRT_FAKE_CUDA_PATH,
                                          .vendor_library_for_testing = library};
  *t = (tfrt_test_t){0};
  tfrt_counting_allocator_initialize(&t->counting, tfrt_allocator_system(),
                                     TFRT_COUNTING_ALLOCATOR_UNLIMITED);
  ck_assert(!tfrt_thread_pool_work_queue_create(&threads, tfrt_allocator_system(), &t->work_queue));
  ck_assert(!tfrt_cuda_platform_create(&options, tfrt_counting_allocator_interface(&t->counting),
                                       t->work_queue, &t->platform));
  ck_assert(!tfrt_device_platform_device(t->platform, 0, &t->device));
  ck_assert(!tfrt_device_create_stream(t->device, &t->stream));
  ck_assert(!tfrt_device_allocator_create(t->device, &t->allocator));
  ck_assert(!tfrt_device_allocator_allocate(t->allocator, t->stream, 256, &t->memory));
  ck_assert(!tfrt_device_stream_fill(t->stream, t->memory, 0x3f800000, 4));
}

static void test_close(tfrt_test_t* t) {
  tfrt_device_buffer_release(t->memory);
  tfrt_device_allocator_release(t->allocator);
  tfrt_device_stream_release(t->stream);
  tfrt_device_release(t->device);
  tfrt_device_platform_release(t->platform);
  // The work in flight ends by itself and takes the platform with it.
  while (tfrt_counting_allocator_counts(&t->counting).current_count > 0) tfrt_thread_yield();
  tfrt_work_queue_quiesce(t->work_queue);
  tfrt_work_queue_release(t->work_queue);
  ck_assert_int_eq(tfrt_fake_cuda_control()->live(), 0);
  char text[4096];
  ck_assert_msg(tfrt_fake_cuda_control()->defects(text, sizeof(text)) == 0, "%s", text);
}

// Checks that |status| (consumed) has |code| and one line with |part| in it.
static void test_expect(tfrt_status_t status, tfrt_status_code_t code, const char* part) {
  const char* message = tfrt_status_message(status);
  ck_assert_msg(tfrt_status_code(status) == code && strstr(message, part) && !strchr(message, '\n'),
                "%s: %s", tfrt_status_code_name(tfrt_status_code(status)), message);
  tfrt_status_release(status);
}

// --- Opening -----------------------------------------------------------------------------

typedef enum tfrt_test_library_e { BLAS, DNN, CCL } tfrt_test_library_t;

// The status of a request for |library| when |path| is opened as that library.
static tfrt_status_t test_create(const char* path, tfrt_test_library_t library) {
  tfrt_test_t t;
  tfrt_device_blas_t* blas = NULL;
  tfrt_device_dnn_t* dnn = NULL;
  tfrt_ccl_id_t id;
  test_open(&t, path);
  tfrt_status_t status = library == BLAS  ? tfrt_device_create_blas(t.device, &blas)
                         : library == DNN ? tfrt_device_create_dnn(t.device, &dnn)
                                          : tfrt_device_platform_create_ccl_id(t.platform, &id);
  ck_assert(!blas && !dnn);
  test_close(&t);
  return status;
}

START_TEST(an_absent_library_is_one_clear_line) {
  test_expect(test_create("no/such/libcublas.so.13", BLAS), TFRT_STATUS_UNAVAILABLE,
              "no cuBLAS: none of its libraries can be opened (no/such/libcublas.so.13");
  test_expect(test_create("no/such/libcublas.so.13", BLAS), TFRT_STATUS_UNAVAILABLE,
              "install the cuBLAS of CUDA 11, 12 or 13");
  test_expect(test_create("no/such/libcudnn.so.9", DNN), TFRT_STATUS_UNAVAILABLE,
              "no cuDNN: none of its libraries can be opened (no/such/libcudnn.so.9");
  test_expect(test_create("no/such/libcudnn.so.9", DNN), TFRT_STATUS_UNAVAILABLE,
              "install cuDNN 8 or 9");
  test_expect(test_create("no/such/libnccl.so.2", CCL), TFRT_STATUS_UNAVAILABLE,
              "no NCCL: none of its libraries can be opened (no/such/libnccl.so.2");
  test_expect(test_create("no/such/libnccl.so.2", CCL), TFRT_STATUS_UNAVAILABLE,
              "install NCCL 2.14 or later");
}
END_TEST

START_TEST(a_library_that_is_another_one_is_one_clear_line) {
  test_expect(test_create("libm.so.6", BLAS), TFRT_STATUS_UNAVAILABLE,
              "no cuBLAS: libm.so.6 has no cublasCreate_v2");
  test_expect(test_create("libm.so.6", DNN), TFRT_STATUS_UNAVAILABLE,
              "no cuDNN: libm.so.6 has no cudnnGetErrorString");
  test_expect(test_create("libm.so.6", CCL), TFRT_STATUS_UNAVAILABLE,
              "no NCCL: libm.so.6 has no ncclGetUniqueId");
}
END_TEST

// --- Linear algebra ----------------------------------------------------------------------

// Makes one call of each kind on the numbers of |t|; returns the first error.
static tfrt_status_t test_use_blas(tfrt_device_blas_t* blas, const tfrt_test_t* t) {
  tfrt_device_stream_t* stream = t->stream;
  tfrt_device_buffer_t* memory = t->memory;
  tfrt_blas_scalar_t one = {.dtype = TFRT_DTYPE_F32, .f32 = 1};
  tfrt_blas_vector_t vector = {.buffer = memory, .dtype = TFRT_DTYPE_F32, .step = 1};
  tfrt_blas_matrix_t matrix = {
      .buffer = memory, .dtype = TFRT_DTYPE_F32, .height = 1, .distance = 1};
  tfrt_blas_axpy_t axpy = {
      .count = 4, .alpha = one, .x = vector, .y = vector, .execution = TFRT_DTYPE_F32};
  tfrt_blas_scale_t scale = {.count = 4, .alpha = one, .x = vector, .execution = TFRT_DTYPE_F32};
  tfrt_blas_multiply_t multiply = {.rows = 1,
                                   .columns = 1,
                                   .inner = 1,
                                   .alpha = one,
                                   .a = matrix,
                                   .b = matrix,
                                   .beta = one,
                                   .c = matrix,
                                   .count = 1,
                                   .compute = TFRT_BLAS_COMPUTE_F32};
  tfrt_blas_solve_t solve = {
      .rows = 1, .columns = 1, .alpha = one, .a = matrix, .b = matrix, .count = 2};
  TFRT_RETURN_IF_ERROR(tfrt_device_blas_axpy(blas, stream, &axpy));
  TFRT_RETURN_IF_ERROR(tfrt_device_blas_scale(blas, stream, &scale));
  TFRT_RETURN_IF_ERROR(tfrt_device_blas_multiply(blas, stream, &multiply));
  multiply.is_batch = true;
  multiply.count = 2;
  TFRT_RETURN_IF_ERROR(tfrt_device_blas_multiply(blas, stream, &multiply));
  TFRT_RETURN_IF_ERROR(tfrt_device_blas_solve(blas, stream, &solve));
  one = (tfrt_blas_scalar_t){.dtype = TFRT_DTYPE_F64, .f64 = 1};
  solve.alpha = one;
  solve.a.dtype = solve.b.dtype = TFRT_DTYPE_F64;
  return tfrt_device_blas_solve(blas, stream, &solve);
}

// The same with call |n| of |name| failing with |result|.
static tfrt_status_t test_use_blas_failing(const char* name, uint32_t n, int result) {
  tfrt_test_t t;
  tfrt_device_blas_t* blas = NULL;
  test_open(&t, NULL);
  tfrt_fake_cuda_control()->set_failure(name, n, result);
  tfrt_status_t status = tfrt_device_create_blas(t.device, &blas);
  if (!status) status = test_use_blas(blas, &t);
  tfrt_fake_cuda_control()->set_failure(name, 0, 0);
  // Nothing but the call is lost: the next ones are taken.
  if (blas) ck_assert(!test_use_blas(blas, &t));
  tfrt_device_blas_release(blas);
  test_close(&t);
  return status;
}

START_TEST(each_function_of_cublas_may_fail) {
  static const char* const names[] = {"cublasCreate",       "cublasSetStream",
                                      "cublasAxpyEx",       "cublasScalEx",
                                      "cublasGemmEx",       "cublasGemmStridedBatchedEx",
                                      "cublasStrsmBatched", "cublasDtrsmBatched"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    char expected[128];
    snprintf(expected, sizeof(expected), "cuda:0: %s failed: CUBLAS_STATUS_NOT_SUPPORTED (15)",
             names[i]);
    test_expect(test_use_blas_failing(names[i], 1, 15), TFRT_STATUS_UNIMPLEMENTED, expected);
  }
  for (uint32_t n = 2; n <= 6; ++n) {
    test_expect(test_use_blas_failing("cublasSetStream", n, 3), TFRT_STATUS_RESOURCE_EXHAUSTED,
                "cublasSetStream failed: CUBLAS_STATUS_ALLOC_FAILED (3)");
  }
}
END_TEST

// --- Products by cuBLASLt ----------------------------------------------------------------

// The numbers, as NVIDIA's cublasLt.h and cublas_api.h have them.
START_TEST(the_numbers_are_the_librarys) {
  static const int numbers[][2] = {
      {TFRT_CUBLASLT_PRODUCT_A_FORM, 3},         // CUBLASLT_MATMUL_DESC_TRANSA
      {TFRT_CUBLASLT_PRODUCT_B_FORM, 4},         // CUBLASLT_MATMUL_DESC_TRANSB
      {TFRT_CUBLASLT_LAYOUT_BATCH_COUNT, 5},     // CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT
      {TFRT_CUBLASLT_LAYOUT_BATCH_DISTANCE, 6},  // CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
      {TFRT_CUBLASLT_WISH_MAX_WORKSPACE, 1},     // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
      {TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_A, 5},   // CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES
      {TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_B, 6},   // CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES
      {TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_C, 7},   // CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES
      {TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_D, 8},   // CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES
      {TFRT_CUBLAS_R_32F, 0},                    // CUDA_R_32F and so on, cudaDataType
      {TFRT_CUBLAS_R_64F, 1},
      {TFRT_CUBLAS_R_16F, 2},
      {TFRT_CUBLAS_R_16BF, 14},
      {TFRT_CUBLAS_COMPUTE_16F, 64},
      {TFRT_CUBLAS_COMPUTE_16F_PEDANTIC, 65},
      {TFRT_CUBLAS_COMPUTE_32F, 68},
      {TFRT_CUBLAS_COMPUTE_32F_PEDANTIC, 69},
      {TFRT_CUBLAS_COMPUTE_64F, 70},
      {TFRT_CUBLAS_COMPUTE_64F_PEDANTIC, 71},
      {TFRT_CUBLAS_COMPUTE_32F_FAST_16F, 74},
      {TFRT_CUBLAS_COMPUTE_32F_FAST_16BF, 75},
      {TFRT_CUBLAS_COMPUTE_32F_FAST_TF32, 77},
      {TFRT_CUBLAS_OP_N, 0},
      {TFRT_CUBLAS_OP_T, 1},
      {TFRT_CUBLAS_OP_C, 2},
      {sizeof(tfrt_cublaslt_algorithm_t), 64},
      {sizeof(tfrt_cublaslt_choice_t), 96},
      {offsetof(tfrt_cublaslt_choice_t, workspace_size), 64},
      {offsetof(tfrt_cublaslt_choice_t, state), 72},
      {offsetof(tfrt_cublaslt_choice_t, waves), 76},
  };
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(numbers); ++i) {
    ck_assert_int_eq(numbers[i][0], numbers[i][1]);
  }
}
END_TEST

// Makes a product of |rows|, |columns| and |inner| up to 8 of the numbers of |t|, |count| times.
static tfrt_status_t test_multiply(tfrt_device_blas_t* blas, const tfrt_test_t* t, int rows,
                                   int columns, int inner, int count) {
  tfrt_blas_scalar_t one = {.dtype = TFRT_DTYPE_F32, .f32 = 1};
  tfrt_blas_matrix_t matrix = {.buffer = t->memory, .dtype = TFRT_DTYPE_F32, .height = rows};
  tfrt_blas_multiply_t multiply = {.rows = rows,
                                   .columns = columns,
                                   .inner = inner,
                                   .alpha = one,
                                   .a = matrix,
                                   .b = matrix,
                                   .beta = one,
                                   .c = matrix,
                                   .is_batch = count > 1,
                                   .count = count,
                                   .compute = TFRT_BLAS_COMPUTE_F32,
                                   .algorithm = TFRT_BLAS_ALGORITHM_DEFAULT};
  multiply.b.height = inner;
  multiply.c.distance = rows * columns;
  return tfrt_device_blas_multiply(blas, t->stream, &multiply);
}

// Makes a product with call |n| of |name| failing with |result|, and two more without.
static tfrt_status_t test_multiply_failing(const char* name, uint32_t n, int result) {
  tfrt_test_t t;
  tfrt_device_blas_t* blas;
  test_open(&t, NULL);
  ck_assert(!tfrt_device_create_blas(t.device, &blas));
  tfrt_fake_cuda_control()->set_failure(name, n, result);
  tfrt_status_t status = test_multiply(blas, &t, 2, 3, 4, 2);
  tfrt_fake_cuda_control()->set_failure(name, 0, 0);
  ck_assert(!test_multiply(blas, &t, 2, 3, 4, 2));
  ck_assert(!test_multiply(blas, &t, 8, 8, 8, 1));
  tfrt_device_blas_release(blas);
  test_close(&t);
  return status;
}

// With how often it is called for a batch.
static const struct {
  const char* name;
  uint32_t calls;
} lt_functions[] = {
    {"cublasLtMatmulDescCreate", 1},       {"cublasLtMatmulDescSetAttribute", 2},
    {"cublasLtMatrixLayoutCreate", 3},     {"cublasLtMatrixLayoutSetAttribute", 6},
    {"cublasLtMatmulPreferenceCreate", 1}, {"cublasLtMatmulPreferenceSetAttribute", 5},
    {"cublasLtMatmulAlgoGetHeuristic", 1}, {"cublasLtMatmul", 1}};

START_TEST(each_function_of_cublaslt_may_fail) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(lt_functions); ++i) {
    char expected[128];
    snprintf(expected, sizeof(expected), "cuda:0: %s failed: CUBLAS_STATUS_INTERNAL_ERROR (14)",
             lt_functions[i].name);
    for (uint32_t n = 1; n <= lt_functions[i].calls; ++n) {
      test_expect(test_multiply_failing(lt_functions[i].name, n, 14), TFRT_STATUS_INTERNAL,
                  expected);
    }
    ck_assert(!test_multiply_failing(lt_functions[i].name, lt_functions[i].calls + 1, 14));
  }
}
END_TEST

// Not supported, an invalid value, another architecture: cuBLAS makes the product, and the next
// ones.
START_TEST(a_product_that_cublaslt_refuses_is_made_by_cublas) {
  static const int refusals[] = {15, 7, 8};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(lt_functions); ++i) {
    tfrt_test_t t;
    tfrt_device_blas_t* blas;
    test_open(&t, NULL);
    ck_assert(!tfrt_device_create_blas(t.device, &blas));
    tfrt_fake_cuda_control()->set_failure(lt_functions[i].name, 1, refusals[i % 3]);
    ck_assert(!test_multiply(blas, &t, 2, 3, 4, 2));
    tfrt_fake_cuda_control()->set_failure("cublasGemmStridedBatchedEx", 1, 14);
    test_expect(test_multiply(blas, &t, 2, 3, 4, 2), TFRT_STATUS_INTERNAL,
                "cublasGemmStridedBatchedEx failed");
    tfrt_device_blas_release(blas);
    test_close(&t);
  }
}
END_TEST

START_TEST(without_cublaslt_or_its_memory_cublas_makes_all_products) {
  static const char* const reasons[] = {"cublasLtCreate", "cuMemAllocFromPoolAsync"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(reasons); ++i) {
    tfrt_test_t t;
    tfrt_device_blas_t* blas;
    test_open(&t, NULL);
    tfrt_fake_cuda_control()->set_failure(reasons[i], 1, 2);
    ck_assert(!tfrt_device_create_blas(t.device, &blas));
    ck_assert(!test_multiply(blas, &t, 2, 3, 4, 1));
    tfrt_fake_cuda_control()->set_failure("cublasGemmEx", 1, 14);
    // Memory may be there again.
    tfrt_status_t status = test_multiply(blas, &t, 2, 3, 4, 1);
    if (i == 0) test_expect(status, TFRT_STATUS_INTERNAL, "cublasGemmEx failed");
    if (i == 1) ck_assert(!status);
    tfrt_fake_cuda_control()->set_failure("cublasGemmEx", 0, 0);
    tfrt_device_blas_release(blas);
    test_close(&t);
  }
}
END_TEST

// The algorithms of as many shapes as are kept.
#define TFRT_TEST_PLANS 64

START_TEST(an_algorithm_is_chosen_once_for_a_shape_and_the_oldest_is_forgotten) {
  const tfrt_fake_cuda_control_t* control = tfrt_fake_cuda_control();
  tfrt_test_t t;
  tfrt_device_blas_t* blas;
  test_open(&t, NULL);
  ck_assert(!tfrt_device_create_blas(t.device, &blas));
  ck_assert(!test_multiply(blas, &t, 8, 8, 8, 1));
  int live = 0;
  for (int i = 0; i < 3 * TFRT_TEST_PLANS; ++i) {
    ck_assert(!test_multiply(blas, &t, 1 + i % 8, 1 + i / 8 % 8, 1 + i / 64, 1));
    // The shape that was used last stays.
    control->set_failure("cublasLtMatmulAlgoGetHeuristic", 1, 14);
    ck_assert(!test_multiply(blas, &t, 1 + i % 8, 1 + i / 8 % 8, 1 + i / 64, 1));
    control->set_failure("cublasLtMatmulAlgoGetHeuristic", 0, 0);
    if (i == TFRT_TEST_PLANS) live = control->live();
  }
  // Work of the stream may still be under way; the descriptions are all there.
  ck_assert_int_le(control->live(), live + 8);
  control->set_failure("cublasLtMatmulAlgoGetHeuristic", 1, 14);
  test_expect(test_multiply(blas, &t, 8, 8, 8, 1), TFRT_STATUS_INTERNAL,
              "cublasLtMatmulAlgoGetHeuristic failed");
  ck_assert(!test_multiply(blas, &t, 8, 8, 8, 1));
  tfrt_device_blas_release(blas);
  test_close(&t);
}
END_TEST

// A stream's memory for libraries: it grows under work that uses it, and goes with the stream,
// behind that work.
START_TEST(a_workspace_is_of_its_stream_and_goes_with_it) {
  tfrt_test_t t;
  tfrt_device_blas_t* blas[2];
  test_open(&t, NULL);
  for (int i = 0; i < 2; ++i) ck_assert(!tfrt_device_create_blas(t.device, &blas[i]));
  tfrt_device_buffer_t* matrix;
  ck_assert(!tfrt_device_allocator_allocate(t.allocator, t.stream, 200 * 4, &matrix));
  ck_assert(!tfrt_device_stream_fill(t.stream, matrix, 0, 4));
  for (int round = 0; round < 30; ++round) {
    tfrt_blas_scalar_t one = {.dtype = TFRT_DTYPE_F32, .f32 = 1};
    tfrt_blas_matrix_t row = {.buffer = matrix, .dtype = TFRT_DTYPE_F32, .height = 1};
    // The fake asks for a KiB for each row and column.
    tfrt_blas_multiply_t multiply = {.rows = 1,
                                     .columns = 1 + 6 * round,
                                     .inner = 1,
                                     .alpha = one,
                                     .a = row,
                                     .b = row,
                                     .beta = one,
                                     .c = row,
                                     .count = 1,
                                     .compute = TFRT_BLAS_COMPUTE_F32,
                                     .algorithm = TFRT_BLAS_ALGORITHM_DEFAULT};
    ck_assert(!tfrt_device_blas_multiply(blas[round % 2], t.stream, &multiply));
  }
  tfrt_device_buffer_release(matrix);
  for (int i = 0; i < 2; ++i) tfrt_device_blas_release(blas[i]);
  test_close(&t);
}
END_TEST

// A thousand products, in streams that come and go, by handles that do.
START_TEST(a_thousand_products_leave_nothing) {
  const tfrt_fake_cuda_control_t* control = tfrt_fake_cuda_control();
  tfrt_test_t t;
  test_open(&t, NULL);
  tfrt_device_stream_t* first = t.stream;
  tfrt_device_buffer_t* memory = t.memory;
  ck_assert(!tfrt_test_await(tfrt_device_stream_await(first)));
  const int live = control->live();
  for (int round = 0; round < 50; ++round) {
    tfrt_device_blas_t* blas;
    ck_assert(!tfrt_device_create_blas(t.device, &blas));
    ck_assert(!tfrt_device_create_stream(t.device, &t.stream));
    ck_assert(!tfrt_device_allocator_allocate(t.allocator, t.stream, 256, &t.memory));
    ck_assert(!tfrt_device_stream_fill(t.stream, t.memory, 0, 4));
    for (int i = 0; i < 20; ++i) ck_assert(!test_multiply(blas, &t, 2, 1 + i % 7, 3, 1));
    tfrt_device_buffer_release(t.memory);
    tfrt_device_stream_release(t.stream);
    tfrt_device_blas_release(blas);
    // The stream gives its memory back behind its work.
    while (control->live() > live) tfrt_thread_yield();
  }
  t.stream = first;
  t.memory = memory;
  test_close(&t);
}
END_TEST

// --- Neural networks ---------------------------------------------------------------------

static const tfrt_dnn_tensor_t one_number = {
    .dtype = TFRT_DTYPE_F32, .rank = 4, .sizes = {1, 1, 1, 1}, .steps = {1, 1, 1, 1}};
static const tfrt_dnn_pooling_t no_pooling = {.space = 2, .window = {1, 1}, .steps = {1, 1}};

// A convolution of one number, by |algorithm|.
static tfrt_dnn_convolve_t test_convolution(const tfrt_test_t* t, tfrt_dnn_direction_t direction,
                                            int32_t algorithm) {
  tfrt_dnn_memory_t memory = {.buffer = t->memory};
  return (tfrt_dnn_convolve_t){
      .direction = direction,
      .convolution = {.compute = TFRT_DTYPE_F32, .space = 2, .steps = {1, 1}, .dilation = {1, 1}},
      .algorithm = algorithm,
      .x_form = one_number,
      .x = memory,
      .w_form = {.dtype = TFRT_DTYPE_F32, .rank = 4, .sizes = {1, 1, 1, 1}},
      .w = memory,
      .y_form = one_number,
      .y = memory,
      .workspace = memory};
}

// Makes one call of each kind; returns the first error.
static tfrt_status_t test_use_dnn(tfrt_device_dnn_t* dnn, const tfrt_test_t* t) {
  tfrt_dnn_memory_t memory = {.buffer = t->memory};
  tfrt_dnn_pool_t pool = {.pooling = no_pooling,
                          .alpha = 1,
                          .x_form = one_number,
                          .x = memory,
                          .y_form = one_number,
                          .y = memory};
  tfrt_dnn_unpool_t unpool = {.pooling = no_pooling,
                              .alpha = 1,
                              .y_form = one_number,
                              .y = memory,
                              .dy_form = one_number,
                              .dy = memory,
                              .x_form = one_number,
                              .x = memory,
                              .dx_form = one_number,
                              .dx = memory};
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_pool(dnn, t->stream, &pool));
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_unpool(dnn, t->stream, &unpool));
  for (int direction = 0; direction <= TFRT_DNN_BACKWARD_FILTER; ++direction) {
    tfrt_dnn_convolve_t call = test_convolution(t, (tfrt_dnn_direction_t)direction, 1);
    TFRT_RETURN_IF_ERROR(tfrt_device_dnn_convolve(dnn, t->stream, &call));
  }
  tfrt_dnn_fuse_t fuse = {.convolve = test_convolution(t, TFRT_DNN_FORWARD, 1),
                          .alpha = 1,
                          .z_form = one_number,
                          .z = memory,
                          .bias_form = one_number,
                          .bias = memory,
                          .activation = {.mode = TFRT_DNN_RELU}};
  return tfrt_device_dnn_fuse(dnn, t->stream, &fuse);
}

// The same with call |n| of |name| failing.
static tfrt_status_t test_use_dnn_failing(const char* name, uint32_t n) {
  tfrt_test_t t;
  tfrt_device_dnn_t* dnn = NULL;
  test_open(&t, NULL);
  tfrt_fake_cuda_control()->set_failure(name, n, 5000);
  tfrt_status_t status = tfrt_device_create_dnn(t.device, &dnn);
  if (!status) status = test_use_dnn(dnn, &t);
  tfrt_fake_cuda_control()->set_failure(name, 0, 0);
  if (dnn) ck_assert(!test_use_dnn(dnn, &t));
  tfrt_device_dnn_release(dnn);
  test_close(&t);
  return status;
}

START_TEST(each_function_of_cudnn_may_fail) {
  // With how often it is called in all.
  static const struct {
    const char* name;
    uint32_t calls;
  } functions[] = {{"cudnnCreate", 1},
                   {"cudnnSetStream", 6},
                   {"cudnnCreateTensorDescriptor", 16},
                   {"cudnnSetTensorNdDescriptor", 16},
                   {"cudnnCreateFilterDescriptor", 4},
                   {"cudnnSetFilterNdDescriptor", 4},
                   {"cudnnCreatePoolingDescriptor", 2},
                   {"cudnnSetPoolingNdDescriptor", 2},
                   {"cudnnCreateConvolutionDescriptor", 4},
                   {"cudnnSetConvolutionNdDescriptor", 4},
                   {"cudnnSetConvolutionMathType", 4},
                   {"cudnnPoolingForward", 1},
                   {"cudnnPoolingBackward", 1},
                   {"cudnnGetConvolutionForwardWorkspaceSize", 2},
                   {"cudnnGetConvolutionBackwardDataWorkspaceSize", 1},
                   {"cudnnGetConvolutionBackwardFilterWorkspaceSize", 1},
                   {"cudnnConvolutionForward", 1},
                   {"cudnnConvolutionBackwardData", 1},
                   {"cudnnConvolutionBackwardFilter", 1},
                   {"cudnnCreateActivationDescriptor", 1},
                   {"cudnnSetActivationDescriptor", 1},
                   {"cudnnConvolutionBiasActivationForward", 1}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(functions); ++i) {
    char expected[160];
    snprintf(expected, sizeof(expected), "cuda:0: %s failed: CUDNN_STATUS_EXECUTION_FAILED (5000)",
             functions[i].name);
    for (uint32_t n = 1; n <= functions[i].calls; ++n) {
      test_expect(test_use_dnn_failing(functions[i].name, n), TFRT_STATUS_INTERNAL, expected);
    }
    tfrt_status_t status = test_use_dnn_failing(functions[i].name, functions[i].calls + 1);
    ck_assert_msg(!status, "%s", tfrt_status_message(status));
  }
}
END_TEST

START_TEST(a_workspace_that_is_too_small_is_refused) {
  tfrt_test_t t;
  tfrt_device_dnn_t* dnn;
  test_open(&t, NULL);
  ck_assert(!tfrt_device_create_dnn(t.device, &dnn));
  // The fake asks for 16 bytes for each step of the algorithm's number.
  tfrt_dnn_convolve_t call = test_convolution(&t, TFRT_DNN_FORWARD, 17);
  test_expect(tfrt_device_dnn_convolve(dnn, t.stream, &call), TFRT_STATUS_INVALID_ARGUMENT,
              "algorithm 17 of a convolution needs a workspace of 272 bytes and gets 256");
  tfrt_device_dnn_release(dnn);
  test_close(&t);
}
END_TEST

// --- Plans -------------------------------------------------------------------------------

// A convolution of one number, with a relu if |is_fused|.
static tfrt_dnn_plan_form_t test_form(bool is_fused) {
  tfrt_dnn_layout_t one = {
      .dtype = TFRT_DTYPE_F32, .rank = 4, .sizes = {1, 1, 1, 1}, .steps = {1, 1, 1, 1}};
  return (tfrt_dnn_plan_form_t){.space = 2,
                                .steps = {1, 1},
                                .dilation = {1, 1},
                                .x = one,
                                .w = one,
                                .y = one,
                                .is_fused = is_fused,
                                .alpha = 1,
                                .bias = one,
                                .activation = TFRT_DNN_RELU};
}

static const int64_t knob_types[] = {2, 5, 2};
static const int64_t knob_values[] = {1000, 7, 30};

// Builds |form| by |engine| with |dnn| and runs it once; returns the first error.
static tfrt_status_t test_plan(const tfrt_test_t* t, tfrt_device_dnn_t* dnn,
                               const tfrt_dnn_plan_form_t* form, const tfrt_dnn_engine_t* engine) {
  tfrt_dnn_memory_t memory = {.buffer = t->memory};
  tfrt_dnn_plan_memory_t memories = {.x = memory, .y = memory, .w = memory, .workspace = memory};
  tfrt_device_dnn_plan_t* plan;
  if (form->is_fused) memories.z = memories.bias = memory;
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_build(dnn, form, engine, &plan));
  tfrt_status_t status = tfrt_device_dnn_plan_run(plan, dnn, t->stream, &memories);
  tfrt_device_dnn_plan_release(plan);
  return status;
}

// Uses a fused plan with knobs; with call |n| of |name| failing, and then again without.
static tfrt_status_t test_use_plan_failing(const char* name, uint32_t n) {
  tfrt_test_t t;
  tfrt_device_dnn_t* dnn;
  tfrt_dnn_plan_form_t form = test_form(true);
  tfrt_dnn_engine_t engine = {1, 3, knob_types, knob_values};
  test_open(&t, NULL);
  ck_assert(!tfrt_device_create_dnn(t.device, &dnn));
  tfrt_fake_cuda_control()->set_failure(name, n, 5000);
  tfrt_status_t status = test_plan(&t, dnn, &form, &engine);
  tfrt_fake_cuda_control()->set_failure(name, 0, 0);
  ck_assert(!test_plan(&t, dnn, &form, &engine));
  tfrt_device_dnn_release(dnn);
  test_close(&t);
  return status;
}

START_TEST(each_function_of_the_backend_may_fail) {
  // With how often it is called in all: 20 descriptors of the plan, 2 knobs and a run's memory.
  static const struct {
    const char* name;
    uint32_t calls;
  } functions[] = {{"cudnnSetStream", 1},
                   {"cudnnBackendCreateDescriptor", 23},
                   {"cudnnBackendFinalize", 23},
                   {"cudnnBackendGetAttribute", 1},
                   {"cudnnBackendSetAttribute", 98},
                   {"cudnnBackendExecute", 1}};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(functions); ++i) {
    for (uint32_t n = 1; n <= functions[i].calls; ++n) {
      tfrt_status_t status = test_use_plan_failing(functions[i].name, n);
      ck_assert_msg(
          tfrt_status_code(status) == TFRT_STATUS_INTERNAL &&
              strstr(tfrt_status_message(status), "cuda:0: ") &&
              strstr(tfrt_status_message(status), functions[i].name) &&
              strstr(tfrt_status_message(status), " failed: CUDNN_STATUS_EXECUTION_FAILED (5000)"),
          "%s, call %u: %s", functions[i].name, n, tfrt_status_message(status));
      tfrt_status_release(status);
    }
    tfrt_status_t status = test_use_plan_failing(functions[i].name, functions[i].calls + 1);
    ck_assert_msg(!status, "%s", tfrt_status_message(status));
  }
}
END_TEST

START_TEST(a_plan_says_what_it_needs) {
  tfrt_test_t t;
  tfrt_device_dnn_t* dnn;
  tfrt_dnn_plan_form_t form = test_form(false);
  tfrt_dnn_engine_t engine = {14, 3, knob_types, knob_values};
  test_open(&t, NULL);
  ck_assert(!tfrt_device_create_dnn(t.device, &dnn));
  // The fake asks for 16 bytes for each step of the engine's number, and the values of knobs; the
  // last knob of a type counts.
  test_expect(test_plan(&t, dnn, &form, &engine), TFRT_STATUS_INVALID_ARGUMENT,
              "cuda:0: a plan of engine 14 needs a workspace of 261 bytes and gets 256");
  engine.index = 13;
  ck_assert(!test_plan(&t, dnn, &form, &engine));
  engine.index = 32;
  test_expect(test_plan(&t, dnn, &form, &engine), TFRT_STATUS_INTERNAL,
              "cuda:0: cudnnBackendFinalize of the engine of engine_id failed: "
              "CUDNN_STATUS_NOT_SUPPORTED (3000)");
  int64_t unknown[] = {8};
  engine = (tfrt_dnn_engine_t){0, 1, unknown, knob_values};
  test_expect(test_plan(&t, dnn, &form, &engine), TFRT_STATUS_INTERNAL,
              "cudnnBackendFinalize of an engine with the choices of tuning_knob_ids failed: "
              "CUDNN_STATUS_NOT_SUPPORTED (3000)");
  tfrt_device_dnn_release(dnn);
  test_close(&t);
}
END_TEST

START_TEST(a_library_without_a_backend_does_all_else) {
  tfrt_test_t t;
  tfrt_device_dnn_t* dnn;
  tfrt_dnn_plan_form_t form = test_form(false);
  test_open(&t, TFRT_FAKE_OLD_CUDNN_PATH);
  ck_assert(!tfrt_device_create_dnn(t.device, &dnn));
  ck_assert(!test_use_dnn(dnn, &t));
  test_expect(test_plan(&t, dnn, &form, &(tfrt_dnn_engine_t){0}), TFRT_STATUS_UNAVAILABLE,
              "no backend of cuDNN: " TFRT_FAKE_OLD_CUDNN_PATH
              " has no cudnnBackendCreateDescriptor; install cuDNN 8.0.2 or later");
  tfrt_device_dnn_release(dnn);
  test_close(&t);
}
END_TEST

// --- Groups of devices -------------------------------------------------------------------

// Executes one call of each kind, in a group of one; returns the first error.
static tfrt_status_t test_use_ccl(const tfrt_test_t* t) {
  tfrt_ccl_id_t id;
  tfrt_device_ccl_t* ccl;
  tfrt_ccl_site_t site;
  tfrt_ccl_call_t calls[TFRT_CCL_ALL_TO_ALL];
  for (int kind = 0; kind < TFRT_CCL_ALL_TO_ALL; ++kind) {
    calls[kind] = (tfrt_ccl_call_t){.kind = (tfrt_ccl_kind_t)kind, .dtype = TFRT_DTYPE_F32};
    if (kind != TFRT_CCL_RECEIVE) calls[kind].input = t->memory;
    if (kind != TFRT_CCL_SEND && kind != TFRT_CCL_BROADCAST) calls[kind].output = t->memory;
  }
  TFRT_RETURN_IF_ERROR(tfrt_device_ccl_site(t->device, &site));
  TFRT_RETURN_IF_ERROR(tfrt_device_platform_create_ccl_id(t->platform, &id));
  TFRT_RETURN_IF_ERROR(tfrt_device_create_ccl(t->device, &id, 0, 1, &ccl));
  tfrt_status_t status = tfrt_test_await(tfrt_device_ccl_join(ccl));
  if (!status)
    status = tfrt_test_await(tfrt_device_ccl_execute(ccl, t->stream, calls, TFRT_CCL_ALL_TO_ALL));
  tfrt_device_ccl_release(ccl);
  return status;
}

START_TEST(each_function_of_nccl_may_fail) {
  static const char* const names[] = {"ncclGetUniqueId",
                                      "ncclCommInitRankConfig",
                                      "ncclCommGetAsyncError",
                                      "ncclGroupStart",
                                      "ncclGroupEnd",
                                      "ncclAllGather",
                                      "ncclAllReduce",
                                      "ncclReduceScatter",
                                      "ncclSend",
                                      "ncclRecv",
                                      "ncclReduce",
                                      "ncclBroadcast",
                                      "ncclGetVersion"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    tfrt_test_t t;
    char expected[128];
    // The library's own names say where: an id is of no device.
    snprintf(expected, sizeof(expected), "%s failed: ncclSystemError (2)", names[i]);
    test_open(&t, NULL);
    tfrt_fake_cuda_control()->set_failure(names[i], 1, 2);
    test_expect(test_use_ccl(&t), TFRT_STATUS_UNAVAILABLE, expected);
    // Nothing but that group is lost.
    tfrt_status_t status = test_use_ccl(&t);
    ck_assert_msg(!status, "%s", tfrt_status_message(status));
    test_close(&t);
  }
}
END_TEST

// Ends of an object that may fail have nobody to tell; nothing hangs, and the fake keeps its own.
START_TEST(a_member_whose_device_is_lost_is_aborted) {
  tfrt_test_t t;
  tfrt_ccl_id_t id;
  tfrt_device_ccl_t* ccl;
  test_open(&t, NULL);
  ck_assert(!tfrt_device_platform_create_ccl_id(t.platform, &id));
  ck_assert(!tfrt_device_create_ccl(t.device, &id, 0, 2, &ccl));
  tfrt_status_t lost = tfrt_status_create(TFRT_STATUS_INTERNAL, "the device burns");
  tfrt_device_lose(t.device, lost);
  tfrt_status_release(lost);
  test_expect(tfrt_test_await(tfrt_device_ccl_join(ccl)), TFRT_STATUS_INTERNAL, "the device burns");
  tfrt_device_ccl_release(ccl);
  tfrt_device_buffer_release(t.memory);
  t.memory = NULL;
  test_close(&t);
}
END_TEST

Suite* tfrt_test_suite(void) {
  Suite* suite = suite_create("cuda_libraries");
  TCase* libraries = tcase_create("libraries");
  tcase_set_timeout(libraries, 60);
  tcase_add_test(libraries, an_absent_library_is_one_clear_line);
  tcase_add_test(libraries, a_library_that_is_another_one_is_one_clear_line);
  tcase_add_test(libraries, each_function_of_cublas_may_fail);
  tcase_add_test(libraries, the_numbers_are_the_librarys);
  tcase_add_test(libraries, each_function_of_cublaslt_may_fail);
  tcase_add_test(libraries, a_product_that_cublaslt_refuses_is_made_by_cublas);
  tcase_add_test(libraries, without_cublaslt_or_its_memory_cublas_makes_all_products);
  tcase_add_test(libraries, an_algorithm_is_chosen_once_for_a_shape_and_the_oldest_is_forgotten);
  tcase_add_test(libraries, a_workspace_is_of_its_stream_and_goes_with_it);
  tcase_add_test(libraries, a_thousand_products_leave_nothing);
  tcase_add_test(libraries, each_function_of_cudnn_may_fail);
  tcase_add_test(libraries, a_workspace_that_is_too_small_is_refused);
  tcase_add_test(libraries, each_function_of_the_backend_may_fail);
  tcase_add_test(libraries, a_plan_says_what_it_needs);
  tcase_add_test(libraries, a_library_without_a_backend_does_all_else);
  tcase_add_test(libraries, each_function_of_nccl_may_fail);
  tcase_add_test(libraries, a_member_whose_device_is_lost_is_aborted);
  suite_add_tcase(suite, libraries);
  return suite;
}
