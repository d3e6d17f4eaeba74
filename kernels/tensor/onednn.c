// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn.h"

#include <string.h>

#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/sync.h"
#include "kernels/tensor/onednn_library.h"

#define SCRATCH_ALIGNMENT 64

struct tfrt_onednn_primitive_s {
  tfrt_ref_count_t ref_count;
  tfrt_hash_node_t node;  // both links belong to the cache and its mutex
  tfrt_list_link_t link;
  tfrt_onednn_key_t key;
  dnnl_primitive_t primitive;
};

// The process's one engine and cache. It stays until the process ends.
static struct {
  tfrt_once_t once;
  tfrt_status_t status;  // of the start; kept
  dnnl_engine_t engine;
  tfrt_mutex_t mutex;  // guards |by_key| and |recent|
  tfrt_hash_table_t by_key;
  tfrt_list_link_t recent;  // the last one was not used for longest
} onednn = {.once = TFRT_ONCE_INITIALIZER, .mutex = TFRT_MUTEX_INITIALIZER};

static uint64_t hash_key(const void* key) {
  return tfrt_hash_bytes(key, sizeof(tfrt_onednn_key_t));
}

static bool key_equal(const tfrt_hash_node_t* node, const void* key) {
  const tfrt_onednn_primitive_t* primitive = TFRT_CONTAINER_OF(node, tfrt_onednn_primitive_t, node);
  return memcmp(&primitive->key, key, sizeof(primitive->key)) == 0;
}

static const tfrt_hash_table_vtable_t key_vtable = {.hash = hash_key, .equal = key_equal};

static tfrt_status_t status_of(dnnl_status_t result, const char* what) {
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
  return status_of(tfrt_onednn()->dnnl_engine_create(&onednn.engine, dnnl_cpu, 0), "start");
}

static void initialize(void) {
  tfrt_hash_table_initialize(&onednn.by_key, &key_vtable, tfrt_allocator_system());
  tfrt_list_initialize(&onednn.recent);
  onednn.status = create_engine();
}

// The library reads the number of threads to use from a setting of the calling thread.
static void use_one_thread(void) {
  static _Thread_local bool is_set;
  if (is_set) return;
  is_set = true;
  if (tfrt_onednn()->omp_set_num_threads) tfrt_onednn()->omp_set_num_threads(1);
}

// Makes the library ready for calls on this thread.
static tfrt_status_t start(void) {
  tfrt_once_run(&onednn.once, initialize);
  if (onednn.status) return tfrt_status_retain(onednn.status);
  use_one_thread();
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

// Adds the cut at 0 to |attributes|.
static dnnl_status_t append_relu(dnnl_primitive_attr_t attributes) {
  dnnl_post_ops_t operations;
  dnnl_status_t result = tfrt_onednn()->dnnl_post_ops_create(&operations);
  if (result != dnnl_success) return result;
  result =
      tfrt_onednn()->dnnl_post_ops_append_eltwise(operations, 1.0f, dnnl_eltwise_relu, 0.0f, 0.0f);
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_primitive_attr_set_post_ops(attributes, operations);
  }
  tfrt_onednn()->dnnl_post_ops_destroy(operations);
  return result;
}

// Scratch memory is the caller's in each run: the library's own is tied to the thread that
// created the primitive.
static dnnl_status_t create_attributes(const tfrt_onednn_key_t* key,
                                       dnnl_primitive_attr_t* out_attributes) {
  dnnl_status_t result = tfrt_onednn()->dnnl_primitive_attr_create(out_attributes);
  if (result != dnnl_success) return result;
  result = tfrt_onednn()->dnnl_primitive_attr_set_scratchpad_mode(*out_attributes,
                                                                  dnnl_scratchpad_mode_user);
  if (result == dnnl_success && key->relu) result = append_relu(*out_attributes);
  if (result != dnnl_success) tfrt_onednn()->dnnl_primitive_attr_destroy(*out_attributes);
  return result;
}

