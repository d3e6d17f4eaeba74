// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn.h"

#include "host_runtime/base/sync.h"
#include "kernels/tensor/onednn/onednn_library.h"

// The start of the library, once for the process.
static struct {
  tfrt_once_t once;
  tfrt_status_t status;  // kept
  dnnl_engine_t engine;
} onednn = {.once = TFRT_ONCE_INITIALIZER};

tfrt_status_t tfrt_onednn_status(dnnl_status_t result, const char* what) {
  if (result == dnnl_success) return NULL;
  if (result == dnnl_out_of_memory) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "oneDNN can't %s: memory is out",
                              what);
  }
  const char* reason = result == dnnl_unimplemented       ? "not implemented for these shapes"
                       : result == dnnl_invalid_arguments ? "invalid arguments"
                                                          : "runtime error";
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "oneDNN can't %s: %s (%d)", what, reason,
                            (int)result);
}

static tfrt_status_t create_engine(void) {
  TFRT_RETURN_IF_ERROR(tfrt_onednn_library_open());
  return tfrt_onednn_status(tfrt_onednn()->dnnl_engine_create(&onednn.engine, dnnl_cpu, 0),
                            "start");
}

static void initialize(void) { onednn.status = create_engine(); }

// The library reads the number of threads to use from a setting of the calling thread.
static void use_one_thread(void) {
  static _Thread_local bool is_set;
  if (is_set) return;
  is_set = true;
  if (tfrt_onednn()->omp_set_num_threads) tfrt_onednn()->omp_set_num_threads(1);
}

tfrt_status_t tfrt_onednn_start(dnnl_engine_t* out_engine) {
  *out_engine = NULL;
  tfrt_once_run(&onednn.once, initialize);
  if (onednn.status) return tfrt_status_retain(onednn.status);
  use_one_thread();
  *out_engine = onednn.engine;
  return NULL;
}

dnnl_status_t tfrt_onednn_describe_memory(const int64_t* dims, int rank,
                                          dnnl_memory_desc_t* out_description) {
  // The library declares both as arrays of its highest rank.
  dnnl_dims_t all_dims = {0};
  dnnl_dims_t strides = {0};
  int64_t stride = 1;
  for (int i = rank - 1; i >= 0; --i) {
    all_dims[i] = dims[i];
    strides[i] = stride;
    stride *= dims[i];
  }
  return tfrt_onednn()->dnnl_memory_desc_init_by_strides(out_description, rank, all_dims, dnnl_f32,
                                                         strides);
}

tfrt_status_t tfrt_onednn_gemm_ex(bool a_is_transposed, bool b_is_transposed, int64_t m, int64_t n,
                                  int64_t k, float alpha, const float* a, const float* b,
                                  float beta, float* c) {
  dnnl_engine_t engine;
  TFRT_RETURN_IF_ERROR(tfrt_onednn_start(&engine));
  dnnl_status_t result = tfrt_onednn()->dnnl_sgemm(
      a_is_transposed ? 'T' : 'N', b_is_transposed ? 'T' : 'N', m, n, k, alpha, a,
      a_is_transposed ? m : k, b, b_is_transposed ? k : n, beta, c, n);
  return tfrt_onednn_status(result, "multiply matrices");
}

tfrt_status_t tfrt_onednn_gemm(int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                               const float* b, float beta, float* c) {
  return tfrt_onednn_gemm_ex(false, false, m, n, k, alpha, a, b, beta, c);
}
