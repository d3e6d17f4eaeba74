// SPDX-License-Identifier: Apache-2.0
//
// Each call of a backend fails once: the caller gets that error or the right results, nothing
// hangs, and all memory comes back or is reported to be kept.
#include "devices/conformance/conformance.h"
#include "devices/cpu/cpu_platform.h"
#include "devices/device_allocator.h"
#include "devices/device_blas.h"
#include "devices/device_ccl.h"
#include "devices/device_dnn_plan.h"
#include "devices/device_stream.h"
#include "host_runtime/async/thread_pool_work_queue.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/sync.h"
#include "tests/devices/awaiting.h"
#include "tests/devices/test_kernels.h"
#include "tests/fakes/faulty_platform.h"
#include "tests/support/test_main.h"

#define COUNT 1024
#define SIZE (COUNT * sizeof(uint32_t))
// More calls of any kind than one run of the program makes.
#define MAX_CALLS 24

// --- Memory that is kept ---------------------------------------------------------

static _Atomic int kept_lines;

static void test_log(void* self, tfrt_log_severity_t severity, const char* line, size_t size) {
  (void)self;
  (void)severity;
  (void)size;
  if (strstr(line, "kept")) atomic_fetch_add(&kept_lines, 1);
}

// Gives out memory and remembers it, so that what is kept can be given back in the end, when
// no work is left that might use it.
typedef struct tfrt_test_block_s {
  tfrt_list_link_t link;
  size_t size;
} tfrt_test_block_t;

#define HEADER_SIZE ((size_t)TFRT_DEVICE_ALIGNMENT)

static tfrt_mutex_t blocks_mutex = TFRT_MUTEX_INITIALIZER;
static tfrt_list_link_t blocks;  // guarded by |blocks_mutex|

static void* test_allocate(void* self, size_t size, size_t alignment) {
  (void)self;
  ck_assert(alignment <= HEADER_SIZE);
  char* block =
      tfrt_allocator_allocate_aligned(tfrt_allocator_system(), HEADER_SIZE + size, HEADER_SIZE);
  ck_assert_ptr_nonnull(block);
  tfrt_test_block_t* header = (tfrt_test_block_t*)(void*)block;
  header->size = HEADER_SIZE + size;
  tfrt_mutex_lock(&blocks_mutex);
  tfrt_list_push_back(&blocks, &header->link);
  tfrt_mutex_unlock(&blocks_mutex);
  return block + HEADER_SIZE;
}

static void test_free_block(tfrt_test_block_t* header) {
  tfrt_allocator_free_aligned(tfrt_allocator_system(), header, header->size, HEADER_SIZE);
}

static void test_deallocate(void* self, void* pointer, size_t size, size_t alignment) {
  (void)self;
  (void)size;
  (void)alignment;
  tfrt_test_block_t* header = (tfrt_test_block_t*)(void*)((char*)pointer - HEADER_SIZE);
  tfrt_mutex_lock(&blocks_mutex);
  tfrt_list_remove(&header->link);
  tfrt_mutex_unlock(&blocks_mutex);
  test_free_block(header);
}

// Gives back all blocks that are left and returns how many these were.
static int test_free_rest(void) {
  int count = 0;
  for (tfrt_list_link_t* link; (link = tfrt_list_pop_front(&blocks)); ++count) {
    test_free_block(TFRT_CONTAINER_OF(link, tfrt_test_block_t, link));
  }
  return count;
}

// --- The program -----------------------------------------------------------------

typedef struct tfrt_test_program_s {
  tfrt_device_t* device;
  tfrt_device_stream_t* streams[2];
  tfrt_device_allocator_t* allocator;
  tfrt_device_allocator_t* host_allocator;
  tfrt_device_module_t* module;
  tfrt_device_function_t* increment;
  tfrt_device_buffer_t* total;
  tfrt_device_buffer_t* buffer;
  tfrt_device_buffer_t* host;
  tfrt_device_buffer_t* pinned;
  tfrt_device_blas_t* blas;
  tfrt_device_dnn_t* dnn;
  tfrt_device_ccl_t* ccl;
  tfrt_host_buffer_t* tensor;
} tfrt_test_program_t;