static dnnl_status_t build(const tfrt_onednn_key_t* key, tfrt_onednn_describe_fn_t describe,
                           dnnl_primitive_t* out_primitive) {
  dnnl_primitive_attr_t attributes;
  dnnl_status_t result = create_attributes(key, &attributes);
  if (result != dnnl_success) return result;
  dnnl_primitive_desc_t description;
  result = describe(key, attributes, onednn.engine, &description);
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_primitive_create(out_primitive, description);
    tfrt_onednn()->dnnl_primitive_desc_destroy(description);
  }
  tfrt_onednn()->dnnl_primitive_attr_destroy(attributes);
  return result;
}

static tfrt_status_t create_primitive(const tfrt_onednn_key_t* key,
                                      tfrt_onednn_describe_fn_t describe,
                                      tfrt_onednn_primitive_t** out_primitive) {
  tfrt_onednn_primitive_t* primitive =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*primitive));
  if (!primitive) return status_of(dnnl_out_of_memory, "keep a primitive");
  tfrt_ref_count_initialize(&primitive->ref_count);
  primitive->key = *key;
  tfrt_status_t status = status_of(build(key, describe, &primitive->primitive), "make a primitive");
  if (status) {
    tfrt_allocator_free(tfrt_allocator_system(), primitive, sizeof(*primitive));
    return status;
  }
  *out_primitive = primitive;
  return NULL;
}

// Returns the primitive for |key| (+1), now the most recent one, or NULL. Mutex held.
static tfrt_onednn_primitive_t* find_locked(const tfrt_onednn_key_t* key) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&onednn.by_key, key);
  if (!node) return NULL;
  tfrt_onednn_primitive_t* primitive = TFRT_CONTAINER_OF(node, tfrt_onednn_primitive_t, node);
  tfrt_list_remove(&primitive->link);
  tfrt_list_push_front(&onednn.recent, &primitive->link);
  tfrt_ref_count_increment(&primitive->ref_count);
  return primitive;
}

// Puts |primitive| into the cache, unless there is one for its key; returns the one whose
// place in the cache was needed (its reference passes to the caller), or NULL. Mutex held.
static tfrt_onednn_primitive_t* insert_locked(tfrt_onednn_primitive_t* primitive) {
  if (tfrt_hash_table_find(&onednn.by_key, &primitive->key)) return NULL;
  tfrt_ref_count_increment(&primitive->ref_count);
  tfrt_hash_table_insert(&onednn.by_key, &primitive->key, &primitive->node);
  tfrt_list_push_front(&onednn.recent, &primitive->link);
  if (tfrt_hash_table_count(&onednn.by_key) <= TFRT_ONEDNN_CACHE_CAPACITY) return NULL;
  tfrt_onednn_primitive_t* oldest =
      TFRT_CONTAINER_OF(onednn.recent.previous, tfrt_onednn_primitive_t, link);
  tfrt_list_remove(&oldest->link);
  tfrt_hash_table_remove(&onednn.by_key, &oldest->node);
  return oldest;
}

tfrt_status_t tfrt_onednn_find_primitive(const tfrt_onednn_key_t* key,
                                         tfrt_onednn_describe_fn_t describe,
                                         tfrt_onednn_primitive_t** out_primitive) {
  *out_primitive = NULL;
  TFRT_RETURN_IF_ERROR(start());
  tfrt_mutex_lock(&onednn.mutex);
  *out_primitive = find_locked(key);
  tfrt_mutex_unlock(&onednn.mutex);
  if (*out_primitive) return NULL;
  // Building compiles code: long, so without the lock. Two threads may build the same; the
  // second one keeps its own for this one use.
  TFRT_RETURN_IF_ERROR(create_primitive(key, describe, out_primitive));
  tfrt_mutex_lock(&onednn.mutex);
  tfrt_onednn_primitive_t* evicted = insert_locked(*out_primitive);
  tfrt_mutex_unlock(&onednn.mutex);
  if (evicted) tfrt_onednn_primitive_release(evicted);
  return NULL;
}

tfrt_status_t tfrt_onednn_gemm(int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                               const float* b, float beta, float* c) {
  TFRT_RETURN_IF_ERROR(start());
  return status_of(tfrt_onednn()->dnnl_sgemm('N', 'N', m, n, k, alpha, a, k, b, n, beta, c, n),
                   "multiply matrices");
}

