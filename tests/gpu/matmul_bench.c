// SPDX-License-Identifier: Apache-2.0
//
// Products of square matrices by the kernels that come with the runtime, and by cuBLAS through the
// runtime, each beside bare cuBLAS where its library is found: all make 2 n^3 operations.
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "devices/cuda/cublas_api.h"
#include "devices/device_blas.h"
#include "tests/gpu/device_bench.h"

extern const char tfrt_standard_kernels_image[];
extern const char tfrt_f16_sm80_kernels_image[];
extern const char tfrt_bf16_kernels_image[];

// Rows and columns that a block of threads makes at least.
#define TILE 128u

// Calls per wait, in the second of two measurements; a quarter for large matrices.
#define CALLS 40

// An element type: its kernel, and what cuBLAS calls it.
typedef struct tfrt_matmul_type_s {
  const char* name;
  const char* image;
  uint32_t architecture;  // of the GPUs that know it
  uint32_t element_size;
  int cublas_type;
  tfrt_dtype_t dtype;
} tfrt_matmul_type_t;

static const tfrt_matmul_type_t types[] = {
    {"f32", tfrt_standard_kernels_image, 70, 4, TFRT_CUBLAS_R_32F, TFRT_DTYPE_F32},
    {"f16", tfrt_f16_sm80_kernels_image, 80, 2, TFRT_CUBLAS_R_16F, TFRT_DTYPE_F16},
    {"bf16", tfrt_bf16_kernels_image, 80, 2, TFRT_CUBLAS_R_16BF, TFRT_DTYPE_BF16},
};

typedef struct tfrt_matmul_bench_s {
  tfrt_device_bench_t* bench;
  const tfrt_matmul_type_t* type;
  tfrt_device_function_t* function;
  tfrt_device_buffer_t* matrices[3];
  uint32_t size;
  int calls;  // behind which one wait comes
  tfrt_cublas_api_t api;
  tfrt_cublas_handle_t cublas;  // NULL: there is no cuBLAS
  tfrt_device_blas_t* blas;     // it through the runtime; NULL likewise
} tfrt_matmul_bench_t;

// --- cuBLAS ----------------------------------------------------------------------------------

// The library; for show it is the driver's stand-in, which has both.
static void* matmul_bench_open_library(const tfrt_device_bench_t* bench) {
  static const char* const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};
  if (bench->library) return dlopen(bench->library, RTLD_NOW | RTLD_LOCAL);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(names); ++i) {
    void* library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (library) return library;
  }
  return NULL;
}

// Sets |address|, of |size| bytes, to the entry point |name|; returns whether there is one.
static bool matmul_bench_find(void* library, const char* name, void* address, size_t size) {
  void* found = dlsym(library, name);
  if (found) memcpy(address, &found, size);
  return found != NULL;
}

// Looks for cuBLAS, bare and through the runtime: both or none.
static void matmul_bench_open_cublas(tfrt_matmul_bench_t* state) {
  tfrt_cublas_api_t* api = &state->api;
  void* library = matmul_bench_open_library(state->bench);
  bool found = library != NULL;
#define TFRT_MATMUL_BENCH_FIND(name, symbol, parameters) \
  found = found && matmul_bench_find(library, symbol, &api->name, sizeof(api->name));
  TFRT_CUBLAS_ENTRIES(TFRT_MATMUL_BENCH_FIND)
#undef TFRT_MATMUL_BENCH_FIND
  tfrt_status_t status = found ? tfrt_device_create_blas(state->bench->device, &state->blas) : NULL;
  tfrt_device_bench_ok(status);
  if (!found || api->Create(&state->cublas) != 0) {
    state->cublas = NULL;
  } else if (api->SetStream(state->cublas, state->bench->plain_streams[0]) != 0) {
    state->cublas = NULL;
  }
}

static const void* matmul_bench_matrix(const tfrt_matmul_bench_t* state, int index) {
  return (const void*)(uintptr_t)state->matrices[index]->address;
}

// cuBLAS's matrices are transposed: so is the product, if left and right change places.
static void matmul_bench_cublas(void* argument) {
  tfrt_matmul_bench_t* state = argument;
  const float one = 1;
  const float zero = 0;
  int n = (int)state->size;
  int type = state->type->cublas_type;
  int result = 0;
  for (int i = 0; i < state->calls && result == 0; ++i) {
    result =
        state->api.GemmEx(state->cublas, TFRT_CUBLAS_OP_N, TFRT_CUBLAS_OP_N, n, n, n, &one,
                          matmul_bench_matrix(state, 1), type, n, matmul_bench_matrix(state, 0),
                          type, n, &zero, (void*)(uintptr_t)state->matrices[2]->address, type, n,
                          TFRT_CUBLAS_COMPUTE_32F, TFRT_BLAS_ALGORITHM_DEFAULT);
  }
  if (result != 0) {
    tfrt_device_bench_ok(
        tfrt_status_create(TFRT_STATUS_INTERNAL, "cublasGemmEx gave the status %d", result));
  }
  tfrt_device_bench_finish_plain(state->bench, 0);
}

// --- cuBLAS through the runtime ----------------------------------------------------------------

