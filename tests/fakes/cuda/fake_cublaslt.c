// SPDX-License-Identifier: Apache-2.0
//
// The fake driver's cuBLASLt: an algorithm is for one shape, one alignment of each matrix, and a
// workspace, whose bytes each product overwrites. A misuse by the caller is a defect: values of the
// wrong size, another shape than the algorithm's, matrices that lie worse, a workspace that is too
// small, or badly aligned, or that isn't there.
#include <string.h>

#include "devices/cpu/cpu_blas_math.h"
#include "devices/cuda/cublaslt_api.h"
#include "tests/fakes/cuda/fake_library.h"

// A workspace begins at a multiple of this.
#define WORKSPACE_ALIGNMENT 256

#define MAGIC UINT64_C(0x746c65736172656d)

struct tfrt_cublaslt_handle_s {
  tfrt_fake_library_t base;
};

struct tfrt_cublaslt_product_s {
  tfrt_fake_library_t base;
  int compute_type;
  int scale_type;
  int32_t forms[2];
};

struct tfrt_cublaslt_layout_s {
  tfrt_fake_library_t base;
  int type;
  uint64_t rows;
  uint64_t columns;
  int64_t height;
  int32_t count;
  int64_t distance;
};

struct tfrt_cublaslt_wish_s {
  tfrt_fake_library_t base;
  uint64_t max_workspace;
  uint32_t alignments[4];
};

// The library's symbols, as the real one has them.
#define FAKE_ENTRY(name, symbol, parameters) \
  TFRT_EXPORT tfrt_cublas_status_t cublasLt##name parameters;
TFRT_CUBLASLT_ENTRIES(FAKE_ENTRY)
#undef FAKE_ENTRY

static const tfrt_fake_library_errors_t errors = {
    TFRT_CUBLAS_NOT_INITIALIZED, TFRT_CUBLAS_INVALID_VALUE, TFRT_CUBLAS_EXECUTION_FAILED};

// --- Handles and descriptions ------------------------------------------------------------

tfrt_cublas_status_t cublasLtCreate(tfrt_cublaslt_handle_t* handle) {
  int error = tfrt_fake_library_begin("cublasLtCreate", &errors, NULL);
  if (!error) *handle = tfrt_fake_library_create(sizeof(**handle), true);
  return tfrt_fake_end(error);
}

// The handle goes even on a broken context.
tfrt_cublas_status_t cublasLtDestroy(tfrt_cublaslt_handle_t handle) {
  int error = tfrt_fake_library_begin("cublasLtDestroy", &errors, &handle->base);
  if (error == TFRT_CUBLAS_NOT_INITIALIZED) return tfrt_fake_end(error);
  tfrt_fake_library_destroy(&handle->base, sizeof(*handle));
  return tfrt_fake_end(error);
}

// Begins a call about a description, which needs no context. |link| is its own, or NULL for a new
// one.
static int fake_begin(const char* name, const tfrt_list_link_t* link) {
  int error = tfrt_fake_begin(name);
  if (error || !link) return error;
  return tfrt_fake_is_handle(&tfrt_fake.libraries, link, "library's handle")
             ? 0
             : TFRT_CUBLAS_INVALID_VALUE;
}

// Ends a call that destroys |description|, of |size| bytes.
static int fake_destroy(int error, tfrt_fake_library_t* description, size_t size) {
  if (!error) tfrt_fake_library_destroy(description, size);
  return tfrt_fake_end(error);
}

// Ends a call that sets |target|, of |target_size| bytes; NULL: an unknown attribute.
static int fake_set(int error, void* target, size_t target_size, const void* value, size_t size) {
  if (!error && (!target || !value || size != target_size)) {
    tfrt_fake_defect("cuBLASLt: an attribute that it has not, or of another size");
    error = TFRT_CUBLAS_INVALID_VALUE;
  }
  if (!error) memcpy(target, value, size);
  return tfrt_fake_end(error);
}

tfrt_cublas_status_t cublasLtMatmulDescCreate(tfrt_cublaslt_product_t* product, int compute_type,
                                              int scale_type) {
  int error = fake_begin("cublasLtMatmulDescCreate", NULL);
  if (error) return tfrt_fake_end(error);
  *product = tfrt_fake_library_create(sizeof(**product), false);
  (*product)->compute_type = compute_type;
  (*product)->scale_type = scale_type;
  return tfrt_fake_end(0);
}

tfrt_cublas_status_t cublasLtMatmulDescDestroy(tfrt_cublaslt_product_t product) {
  return fake_destroy(fake_begin("cublasLtMatmulDescDestroy", &product->base.link), &product->base,
                      sizeof(*product));
}