void tfrt_onednn_primitive_release(tfrt_onednn_primitive_t* primitive) {
  if (!tfrt_ref_count_decrement(&primitive->ref_count)) return;
  tfrt_onednn()->dnnl_primitive_destroy(primitive->primitive);
  tfrt_allocator_free(tfrt_allocator_system(), primitive, sizeof(*primitive));
}

size_t tfrt_onednn_cache_size(void) {
  tfrt_once_run(&onednn.once, initialize);
  tfrt_mutex_lock(&onednn.mutex);
  size_t size = tfrt_hash_table_count(&onednn.by_key);
  tfrt_mutex_unlock(&onednn.mutex);
  return size;
}

// --- Runs --------------------------------------------------------------------

// The library's views of a run's arguments and scratch memory.
typedef struct run_s {
  dnnl_exec_arg_t arguments[TFRT_ONEDNN_MAX_ARGUMENTS + 1];
  int count;
  void* scratch;
  size_t scratch_size;
} run_t;

static dnnl_status_t add_argument(run_t* run, const_dnnl_primitive_desc_t description, int index,
                                  const void* data) {
  const dnnl_memory_desc_t* layout =
      tfrt_onednn()->dnnl_primitive_desc_query_md(description, dnnl_query_exec_arg_md, index);
  dnnl_exec_arg_t* argument = &run->arguments[run->count];
  // The library has one type for what it reads and what it writes.
  dnnl_status_t result = tfrt_onednn()->dnnl_memory_create(&argument->memory, layout, onednn.engine,
                                                           (void*)(uintptr_t)data);
  if (result != dnnl_success) return result;
  argument->arg = index;
  ++run->count;
  return dnnl_success;
}

static dnnl_status_t add_scratch(run_t* run, const_dnnl_primitive_desc_t description,
                                 tfrt_allocator_t allocator) {
  const dnnl_memory_desc_t* layout =
      tfrt_onednn()->dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
  run->scratch_size = layout ? tfrt_onednn()->dnnl_memory_desc_get_size(layout) : 0;
  if (run->scratch_size == 0) return dnnl_success;
  run->scratch = tfrt_allocator_allocate_aligned(allocator, run->scratch_size, SCRATCH_ALIGNMENT);
  if (!run->scratch) return dnnl_out_of_memory;
  return add_argument(run, description, DNNL_ARG_SCRATCHPAD, run->scratch);
}

static dnnl_status_t execute(const tfrt_onednn_primitive_t* primitive, const run_t* run) {
  dnnl_stream_t stream;
  dnnl_status_t result =
      tfrt_onednn()->dnnl_stream_create(&stream, onednn.engine, dnnl_stream_default_flags);
  if (result != dnnl_success) return result;
  result = tfrt_onednn()->dnnl_primitive_execute(primitive->primitive, stream, run->count,
                                                 run->arguments);
  if (result == dnnl_success) result = tfrt_onednn()->dnnl_stream_wait(stream);
  tfrt_onednn()->dnnl_stream_destroy(stream);
  return result;
}

tfrt_status_t tfrt_onednn_run(const tfrt_onednn_primitive_t* primitive,
                              const tfrt_onednn_argument_t* arguments, size_t count,
                              tfrt_allocator_t allocator) {
  use_one_thread();
  const_dnnl_primitive_desc_t description;
  dnnl_status_t result =
      tfrt_onednn()->dnnl_primitive_get_primitive_desc(primitive->primitive, &description);
  run_t run = {.count = 0};
  for (size_t i = 0; result == dnnl_success && i < count; ++i) {
    result = add_argument(&run, description, arguments[i].index, arguments[i].data);
  }
  if (result == dnnl_success) result = add_scratch(&run, description, allocator);
  if (result == dnnl_success) result = execute(primitive, &run);
  for (int i = 0; i < run.count; ++i) tfrt_onednn()->dnnl_memory_destroy(run.arguments[i].memory);
  if (run.scratch) {
    tfrt_allocator_free_aligned(allocator, run.scratch, run.scratch_size, SCRATCH_ALIGNMENT);
  }
  return status_of(result, "run a primitive");
}
