// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices by cuBLASLt.
//
//   call --shape--> plan, newest first --no: the library chooses an algorithm--> plan
//                     `--> workspace of the stream --> cublasLtMatmul
//
// A plan is kept for the next products of its shape; beyond TFRT_CUDA_BLAS_MAX_PLANS the one that
// was used longest ago goes. A shape that the library has no algorithm for has a plan, too: to
// leave it to cuBLAS.
#include <string.h>

#include "devices/cuda/cuda_blas.h"
#include "host_runtime/base/list.h"

#define TFRT_CUDA_BLAS_MAX_PLANS 64

// The library looks at no larger alignment.
#define TFRT_CUDA_BLAS_MAX_ALIGNMENT 256u

// The most memory that an algorithm may use beside its matrices: what NVIDIA's documentation of
// cublasSetWorkspace recommends from compute capability 9.0 on, and before.
#define TFRT_CUDA_BLAS_WORKSPACE_90 ((uint64_t)32 << 20)
#define TFRT_CUDA_BLAS_WORKSPACE ((uint64_t)4 << 20)

// All that an algorithm is chosen for. Compared as bytes, and so without gaps.
typedef struct tfrt_cuda_blas_shape_s {
  int64_t distances[3];  // of a, b and c, as the next ones
  int32_t heights[3];
  uint32_t alignments[3];
  int32_t forms[2];  // of a and b
  int32_t rows;
  int32_t columns;
  int32_t inner;
  int32_t count;
  int32_t from;  // the libraries' numbers, as the next ones
  int32_t to;
  int32_t compute;
  int32_t scale;
} tfrt_cuda_blas_shape_t;

_Static_assert(sizeof(tfrt_cuda_blas_shape_t) == 3 * sizeof(int64_t) + 16 * sizeof(int32_t),
               "no gaps");

typedef struct tfrt_cuda_blas_plan_s {
  tfrt_list_link_t link;
  tfrt_cuda_blas_shape_t shape;
  tfrt_cublaslt_product_t product;
  tfrt_cublaslt_layout_t layouts[3];
  tfrt_cublaslt_choice_t choice;
  bool is_left;  // to cuBLAS
} tfrt_cuda_blas_plan_t;

struct tfrt_cuda_blas_lt_s {
  tfrt_device_t* device;  // +0: the owner has it
  const tfrt_cublaslt_api_t* api;
  tfrt_cublaslt_handle_t handle;
  tfrt_list_link_t plans;  // the one that was used last comes first
  size_t plan_count;
};

// --- The library -------------------------------------------------------------------------

static const tfrt_vendor_entry_t entries[] = {
#define TFRT_CUBLASLT_ENTRY(name, symbol, parameters) {symbol, offsetof(tfrt_cublaslt_api_t, name)},
    TFRT_CUBLASLT_ENTRIES(TFRT_CUBLASLT_ENTRY)
#undef TFRT_CUBLASLT_ENTRY
};

// cuBLAS is linked with its cuBLASLt, so that the entry points are found by way of it, and the two
// are of one version.
static const char* const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"};

// The library's entry points, which live as long as the platform; NULL: it isn't there.
static const tfrt_cublaslt_api_t* cuda_blas_lt_open(tfrt_cuda_platform_t* platform) {
  size_t skipped = tfrt_cuda_blas_names_too_new(&platform->api);
  tfrt_vendor_library_t library = {
      .title = "cuBLASLt",
      .names = names + skipped,
      .name_count = TFRT_ARRAY_SIZE(names) - skipped,
      .fix = "install the cuBLAS of CUDA 11, 12 or 13",
      .entries = entries,
      .entry_count = TFRT_ARRAY_SIZE(entries),
  };
  tfrt_status_t status =
      tfrt_cuda_platform_open(platform, &library, TFRT_CUDA_CUBLASLT, &platform->cublaslt);
  const tfrt_cublaslt_api_t* api = status ? NULL : &platform->cublaslt;
  // cuBLAS does all products then.
  tfrt_status_release(status);
  return api;
}

tfrt_cuda_blas_lt_t* tfrt_cuda_blas_lt_create(tfrt_device_t* device) {
  const tfrt_cublaslt_api_t* api = cuda_blas_lt_open(tfrt_cuda_platform_of(device));
  tfrt_allocator_t allocator = device->platform->allocator;
  tfrt_cuda_blas_lt_t* lt = api ? tfrt_allocator_allocate_zeroed(allocator, sizeof(*lt)) : NULL;
  if (!lt) return NULL;
  lt->device = device;
  lt->api = api;
  tfrt_list_initialize(&lt->plans);
  if (api->Create(&lt->handle) == TFRT_CUBLAS_SUCCESS) return lt;
  tfrt_allocator_free(allocator, lt, sizeof(*lt));
  return NULL;
}