static tfrt_status_t test_make(tfrt_test_program_t* p, bool with_cache) {
  const char* image = tfrt_conformance_ptx();
  TFRT_RETURN_IF_ERROR(tfrt_device_create_stream(p->device, &p->streams[0]));
  TFRT_RETURN_IF_ERROR(tfrt_device_create_stream(p->device, &p->streams[1]));
  TFRT_RETURN_IF_ERROR(with_cache ? tfrt_device_allocator_create_caching(
                                        p->device, TFRT_DEVICE_SPACE_DEVICE, &p->allocator)
                                  : tfrt_device_allocator_create(p->device, &p->allocator));
  TFRT_RETURN_IF_ERROR(
      tfrt_device_allocator_create_caching(p->device, TFRT_DEVICE_SPACE_HOST, &p->host_allocator));
  TFRT_RETURN_IF_ERROR(tfrt_device_load_module(p->device, image, strlen(image), &p->module));
  TFRT_RETURN_IF_ERROR(tfrt_device_module_function(p->module, "test_increment", &p->increment));
  TFRT_RETURN_IF_ERROR(tfrt_device_module_global(p->module, "test_total", &p->total));
  TFRT_RETURN_IF_ERROR(
      tfrt_device_allocator_allocate(p->allocator, p->streams[0], SIZE, &p->buffer));
  TFRT_RETURN_IF_ERROR(tfrt_device_allocator_allocate(p->host_allocator, NULL, SIZE, &p->host));
  TFRT_RETURN_IF_ERROR(tfrt_device_create_blas(p->device, &p->blas));
  TFRT_RETURN_IF_ERROR(tfrt_device_create_dnn(p->device, &p->dnn));
  tfrt_ccl_id_t id;
  TFRT_RETURN_IF_ERROR(tfrt_device_platform_create_ccl_id(p->device->platform, &id));
  TFRT_RETURN_IF_ERROR(tfrt_device_create_ccl(p->device, &id, 0, 1, &p->ccl));
  TFRT_RETURN_IF_ERROR(tfrt_host_buffer_create(SIZE, p->device->platform->allocator, &p->tensor));
  return tfrt_device_buffer_create_pinned(p->device, p->tensor, &p->pinned);
}

// Solves 2 x = 4 * 2 in |stream|, in pinned memory.
static tfrt_status_t test_solve(tfrt_test_program_t* p, tfrt_device_stream_t* stream) {
  double* numbers = tfrt_device_buffer_host_data(p->host);
  numbers[0] = 2;
  tfrt_blas_matrix_t matrix = {.buffer = p->host, .dtype = TFRT_DTYPE_F64, .height = 1};
  tfrt_blas_solve_t call = {.rows = 1,
                            .columns = 1,
                            .alpha = {.dtype = TFRT_DTYPE_F64, .f64 = 4},
                            .a = matrix,
                            .b = matrix,
                            .count = 1};
  TFRT_RETURN_IF_ERROR(tfrt_device_blas_solve(p->blas, stream, &call));
  TFRT_RETURN_IF_ERROR(tfrt_test_await(tfrt_device_stream_await(stream)));
  ck_assert(numbers[0] == 4.0);
  return NULL;
}

// Pools one number in |stream|, in pinned memory.
static tfrt_status_t test_pool(tfrt_test_program_t* p, tfrt_device_stream_t* stream) {
  double* numbers = tfrt_device_buffer_host_data(p->host);
  numbers[0] = 3;
  tfrt_dnn_tensor_t form = {
      .dtype = TFRT_DTYPE_F64, .rank = 4, .sizes = {1, 1, 1, 1}, .steps = {1, 1, 1, 1}};
  tfrt_dnn_pool_t call = {.pooling = {.space = 2, .window = {1, 1}, .steps = {1, 1}},
                          .alpha = 2,
                          .x_form = form,
                          .x = {.buffer = p->host},
                          .y_form = form,
                          .y = {.buffer = p->host}};
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_pool(p->dnn, stream, &call));
  TFRT_RETURN_IF_ERROR(tfrt_test_await(tfrt_device_stream_await(stream)));
  ck_assert(numbers[0] == 6.0);
  return NULL;
}