tfrt_cublas_status_t cublasLtMatmulDescSetAttribute(tfrt_cublaslt_product_t product, int attribute,
                                                    const void* value, size_t size) {
  int error = fake_begin("cublasLtMatmulDescSetAttribute", &product->base.link);
  int32_t* form = attribute == TFRT_CUBLASLT_PRODUCT_A_FORM   ? &product->forms[0]
                  : attribute == TFRT_CUBLASLT_PRODUCT_B_FORM ? &product->forms[1]
                                                              : NULL;
  return fake_set(error, form, sizeof(*form), value, size);
}

tfrt_cublas_status_t cublasLtMatrixLayoutCreate(tfrt_cublaslt_layout_t* layout, int type,
                                                uint64_t rows, uint64_t columns, int64_t height) {
  int error = fake_begin("cublasLtMatrixLayoutCreate", NULL);
  if (!error && (rows == 0 || columns == 0 || height < (int64_t)rows)) {
    tfrt_fake_defect("cuBLASLt: a matrix whose columns don't fit");
    error = TFRT_CUBLAS_INVALID_VALUE;
  }
  if (error) return tfrt_fake_end(error);
  *layout = tfrt_fake_library_create(sizeof(**layout), false);
  (*layout)->type = type;
  (*layout)->rows = rows;
  (*layout)->columns = columns;
  (*layout)->height = height;
  (*layout)->count = 1;
  return tfrt_fake_end(0);
}

tfrt_cublas_status_t cublasLtMatrixLayoutDestroy(tfrt_cublaslt_layout_t layout) {
  return fake_destroy(fake_begin("cublasLtMatrixLayoutDestroy", &layout->base.link), &layout->base,
                      sizeof(*layout));
}

tfrt_cublas_status_t cublasLtMatrixLayoutSetAttribute(tfrt_cublaslt_layout_t layout, int attribute,
                                                      const void* value, size_t size) {
  int error = fake_begin("cublasLtMatrixLayoutSetAttribute", &layout->base.link);
  if (attribute == TFRT_CUBLASLT_LAYOUT_BATCH_DISTANCE) {
    return fake_set(error, &layout->distance, sizeof(layout->distance), value, size);
  }
  int32_t* count = attribute == TFRT_CUBLASLT_LAYOUT_BATCH_COUNT ? &layout->count : NULL;
  return fake_set(error, count, sizeof(*count), value, size);
}

tfrt_cublas_status_t cublasLtMatmulPreferenceCreate(tfrt_cublaslt_wish_t* wish) {
  int error = fake_begin("cublasLtMatmulPreferenceCreate", NULL);
  if (error) return tfrt_fake_end(error);
  *wish = tfrt_fake_library_create(sizeof(**wish), false);
  for (int i = 0; i < 4; ++i) (*wish)->alignments[i] = 256;
  return tfrt_fake_end(0);
}

tfrt_cublas_status_t cublasLtMatmulPreferenceDestroy(tfrt_cublaslt_wish_t wish) {
  return fake_destroy(fake_begin("cublasLtMatmulPreferenceDestroy", &wish->base.link), &wish->base,
                      sizeof(*wish));
}

tfrt_cublas_status_t cublasLtMatmulPreferenceSetAttribute(tfrt_cublaslt_wish_t wish, int attribute,
                                                          const void* value, size_t size) {
  int error = fake_begin("cublasLtMatmulPreferenceSetAttribute", &wish->base.link);
  if (attribute == TFRT_CUBLASLT_WISH_MAX_WORKSPACE) {
    return fake_set(error, &wish->max_workspace, sizeof(wish->max_workspace), value, size);
  }
  bool is_known = attribute >= TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_A &&
                  attribute <= TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_D;
  uint32_t* alignment =
      is_known ? &wish->alignments[attribute - TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_A] : NULL;
  return fake_set(error, alignment, sizeof(*alignment), value, size);
}

// --- Algorithms --------------------------------------------------------------------------

// An algorithm, in the bytes that the library keeps for itself.
typedef struct fake_algorithm_s {
  uint64_t magic;
  uint64_t shape;
  uint64_t workspace_size;
  uint32_t alignments[4];
} fake_algorithm_t;

_Static_assert(sizeof(fake_algorithm_t) <= sizeof(tfrt_cublaslt_algorithm_t), "it fits");

// The matrices of a call.
typedef struct fake_matrices_s {
  tfrt_cublaslt_layout_t layouts[4];
} fake_matrices_t;