// --- Plans -------------------------------------------------------------------------------

static void cuda_blas_plan_free(tfrt_cuda_blas_lt_t* lt, tfrt_cuda_blas_plan_t* plan) {
  for (int i = 0; i < 3; ++i) {
    if (plan->layouts[i]) lt->api->MatrixLayoutDestroy(plan->layouts[i]);
  }
  if (plan->product) lt->api->MatmulDescDestroy(plan->product);
  tfrt_allocator_free(lt->device->platform->allocator, plan, sizeof(*plan));
}

void tfrt_cuda_blas_lt_free(tfrt_cuda_blas_lt_t* lt) {
  if (!lt) return;
  for (tfrt_list_link_t* l; (l = tfrt_list_pop_front(&lt->plans));) {
    cuda_blas_plan_free(lt, TFRT_CONTAINER_OF(l, tfrt_cuda_blas_plan_t, link));
  }
  // Resources that the library can't free end with the context.
  lt->api->Destroy(lt->handle);
  tfrt_allocator_free(lt->device->platform->allocator, lt, sizeof(*lt));
}

static uint32_t cuda_blas_alignment(tfrt_device_address_t address) {
  uint32_t alignment = TFRT_CUDA_BLAS_MAX_ALIGNMENT;
  while (address % alignment != 0) alignment /= 2;
  return alignment;
}

static int32_t cuda_blas_lt_form(tfrt_blas_form_t form) {
  // Numbers are real, and the library has fewer algorithms for conjugates.
  return form == TFRT_BLAS_FORM_PLAIN ? TFRT_CUBLAS_OP_N : TFRT_CUBLAS_OP_T;
}

static tfrt_cuda_blas_shape_t cuda_blas_shape(const tfrt_blas_multiply_t* call) {
  return (tfrt_cuda_blas_shape_t){
      .distances = {call->a.distance, call->b.distance, call->c.distance},
      .heights = {call->a.height, call->b.height, call->c.height},
      .alignments = {cuda_blas_alignment(call->a.address), cuda_blas_alignment(call->b.address),
                     cuda_blas_alignment(call->c.address)},
      .forms = {cuda_blas_lt_form(call->a_form), cuda_blas_lt_form(call->b_form)},
      .rows = call->rows,
      .columns = call->columns,
      .inner = call->inner,
      .count = call->is_batch ? call->count : 1,
      .from = tfrt_cuda_blas_type(call->a.dtype),
      .to = tfrt_cuda_blas_type(call->c.dtype),
      .compute = tfrt_cuda_blas_compute(call->compute),
      .scale = tfrt_cuda_blas_type(call->alpha.dtype),
  };
}

// Describes matrix |i| of |plan|, of |rows| rows and |columns| columns as it is stored.
static tfrt_status_t cuda_blas_plan_lay_out(tfrt_cuda_blas_lt_t* lt, tfrt_cuda_blas_plan_t* plan,
                                            int i, int32_t rows, int32_t columns) {
  const tfrt_cublaslt_api_t* api = lt->api;
  const tfrt_cuda_blas_shape_t* shape = &plan->shape;
  tfrt_cublas_status_t result =
      api->MatrixLayoutCreate(&plan->layouts[i], i < 2 ? shape->from : shape->to, (uint64_t)rows,
                              (uint64_t)columns, shape->heights[i]);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_blas_status(lt->device, result, "cublasLtMatrixLayoutCreate"));
  if (shape->count == 1) return NULL;
  result = api->MatrixLayoutSetAttribute(plan->layouts[i], TFRT_CUBLASLT_LAYOUT_BATCH_COUNT,
                                         &shape->count, sizeof(shape->count));
  if (result == TFRT_CUBLAS_SUCCESS) {
    result = api->MatrixLayoutSetAttribute(plan->layouts[i], TFRT_CUBLASLT_LAYOUT_BATCH_DISTANCE,
                                           &shape->distances[i], sizeof(shape->distances[i]));
  }
  return tfrt_cuda_blas_status(lt->device, result, "cublasLtMatrixLayoutSetAttribute");
}