// Convolves one number by a plan in |stream|, in pinned memory.
static tfrt_status_t test_plan(tfrt_test_program_t* p, tfrt_device_stream_t* stream) {
  double* numbers = tfrt_device_buffer_host_data(p->host);
  numbers[0] = 3;
  tfrt_dnn_layout_t one = {
      .dtype = TFRT_DTYPE_F64, .rank = 4, .sizes = {1, 1, 1, 1}, .steps = {1, 1, 1, 1}};
  tfrt_dnn_plan_form_t form = {
      .space = 2, .steps = {1, 1}, .dilation = {1, 1}, .x = one, .w = one, .y = one};
  tfrt_dnn_memory_t memory = {.buffer = p->host};
  tfrt_dnn_plan_memory_t memories = {.x = memory, .y = memory, .w = memory, .workspace = memory};
  tfrt_device_dnn_plan_t* plan;
  TFRT_RETURN_IF_ERROR(tfrt_device_dnn_build(p->dnn, &form, &(tfrt_dnn_engine_t){0}, &plan));
  tfrt_status_t status = tfrt_device_dnn_plan_run(plan, p->dnn, stream, &memories);
  tfrt_device_dnn_plan_release(plan);
  if (!status) status = tfrt_test_await(tfrt_device_stream_await(stream));
  if (!status) ck_assert(numbers[0] == 9.0);
  return status;
}

// Has the group's only member gather one number, in pinned memory.
static tfrt_status_t test_exchange(tfrt_test_program_t* p, tfrt_device_stream_t* stream) {
  double* numbers = tfrt_device_buffer_host_data(p->host);
  tfrt_device_buffer_t* parts[2];
  for (size_t i = 0; i < 2; ++i) {
    ck_assert(!tfrt_device_buffer_create_view(p->host, i * sizeof(*numbers), sizeof(*numbers),
                                              &parts[i]));
  }
  numbers[0] = 5;
  numbers[1] = 0;
  tfrt_ccl_call_t call = {
      .kind = TFRT_CCL_ALL_GATHER, .dtype = TFRT_DTYPE_F64, .input = parts[0], .output = parts[1]};
  tfrt_status_t status = tfrt_test_await(tfrt_device_ccl_execute(p->ccl, stream, &call, 1));
  if (!status) status = tfrt_test_await(tfrt_device_stream_await(stream));
  for (size_t i = 0; i < 2; ++i) tfrt_device_buffer_release(parts[i]);
  if (!status) ck_assert(numbers[1] == 5.0);
  return status;
}

// Fills in one stream, adds one in the other, copies to pinned memory of both kinds.
static tfrt_status_t test_work(tfrt_test_program_t* p) {
  uint32_t count = COUNT;
  tfrt_device_launch_t launch = {.grid = {8, 1, 1}, .block = {128, 1, 1}};
  tfrt_device_argument_t arguments[] = {{.buffer = p->buffer},
                                        {.bytes = &count, .size = sizeof(count)}};
  TFRT_RETURN_IF_ERROR(test_solve(p, p->streams[0]));
  TFRT_RETURN_IF_ERROR(test_pool(p, p->streams[0]));
  TFRT_RETURN_IF_ERROR(test_plan(p, p->streams[0]));
  TFRT_RETURN_IF_ERROR(test_exchange(p, p->streams[0]));
  TFRT_RETURN_IF_ERROR(tfrt_device_stream_fill(p->streams[0], p->buffer, 41, 4));
  TFRT_RETURN_IF_ERROR(tfrt_device_stream_join(p->streams[1], p->streams[0]));
  TFRT_RETURN_IF_ERROR(
      tfrt_device_stream_launch(p->streams[1], p->increment, &launch, arguments, 2));
  TFRT_RETURN_IF_ERROR(tfrt_device_stream_copy(p->streams[1], p->host, 0, p->buffer, 0, SIZE));
  TFRT_RETURN_IF_ERROR(tfrt_device_stream_copy(p->streams[1], p->pinned, 0, p->buffer, 0, SIZE));
  TFRT_RETURN_IF_ERROR(tfrt_test_await(tfrt_device_stream_await(p->streams[1])));
  const uint32_t* numbers = tfrt_device_buffer_host_data(p->host);
  const uint32_t* pinned = p->tensor->data;
  for (uint32_t i = 0; i < COUNT; ++i) ck_assert(numbers[i] == 42 && pinned[i] == 42);
  // Freed behind work of both streams, with one more copy to come.
  TFRT_RETURN_IF_ERROR(tfrt_device_stream_copy(p->streams[1], p->host, 0, p->buffer, 0, SIZE));
  return tfrt_device_buffer_free(p->buffer, p->streams[0]);
}

