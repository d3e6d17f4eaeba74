// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn.h"

#include <assert.h>
#include <string.h>

#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/ref_count.h"
#include "host_runtime/base/sync.h"
#include "kernels/tensor/onednn_library.h"

#define SCRATCH_ALIGNMENT 64

typedef struct views_s views_t;

struct tfrt_onednn_primitive_s {
  tfrt_ref_count_t ref_count;
  tfrt_hash_node_t node;  // both links belong to the cache and its mutex
  tfrt_list_link_t link;
  tfrt_onednn_key_t key;
  dnnl_primitive_t primitive;
  tfrt_mutex_t views_mutex;  // guards |views|
  views_t* views;            // of runs that are over, for the next ones
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

static void free_primitive(tfrt_onednn_primitive_t* primitive) {
  tfrt_mutex_deinitialize(&primitive->views_mutex);
  tfrt_allocator_free(tfrt_allocator_system(), primitive, sizeof(*primitive));
}

static tfrt_status_t create_primitive(const tfrt_onednn_key_t* key,
                                      tfrt_onednn_describe_fn_t describe,
                                      tfrt_onednn_primitive_t** out_primitive) {
  tfrt_onednn_primitive_t* primitive =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*primitive));
  if (!primitive) return status_of(dnnl_out_of_memory, "keep a primitive");
  tfrt_ref_count_initialize(&primitive->ref_count);
  tfrt_mutex_initialize(&primitive->views_mutex);
  primitive->key = *key;
  tfrt_status_t status = status_of(build(key, describe, &primitive->primitive), "make a primitive");
  if (status) {
    free_primitive(primitive);
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

size_t tfrt_onednn_cache_size(void) {
  tfrt_once_run(&onednn.once, initialize);
  tfrt_mutex_lock(&onednn.mutex);
  size_t size = tfrt_hash_table_count(&onednn.by_key);
  tfrt_mutex_unlock(&onednn.mutex);
  return size;
}

// --- Runs --------------------------------------------------------------------

// What the library wants for a run: views of its arguments, the last one of scratch memory if there
// is need of any, and a stream. Made once and pointed to other data for each run: making them takes
// longer than a small primitive does.
struct views_s {
  views_t* next;  // of the same primitive
  dnnl_stream_t stream;
  size_t scratch_size;
  dnnl_exec_arg_t arguments[TFRT_ONEDNN_MAX_ARGUMENTS + 1];
  int count;
};

static void free_views(views_t* views) {
  for (int i = 0; i < views->count; ++i) {
    tfrt_onednn()->dnnl_memory_destroy(views->arguments[i].memory);
  }
  if (views->stream) tfrt_onednn()->dnnl_stream_destroy(views->stream);
  tfrt_allocator_free(tfrt_allocator_system(), views, sizeof(*views));
}

static dnnl_status_t add_view(views_t* views, const dnnl_memory_desc_t* layout, int index) {
  dnnl_exec_arg_t* argument = &views->arguments[views->count];
  dnnl_status_t result =
      tfrt_onednn()->dnnl_memory_create(&argument->memory, layout, onednn.engine, DNNL_MEMORY_NONE);
  if (result != dnnl_success) return result;
  argument->arg = index;
  ++views->count;
  return dnnl_success;
}

static dnnl_status_t fill_views(views_t* views, const tfrt_onednn_primitive_t* primitive,
                                const tfrt_onednn_argument_t* arguments, size_t count) {
  const_dnnl_primitive_desc_t description;
  dnnl_status_t result =
      tfrt_onednn()->dnnl_primitive_get_primitive_desc(primitive->primitive, &description);
  for (size_t i = 0; result == dnnl_success && i < count; ++i) {
    const dnnl_memory_desc_t* layout = tfrt_onednn()->dnnl_primitive_desc_query_md(
        description, dnnl_query_exec_arg_md, arguments[i].index);
    result = add_view(views, layout, arguments[i].index);
  }
  if (result != dnnl_success) return result;
  const dnnl_memory_desc_t* layout =
      tfrt_onednn()->dnnl_primitive_desc_query_md(description, dnnl_query_scratchpad_md, 0);
  views->scratch_size = layout ? tfrt_onednn()->dnnl_memory_desc_get_size(layout) : 0;
  if (views->scratch_size > 0) result = add_view(views, layout, DNNL_ARG_SCRATCHPAD);
  if (result != dnnl_success) return result;
  return tfrt_onednn()->dnnl_stream_create(&views->stream, onednn.engine,
                                           dnnl_stream_default_flags);
}

// Sets |*out_views| to views that no other run uses.
static dnnl_status_t take_views(tfrt_onednn_primitive_t* primitive,
                                const tfrt_onednn_argument_t* arguments, size_t count,
                                views_t** out_views) {
  tfrt_mutex_lock(&primitive->views_mutex);
  views_t* views = primitive->views;
  if (views) primitive->views = views->next;
  tfrt_mutex_unlock(&primitive->views_mutex);
  *out_views = views;
  if (views) return dnnl_success;
  views = tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*views));
  if (!views) return dnnl_out_of_memory;
  dnnl_status_t result = fill_views(views, primitive, arguments, count);
  if (result == dnnl_success) {
    *out_views = views;
  } else {
    free_views(views);
  }
  return result;
}