// A number that stands for all that |product| and the layouts say.
static uint64_t fake_shape(const struct tfrt_cublaslt_product_s* product,
                           const fake_matrices_t* matrices) {
  uint64_t hash = MAGIC;
  uint64_t numbers[4 + 4 * 6] = {(uint64_t)product->compute_type, (uint64_t)product->scale_type,
                                 (uint64_t)product->forms[0], (uint64_t)product->forms[1]};
  for (size_t i = 0; i < 4; ++i) {
    const struct tfrt_cublaslt_layout_s* layout = matrices->layouts[i];
    uint64_t* part = numbers + 4 + 6 * i;
    part[0] = (uint64_t)layout->type;
    part[1] = layout->rows;
    part[2] = layout->columns;
    part[3] = (uint64_t)layout->height;
    part[4] = (uint64_t)layout->count;
    part[5] = (uint64_t)layout->distance;
  }
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(numbers); ++i) {
    hash = (hash ^ numbers[i]) * UINT64_C(0x100000001b3);
  }
  return hash;
}

// Whether the matrices are those of one product.
static bool fake_fits(const struct tfrt_cublaslt_product_s* product,
                      const fake_matrices_t* matrices) {
  const struct tfrt_cublaslt_layout_s* a = matrices->layouts[0];
  const struct tfrt_cublaslt_layout_s* b = matrices->layouts[1];
  const struct tfrt_cublaslt_layout_s* d = matrices->layouts[3];
  bool a_is_plain = product->forms[0] == TFRT_CUBLAS_OP_N;
  bool b_is_plain = product->forms[1] == TFRT_CUBLAS_OP_N;
  uint64_t inner = a_is_plain ? a->columns : a->rows;
  return (a_is_plain ? a->rows : a->columns) == d->rows &&
         (b_is_plain ? b->columns : b->rows) == d->columns &&
         (b_is_plain ? b->rows : b->columns) == inner && a->type == b->type &&
         a->count == d->count && b->count == d->count && matrices->layouts[2]->type == d->type;
}

tfrt_cublas_status_t cublasLtMatmulAlgoGetHeuristic(
    tfrt_cublaslt_handle_t handle, tfrt_cublaslt_product_t product, tfrt_cublaslt_layout_t a,
    tfrt_cublaslt_layout_t b, tfrt_cublaslt_layout_t c, tfrt_cublaslt_layout_t d,
    tfrt_cublaslt_wish_t wish, int most, tfrt_cublaslt_choice_t* choices, int* count) {
  int error = tfrt_fake_library_begin("cublasLtMatmulAlgoGetHeuristic", &errors, &handle->base);
  *count = 0;
  const fake_matrices_t matrices = {{a, b, c, d}};
  if (!error && (most < 1 || !fake_fits(product, &matrices))) {
    tfrt_fake_defect("cuBLASLt: matrices that are of no product");
    error = TFRT_CUBLAS_INVALID_VALUE;
  }
  if (error) return tfrt_fake_end(error);
  // Whole units of 1 KiB, more or fewer of them, if they may be had.
  fake_algorithm_t algorithm = {.magic = MAGIC,
                                .shape = fake_shape(product, &matrices),
                                .workspace_size = 1024 * (1 + (d->rows + d->columns) % 200)};
  if (algorithm.workspace_size > wish->max_workspace) algorithm.workspace_size = 0;
  memcpy(algorithm.alignments, wish->alignments, sizeof(algorithm.alignments));
  choices[0] = (tfrt_cublaslt_choice_t){
      .workspace_size = algorithm.workspace_size, .state = TFRT_CUBLAS_SUCCESS, .waves = 1};
  memcpy(&choices[0].algorithm, &algorithm, sizeof(algorithm));
  *count = 1;
  return tfrt_fake_end(0);
}

// --- Products ----------------------------------------------------------------------------

// A product, and the workspace that it overwrites first.
typedef struct fake_work_s {
  tfrt_cpu_blas_call_t call;
  void* workspace;
  size_t workspace_size;
} fake_work_t;

static void fake_run(const void* argument) {
  const fake_work_t* work = argument;
  if (work->workspace_size > 0) memset(work->workspace, 0xee, work->workspace_size);
  tfrt_cpu_blas_run(&work->call);
}

static tfrt_dtype_t fake_dtype(tfrt_fake_library_call_t* call, int type) {
  if (type == TFRT_CUBLAS_R_64F) return TFRT_DTYPE_F64;
  if (type == TFRT_CUBLAS_R_16F) return TFRT_DTYPE_F16;
  if (type == TFRT_CUBLAS_R_16BF) return TFRT_DTYPE_BF16;
  if (type != TFRT_CUBLAS_R_32F) tfrt_fake_library_refuse(call, "an unknown type");
  return TFRT_DTYPE_F32;
}