static void test_end(tfrt_test_program_t* p) {
  tfrt_device_blas_release(p->blas);
  tfrt_device_dnn_release(p->dnn);
  tfrt_device_ccl_release(p->ccl);
  tfrt_device_buffer_release(p->buffer);
  tfrt_device_buffer_release(p->host);
  tfrt_device_buffer_release(p->pinned);
  tfrt_device_buffer_release(p->total);
  tfrt_host_buffer_release(p->tensor);
  tfrt_device_function_release(p->increment);
  tfrt_device_module_release(p->module);
  tfrt_device_allocator_release(p->allocator);
  tfrt_device_allocator_release(p->host_allocator);
  tfrt_device_stream_release(p->streams[0]);
  tfrt_device_stream_release(p->streams[1]);
  tfrt_device_release(p->device);
}

// Runs the program once with a fault, and returns whether the fault was met.
static bool test_run(tfrt_work_queue_t* work_queue, bool with_cache, tfrt_fault_kind_t kind,
                     uint32_t n) {
  static const tfrt_allocator_vtable_t vtable = {test_allocate, test_deallocate};
  tfrt_allocator_t memory = {&vtable, NULL};
  tfrt_list_initialize(&blocks);
  tfrt_cpu_platform_options_t options = {.device_count = 1,
                                         .memory_size = 1 << 24,
                                         .has_pools = true,
                                         .kernels = tfrt_test_kernels,
                                         .kernel_count = TFRT_TEST_KERNEL_COUNT};
  tfrt_device_platform_t* cpu;
  tfrt_device_platform_t* platform;
  ck_assert(!tfrt_cpu_platform_create(&options, memory, work_queue, &cpu));
  ck_assert(!tfrt_faulty_platform_create(cpu, &platform));
  tfrt_device_platform_release(cpu);
  tfrt_test_program_t program = {0};
  ck_assert(!tfrt_device_platform_device(platform, 0, &program.device));
  atomic_store(&kept_lines, 0);
  tfrt_faulty_platform_fail(platform, kind, n);
  tfrt_status_t status = test_make(&program, with_cache);
  if (!status) status = test_work(&program);
  bool is_met = status != NULL;
  if (is_met) {
    ck_assert_msg(strstr(tfrt_status_message(status), "FAULT_ERROR_INJECTED") &&
                      strstr(tfrt_status_message(status), tfrt_fault_kind_name(kind)) &&
                      strstr(tfrt_status_message(status), "faulty:0"),
                  "%s", tfrt_status_message(status));
  }
  tfrt_status_release(status);
  test_end(&program);
  tfrt_device_platform_release(platform);
  tfrt_work_queue_quiesce(work_queue);
  int left = test_free_rest();
  ck_assert_msg(left == 0 || atomic_load(&kept_lines) > 0,
                "%s, call %u: %d blocks are left and nobody says why", tfrt_fault_kind_name(kind),
                n, left);
  return is_met;
}

static void test_run_all(bool with_cache) {
  static const tfrt_log_sink_t sink = {test_log, NULL};
  tfrt_log_set_sink(&sink);
  tfrt_work_queue_t* work_queue;
  tfrt_thread_pool_options_t options = {.thread_count = 2};
  ck_assert(!tfrt_thread_pool_work_queue_create(&options, tfrt_allocator_system(), &work_queue));
  ck_assert(!test_run(work_queue, with_cache, TFRT_FAULT_ALLOCATE, 0));
  for (int kind = 0; kind < TFRT_FAULT_KIND_COUNT; ++kind) {
    bool is_met = false;
    for (uint32_t n = 1; n <= MAX_CALLS; ++n) {
      is_met |= test_run(work_queue, with_cache, (tfrt_fault_kind_t)kind, n);
    }
    // Asking whether a block is done, and giving one back, are nobody's to report.
    ck_assert_msg(is_met || kind == TFRT_FAULT_QUERY || kind == TFRT_FAULT_DEALLOCATE,
                  "no call of %s", tfrt_fault_kind_name((tfrt_fault_kind_t)kind));
  }
  tfrt_work_queue_release(work_queue);
  tfrt_log_set_sink(NULL);
}

START_TEST(every_call_may_fail_with_pools) { test_run_all(false); }
END_TEST

START_TEST(every_call_may_fail_with_a_cache) { test_run_all(true); }
END_TEST

Suite* tfrt_test_suite(void) {
  TCase* faults = tcase_create("faults");
  tcase_set_timeout(faults, 60);
  tcase_add_test(faults, every_call_may_fail_with_pools);
  tcase_add_test(faults, every_call_may_fail_with_a_cache);
  Suite* suite = suite_create("faults");
  suite_add_tcase(suite, faults);
  return suite;
}