// Describes the product of |plan|.
static tfrt_status_t cuda_blas_plan_describe(tfrt_cuda_blas_lt_t* lt, tfrt_cuda_blas_plan_t* plan) {
  const tfrt_cublaslt_api_t* api = lt->api;
  const tfrt_cuda_blas_shape_t* shape = &plan->shape;
  bool a_is_plain = shape->forms[0] == TFRT_CUBLAS_OP_N;
  bool b_is_plain = shape->forms[1] == TFRT_CUBLAS_OP_N;
  tfrt_cublas_status_t result = api->MatmulDescCreate(&plan->product, shape->compute, shape->scale);
  TFRT_RETURN_IF_ERROR(tfrt_cuda_blas_status(lt->device, result, "cublasLtMatmulDescCreate"));
  result = api->MatmulDescSetAttribute(plan->product, TFRT_CUBLASLT_PRODUCT_A_FORM,
                                       &shape->forms[0], sizeof(shape->forms[0]));
  if (result == TFRT_CUBLAS_SUCCESS) {
    result = api->MatmulDescSetAttribute(plan->product, TFRT_CUBLASLT_PRODUCT_B_FORM,
                                         &shape->forms[1], sizeof(shape->forms[1]));
  }
  TFRT_RETURN_IF_ERROR(tfrt_cuda_blas_status(lt->device, result, "cublasLtMatmulDescSetAttribute"));
  TFRT_RETURN_IF_ERROR(cuda_blas_plan_lay_out(lt, plan, 0, a_is_plain ? shape->rows : shape->inner,
                                              a_is_plain ? shape->inner : shape->rows));
  TFRT_RETURN_IF_ERROR(cuda_blas_plan_lay_out(lt, plan, 1,
                                              b_is_plain ? shape->inner : shape->columns,
                                              b_is_plain ? shape->columns : shape->inner));
  return cuda_blas_plan_lay_out(lt, plan, 2, shape->rows, shape->columns);
}

// Says in |wish| what an algorithm of |shape| may use.
static tfrt_cublas_status_t cuda_blas_lt_wish(const tfrt_cuda_blas_lt_t* lt,
                                              const tfrt_cuda_blas_shape_t* shape,
                                              tfrt_cublaslt_wish_t wish) {
  // The result d takes the place of c.
  static const int alignments[] = {
      TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_A, TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_B,
      TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_C, TFRT_CUBLASLT_WISH_MIN_ALIGNMENT_D};
  const tfrt_device_properties_t* properties = &lt->device->properties;
  uint64_t room =
      properties->architecture >= 90 ? TFRT_CUDA_BLAS_WORKSPACE_90 : TFRT_CUDA_BLAS_WORKSPACE;
  if (!properties->has_pools) room = 0;
  tfrt_cublas_status_t result = lt->api->MatmulPreferenceSetAttribute(
      wish, TFRT_CUBLASLT_WISH_MAX_WORKSPACE, &room, sizeof(room));
  for (int i = 0; i < 4 && result == TFRT_CUBLAS_SUCCESS; ++i) {
    const uint32_t* alignment = &shape->alignments[i < 3 ? i : 2];
    result =
        lt->api->MatmulPreferenceSetAttribute(wish, alignments[i], alignment, sizeof(*alignment));
  }
  return result;
}

// Has the library choose the algorithm of |plan|.
static tfrt_status_t cuda_blas_plan_choose(tfrt_cuda_blas_lt_t* lt, tfrt_cuda_blas_plan_t* plan) {
  const char* call = "cublasLtMatmulPreferenceCreate";
  tfrt_cublaslt_wish_t wish = NULL;
  tfrt_cublas_status_t result = lt->api->MatmulPreferenceCreate(&wish);
  if (result == TFRT_CUBLAS_SUCCESS) {
    call = "cublasLtMatmulPreferenceSetAttribute";
    result = cuda_blas_lt_wish(lt, &plan->shape, wish);
  }
  if (result == TFRT_CUBLAS_SUCCESS) {
    int count = 0;
    call = "cublasLtMatmulAlgoGetHeuristic";
    result = lt->api->MatmulAlgoGetHeuristic(lt->handle, plan->product, plan->layouts[0],
                                             plan->layouts[1], plan->layouts[2], plan->layouts[2],
                                             wish, 1, &plan->choice, &count);
    if (result == TFRT_CUBLAS_SUCCESS) {
      result = count > 0 ? plan->choice.state : TFRT_CUBLAS_NOT_SUPPORTED;
    }
  }
  if (wish) lt->api->MatmulPreferenceDestroy(wish);
  return tfrt_cuda_blas_status(lt->device, result, call);
}

// Whether |status| says no more than that cuBLASLt doesn't do it: cuBLAS may.
static bool cuda_blas_is_refusal(tfrt_status_t status) {
  return tfrt_status_code(status) == TFRT_STATUS_UNIMPLEMENTED ||
         tfrt_status_code(status) == TFRT_STATUS_INVALID_ARGUMENT;
}