static void matmul_bench_blas(void* argument) {
  tfrt_matmul_bench_t* state = argument;
  int32_t n = (int32_t)state->size;
  tfrt_blas_matrix_t matrices[3];
  for (int i = 0; i < 3; ++i) {
    matrices[i] = (tfrt_blas_matrix_t){
        .buffer = state->matrices[i], .dtype = state->type->dtype, .height = n};
  }
  tfrt_blas_multiply_t call = {.rows = n,
                               .columns = n,
                               .inner = n,
                               .alpha = {.dtype = TFRT_DTYPE_F32, .f32 = 1},
                               .a = matrices[1],
                               .b = matrices[0],
                               .beta = {.dtype = TFRT_DTYPE_F32, .f32 = 0},
                               .c = matrices[2],
                               .count = 1,
                               .compute = TFRT_BLAS_COMPUTE_F32,
                               .algorithm = TFRT_BLAS_ALGORITHM_DEFAULT};
  for (int i = 0; i < state->calls; ++i) {
    tfrt_device_bench_ok(tfrt_device_blas_multiply(state->blas, state->bench->streams[0], &call));
  }
  tfrt_device_bench_finish(state->bench, 0);
}

// --- Ours ------------------------------------------------------------------------------------

static void matmul_bench_ours(void* argument) {
  tfrt_matmul_bench_t* state = argument;
  uint32_t blocks = (state->size + TILE - 1) / TILE;
  tfrt_device_launch_t launch = {.grid = {blocks, blocks, 1}, .block = {256, 1, 1}};
  tfrt_device_argument_t size = {.bytes = &state->size, .size = sizeof(state->size)};
  tfrt_device_argument_t arguments[] = {{.buffer = state->matrices[0]},
                                        {.buffer = state->matrices[1]},
                                        {.buffer = state->matrices[2]},
                                        size,
                                        size,
                                        size};
  for (int i = 0; i < state->calls; ++i) {
    tfrt_device_bench_ok(tfrt_device_stream_launch(state->bench->streams[0], state->function,
                                                   &launch, arguments, TFRT_ARRAY_SIZE(arguments)));
  }
  tfrt_device_bench_finish(state->bench, 0);
}

static void matmul_bench_prepare(tfrt_matmul_bench_t* state) {
  tfrt_device_stream_t* stream = state->bench->streams[0];
  size_t bytes = (size_t)state->size * state->size * state->type->element_size;
  char name[32];
  snprintf(name, sizeof(name), "tfrt_matmul_%s", state->type->name);
  tfrt_device_module_t* module;
  const char* image = state->type->image;
  tfrt_device_bench_ok(
      tfrt_device_load_module(state->bench->device, image, strlen(image), &module));
  tfrt_device_bench_ok(tfrt_device_module_function(module, name, &state->function));
  tfrt_device_module_release(module);
  for (int i = 0; i < 3; ++i) {
    tfrt_device_bench_ok(tfrt_device_allocator_allocate(state->bench->allocator, stream, bytes,
                                                        &state->matrices[i]));
    tfrt_device_bench_ok(
        tfrt_device_bench_fill(state->bench, state->matrices[i], state->type->element_size));
  }
  tfrt_device_bench_finish(state->bench, 0);
}

// Prints the line of |work|, beside |theirs|, bare cuBLAS in TFLOP/s, or 0: there is none.
static void matmul_bench_line(tfrt_matmul_bench_t* state, const char* what,
                              void (*work)(void* state)) {
  double operations = 2.0 * state->size * state->size * state->size * state->calls / 1000;
  printf("| product of matrices, %s, %u, %s, %d per wait (beside cuBLAS) | ", state->type->name,
         state->size, what, state->calls);
  if (state->cublas) {
    tfrt_device_bench_pair_t pair =
        tfrt_device_bench_measure_pair(matmul_bench_cublas, work, state);
    printf("%.1f TFLOP/s | %.1f TFLOP/s | %.2f |\n", operations / pair.plain,
           operations / pair.layer, pair.plain / pair.layer);
  } else {
    printf("no cuBLAS | %.1f TFLOP/s | - |\n", operations / tfrt_device_bench_measure(work, state));
  }
}

static void matmul_bench_run(tfrt_matmul_bench_t* state) {
  matmul_bench_prepare(state);
  int many = state->bench->library ? 2 : state->size > 4096 ? CALLS / 4 : CALLS;
  for (int calls = 1; calls <= many; calls += many - 1) {
    state->calls = calls;
    matmul_bench_line(state, "our kernel", matmul_bench_ours);
    if (state->cublas) matmul_bench_line(state, "by cuBLAS", matmul_bench_blas);
  }
  for (int i = 0; i < 3; ++i) tfrt_device_buffer_release(state->matrices[i]);
  tfrt_device_function_release(state->function);
}

void tfrt_device_bench_run_matmul(tfrt_device_bench_t* bench) {
  static const uint32_t sizes[] = {4096, 8192};
  static const uint32_t sizes_for_show[] = {16, 32};
  tfrt_matmul_bench_t state = {.bench = bench};
  matmul_bench_open_cublas(&state);
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(types); ++i) {
    if (bench->device->properties.architecture < types[i].architecture) continue;
    for (size_t k = 0; k < TFRT_ARRAY_SIZE(sizes); ++k) {
      state.type = &types[i];
      state.size = bench->library ? sizes_for_show[k] : sizes[k];
      matmul_bench_run(&state);
    }
  }
  tfrt_device_blas_release(state.blas);
}