static tfrt_blas_scalar_t fake_scalar(const void* number, tfrt_dtype_t dtype) {
  tfrt_blas_scalar_t scalar = {.dtype = dtype};
  memcpy(&scalar.f64, number, tfrt_dtype_size(dtype));
  return scalar;
}

// Notes that the matrices of |layout| at |data| are touched, which lie as |alignment| says.
static tfrt_blas_matrix_t fake_matrix(tfrt_fake_library_call_t* call, const void* data,
                                      const struct tfrt_cublaslt_layout_s* layout,
                                      uint32_t alignment) {
  tfrt_dtype_t dtype = fake_dtype(call, layout->type);
  if ((uintptr_t)data % alignment != 0) {
    tfrt_fake_library_refuse(call, "a matrix that lies worse than the algorithm was told");
  }
  int64_t elements = (layout->count - 1) * layout->distance +
                     (int64_t)(layout->columns - 1) * layout->height + (int64_t)layout->rows;
  tfrt_fake_library_touch(call, data, (size_t)elements * tfrt_dtype_size(dtype));
  return (tfrt_blas_matrix_t){.address = (tfrt_device_address_t)(uintptr_t)data,
                              .dtype = dtype,
                              .height = (int32_t)layout->height,
                              .distance = layout->distance};
}

// Checks that |algorithm| is for this call, and has its workspace.
static void fake_check(tfrt_fake_library_call_t* call, const fake_algorithm_t* algorithm,
                       const struct tfrt_cublaslt_product_s* product,
                       const fake_matrices_t* matrices, const void* workspace, size_t size) {
  if (algorithm->magic != MAGIC || algorithm->shape != fake_shape(product, matrices)) {
    tfrt_fake_library_refuse(call, "an algorithm for another shape");
  }
  if (size < algorithm->workspace_size || (size > 0 && !workspace) ||
      (uintptr_t)workspace % WORKSPACE_ALIGNMENT != 0) {
    tfrt_fake_library_refuse(call, "a workspace that is too small, or lies badly");
  }
  tfrt_fake_library_touch(call, workspace, size);
}

tfrt_cublas_status_t cublasLtMatmul(tfrt_cublaslt_handle_t handle, tfrt_cublaslt_product_t product,
                                    const void* alpha, const void* a,
                                    tfrt_cublaslt_layout_t a_layout, const void* b,
                                    tfrt_cublaslt_layout_t b_layout, const void* beta,
                                    const void* c, tfrt_cublaslt_layout_t c_layout, void* d,
                                    tfrt_cublaslt_layout_t d_layout,
                                    const tfrt_cublaslt_algorithm_t* algorithm, void* workspace,
                                    size_t workspace_size, tfrt_cuda_stream_handle_t stream) {
  tfrt_fake_library_call_t call = {
      .errors = &errors,
      .library = &handle->base,
      .error = tfrt_fake_library_begin("cublasLtMatmul", &errors, &handle->base)};
  if (!call.error) call.error = tfrt_fake_library_set_stream(&handle->base, stream, &errors);
  if (call.error) return tfrt_fake_end(call.error);
  fake_algorithm_t chosen;
  memcpy(&chosen, algorithm, sizeof(chosen));
  const fake_matrices_t matrices = {{a_layout, b_layout, c_layout, d_layout}};
  fake_check(&call, &chosen, product, &matrices, workspace, workspace_size);
  if (c != d || c_layout != d_layout) {
    tfrt_fake_library_refuse(&call, "a result in another place, which nothing here asks for");
  }
  tfrt_dtype_t scale = fake_dtype(&call, product->scale_type);
  fake_work_t work = {.workspace = workspace, .workspace_size = chosen.workspace_size};
  bool a_is_plain = product->forms[0] == TFRT_CUBLAS_OP_N;
  work.call.kind = TFRT_CPU_BLAS_MULTIPLY;
  work.call.multiply =
      (tfrt_blas_multiply_t){.a_form = (tfrt_blas_form_t)product->forms[0],
                             .b_form = (tfrt_blas_form_t)product->forms[1],
                             .rows = (int32_t)d_layout->rows,
                             .columns = (int32_t)d_layout->columns,
                             .inner = (int32_t)(a_is_plain ? a_layout->columns : a_layout->rows),
                             .count = d_layout->count,
                             .alpha = fake_scalar(alpha, scale),
                             .beta = fake_scalar(beta, scale),
                             .a = fake_matrix(&call, a, a_layout, chosen.alignments[0]),
                             .b = fake_matrix(&call, b, b_layout, chosen.alignments[1]),
                             .c = fake_matrix(&call, d, d_layout, chosen.alignments[3])};
  return tfrt_fake_library_end(&call, fake_run, &work, sizeof(work));
}