// There are never more of them than runs were under way at once.
static void give_views_back(tfrt_onednn_primitive_t* primitive, views_t* views) {
  tfrt_mutex_lock(&primitive->views_mutex);
  views->next = primitive->views;
  primitive->views = views;
  tfrt_mutex_unlock(&primitive->views_mutex);
}

// Lets |views| show the data of |arguments|, which are those that they were made for, and
// |scratch|.
static dnnl_status_t point_views(views_t* views, const tfrt_onednn_argument_t* arguments,
                                 size_t count, void* scratch) {
  dnnl_status_t result = dnnl_success;
  for (size_t i = 0; result == dnnl_success && i < count; ++i) {
    assert(views->arguments[i].arg == arguments[i].index);
    // The library has one type for what it reads and what it writes.
    result = tfrt_onednn()->dnnl_memory_set_data_handle(views->arguments[i].memory,
                                                        (void*)(uintptr_t)arguments[i].data);
  }
  if (result != dnnl_success || !scratch) return result;
  return tfrt_onednn()->dnnl_memory_set_data_handle(views->arguments[count].memory, scratch);
}

static dnnl_status_t execute(const tfrt_onednn_primitive_t* primitive, views_t* views,
                             const tfrt_onednn_argument_t* arguments, size_t count,
                             tfrt_allocator_t allocator) {
  void* scratch = NULL;
  if (views->scratch_size > 0) {
    scratch = tfrt_allocator_allocate_aligned(allocator, views->scratch_size, SCRATCH_ALIGNMENT);
    if (!scratch) return dnnl_out_of_memory;
  }
  dnnl_status_t result = point_views(views, arguments, count, scratch);
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_primitive_execute(primitive->primitive, views->stream,
                                                   views->count, views->arguments);
  }
  if (result == dnnl_success) result = tfrt_onednn()->dnnl_stream_wait(views->stream);
  if (scratch) {
    tfrt_allocator_free_aligned(allocator, scratch, views->scratch_size, SCRATCH_ALIGNMENT);
  }
  return result;
}

tfrt_status_t tfrt_onednn_run(tfrt_onednn_primitive_t* primitive,
                              const tfrt_onednn_argument_t* arguments, size_t count,
                              tfrt_allocator_t allocator) {
  use_one_thread();
  views_t* views;
  dnnl_status_t result = take_views(primitive, arguments, count, &views);
  if (result == dnnl_success) {
    result = execute(primitive, views, arguments, count, allocator);
    give_views_back(primitive, views);
  }
  return status_of(result, "run a primitive");
}

void tfrt_onednn_primitive_release(tfrt_onednn_primitive_t* primitive) {
  if (!tfrt_ref_count_decrement(&primitive->ref_count)) return;
  while (primitive->views) {
    views_t* views = primitive->views;
    primitive->views = views->next;
    free_views(views);
  }
  tfrt_onednn()->dnnl_primitive_destroy(primitive->primitive);
  free_primitive(primitive);
}