static tfrt_cuda_blas_plan_t* cuda_blas_lt_find(tfrt_cuda_blas_lt_t* lt,
                                                const tfrt_cuda_blas_shape_t* shape) {
  for (tfrt_list_link_t* l = lt->plans.next; l != &lt->plans; l = l->next) {
    tfrt_cuda_blas_plan_t* plan = TFRT_CONTAINER_OF(l, tfrt_cuda_blas_plan_t, link);
    if (memcmp(&plan->shape, shape, sizeof(*shape)) == 0) return plan;
  }
  return NULL;
}

static void cuda_blas_lt_keep(tfrt_cuda_blas_lt_t* lt, tfrt_cuda_blas_plan_t* plan) {
  if (lt->plan_count == TFRT_CUDA_BLAS_MAX_PLANS) {
    tfrt_list_link_t* last = lt->plans.previous;
    tfrt_list_remove(last);
    cuda_blas_plan_free(lt, TFRT_CONTAINER_OF(last, tfrt_cuda_blas_plan_t, link));
    --lt->plan_count;
  }
  tfrt_list_push_front(&lt->plans, &plan->link);
  ++lt->plan_count;
}

// Sets |*out_plan| to the plan for |shape|, which |lt| keeps.
static tfrt_status_t cuda_blas_lt_plan(tfrt_cuda_blas_lt_t* lt, const tfrt_cuda_blas_shape_t* shape,
                                       tfrt_cuda_blas_plan_t** out_plan) {
  tfrt_cuda_blas_plan_t* plan = cuda_blas_lt_find(lt, shape);
  *out_plan = plan;
  if (plan) {
    tfrt_list_remove(&plan->link);
    tfrt_list_push_front(&lt->plans, &plan->link);
    return NULL;
  }
  plan = tfrt_allocator_allocate_zeroed(lt->device->platform->allocator, sizeof(*plan));
  if (!plan) return tfrt_status_out_of_memory();
  plan->shape = *shape;
  tfrt_status_t status = cuda_blas_plan_describe(lt, plan);
  if (!status) status = cuda_blas_plan_choose(lt, plan);
  plan->is_left = cuda_blas_is_refusal(status);
  if (status && !plan->is_left) {
    cuda_blas_plan_free(lt, plan);
    return status;
  }
  tfrt_status_release(status);
  cuda_blas_lt_keep(lt, plan);
  *out_plan = plan;
  return NULL;
}

// --- Products ----------------------------------------------------------------------------

static void* cuda_blas_lt_at(tfrt_device_address_t address) { return (void*)(uintptr_t)address; }

tfrt_status_t tfrt_cuda_blas_lt_multiply(tfrt_cuda_blas_lt_t* lt, tfrt_cuda_stream_t* stream,
                                         const tfrt_blas_multiply_t* call, bool* out_is_taken) {
  *out_is_taken = false;
  // The library's matrices have elements.
  if (call->inner == 0 || call->algorithm != TFRT_BLAS_ALGORITHM_DEFAULT) return NULL;
  const tfrt_cuda_blas_shape_t shape = cuda_blas_shape(call);
  tfrt_cuda_blas_plan_t* plan;
  TFRT_RETURN_IF_ERROR(cuda_blas_lt_plan(lt, &shape, &plan));
  if (plan->is_left) return NULL;
  size_t size = plan->choice.workspace_size;
  tfrt_cuda_address_t workspace = 0;
  // Without the memory it is cuBLAS's, which has some of its own.
  if (!tfrt_cuda_stream_take_workspace(stream, size, &workspace)) return NULL;
  void* c = cuda_blas_lt_at(call->c.address);
  tfrt_cublas_status_t result =
      lt->api->Matmul(lt->handle, plan->product, &call->alpha.f64, cuda_blas_lt_at(call->a.address),
                      plan->layouts[0], cuda_blas_lt_at(call->b.address), plan->layouts[1],
                      &call->beta.f64, c, plan->layouts[2], c, plan->layouts[2],
                      &plan->choice.algorithm, cuda_blas_lt_at(workspace), size, stream->handle);
  tfrt_cuda_stream_give_workspace(stream);
  tfrt_status_t status = tfrt_cuda_blas_status(lt->device, result, "cublasLtMatmul");
  *out_is_taken = !status;
  // The choice doesn't promise that the algorithm runs.
  plan->is_left = cuda_blas_is_refusal(status);
  if (!plan->is_left) return status;
  tfrt_status_release(status);
  return NULL;
}
