// SPDX-License-Identifier: Apache-2.0
#include "kernels/tensor/onednn/onednn_primitive.h"

#include <stdbool.h>
#include <string.h>

#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/list.h"
#include "host_runtime/base/sync.h"
#include "kernels/tensor/onednn/onednn.h"
#include "kernels/tensor/onednn/onednn_library.h"
#include "kernels/tensor/onednn/onednn_views.h"

// All but the first three is guarded by the mutex of the cache.
typedef struct primitive_s {
  dnnl_primitive_t primitive;
  tfrt_onednn_key_t key;
  size_t target_size;  // in bytes, if the target is a result's shape
  tfrt_hash_node_t node;
  tfrt_list_link_t link;
  tfrt_onednn_views_t* views;  // of runs that were ended
  size_t run_count;            // that are under way, or kept by their threads
  bool is_cached;
} primitive_t;

static uint64_t hash_key(const void* key) {
  return tfrt_hash_bytes(key, offsetof(tfrt_onednn_key_t, target));
}

static bool is_for(const primitive_t* primitive, const tfrt_onednn_key_t* key) {
  return memcmp(&primitive->key, key, offsetof(tfrt_onednn_key_t, target)) == 0;
}

static bool key_equal(const tfrt_hash_node_t* node, const void* key) {
  return is_for(TFRT_CONTAINER_OF(node, primitive_t, node), key);
}

static const tfrt_hash_table_vtable_t key_vtable = {.hash = hash_key, .equal = key_equal};

// The process's one cache. It stays until the process ends.
static struct {
  tfrt_once_t once;
  tfrt_mutex_t mutex;
  tfrt_hash_table_t by_key;
  tfrt_list_link_t recent;  // the last one was not asked for for longest
} cache = {.once = TFRT_ONCE_INITIALIZER, .mutex = TFRT_MUTEX_INITIALIZER};

static void initialize(void) {
  tfrt_hash_table_initialize(&cache.by_key, &key_vtable, tfrt_allocator_system());
  tfrt_list_initialize(&cache.recent);
}

// --- Building ----------------------------------------------------------------

// Scratch memory is the caller's in each run: the library's own is tied to the thread that
// created the primitive.
static dnnl_status_t create_attributes(dnnl_primitive_attr_t* out_attributes) {
  dnnl_status_t result = tfrt_onednn()->dnnl_primitive_attr_create(out_attributes);
  if (result != dnnl_success) return result;
  result = tfrt_onednn()->dnnl_primitive_attr_set_scratchpad_mode(*out_attributes,
                                                                  dnnl_scratchpad_mode_user);
  if (result != dnnl_success) tfrt_onednn()->dnnl_primitive_attr_destroy(*out_attributes);
  return result;
}

static dnnl_status_t build(const tfrt_onednn_key_t* key, tfrt_onednn_describe_fn_t describe,
                           dnnl_engine_t engine, dnnl_primitive_t* out_primitive) {
  dnnl_primitive_attr_t attributes;
  dnnl_status_t result = create_attributes(&attributes);
  if (result != dnnl_success) return result;
  dnnl_primitive_desc_t description;
  result = describe(key, attributes, engine, &description);
  if (result == dnnl_success) {
    result = tfrt_onednn()->dnnl_primitive_create(out_primitive, description);
    tfrt_onednn()->dnnl_primitive_desc_destroy(description);
  }
  tfrt_onednn()->dnnl_primitive_attr_destroy(attributes);
  return result;
}

// Sets |*out_primitive| to a new one that has one run and is not in the cache.
static tfrt_status_t create_primitive(const tfrt_onednn_key_t* key,
                                      tfrt_onednn_describe_fn_t describe, dnnl_engine_t engine,
                                      primitive_t** out_primitive) {
  primitive_t* primitive =
      tfrt_allocator_allocate_zeroed(tfrt_allocator_system(), sizeof(*primitive));
  if (!primitive) return tfrt_onednn_status(dnnl_out_of_memory, "keep a primitive");
  primitive->key = *key;
  primitive->target_size = sizeof(float);
  for (uint32_t i = 0; i < key->target_rank; ++i) primitive->target_size *= (size_t)key->target[i];
  primitive->run_count = 1;
  dnnl_status_t result = build(key, describe, engine, &primitive->primitive);
  if (result != dnnl_success) {
    tfrt_allocator_free(tfrt_allocator_system(), primitive, sizeof(*primitive));
    return tfrt_onednn_status(result, "make a primitive");
  }
  *out_primitive = primitive;
  return NULL;
}

static void free_primitive(primitive_t* primitive) {
  while (primitive->views) {
    tfrt_onednn_views_t* views = primitive->views;
    primitive->views = views->next;
    tfrt_onednn_views_free(views);
  }
  tfrt_onednn()->dnnl_primitive_destroy(primitive->primitive);
  tfrt_allocator_free(tfrt_allocator_system(), primitive, sizeof(*primitive));
}

// --- The cache ---------------------------------------------------------------

static void put_first_locked(primitive_t* primitive) {
  if (cache.recent.next == &primitive->link) return;
  tfrt_list_remove(&primitive->link);
  tfrt_list_push_front(&cache.recent, &primitive->link);
}

// Returns the primitive for |key|, which has one run more now, with views for that, or NULL for
// what there is not.
static primitive_t* begin_run(const tfrt_onednn_key_t* key, tfrt_onednn_views_t** out_views) {
  tfrt_mutex_lock(&cache.mutex);
  tfrt_hash_node_t* node = tfrt_hash_table_find(&cache.by_key, key);
  primitive_t* primitive = node ? TFRT_CONTAINER_OF(node, primitive_t, node) : NULL;
  tfrt_onednn_views_t* views = NULL;
  if (primitive) {
    put_first_locked(primitive);
    ++primitive->run_count;
    views = primitive->views;
    if (views) primitive->views = views->next;
  }
  tfrt_mutex_unlock(&cache.mutex);
  *out_views = views;
  return primitive;
}

// Ends a run of |primitive|, which needed |views| (may be NULL) and leaves them for the next one.
static void end_run(primitive_t* primitive, tfrt_onednn_views_t* views) {
  tfrt_mutex_lock(&cache.mutex);
  if (views) {
    views->next = primitive->views;
    primitive->views = views;
  }
  bool is_last = --primitive->run_count == 0 && !primitive->is_cached;
  tfrt_mutex_unlock(&cache.mutex);
  if (is_last) free_primitive(primitive);
}

// Takes the primitive that was not asked for for longest out of the cache; returns it if nobody
// else frees it.
static primitive_t* evict_locked(void) {
  primitive_t* oldest = TFRT_CONTAINER_OF(cache.recent.previous, primitive_t, link);
  tfrt_list_remove(&oldest->link);
  tfrt_hash_table_remove(&cache.by_key, &oldest->node);
  oldest->is_cached = false;
  return oldest->run_count == 0 ? oldest : NULL;
}

// Puts |primitive|, which is new, into the cache, unless there is one for its key.
static void insert(primitive_t* primitive) {
  primitive_t* evicted = NULL;
  tfrt_mutex_lock(&cache.mutex);
  if (!tfrt_hash_table_find(&cache.by_key, &primitive->key)) {
    primitive->is_cached = true;
    tfrt_hash_table_insert(&cache.by_key, &primitive->key, &primitive->node);
    tfrt_list_push_front(&cache.recent, &primitive->link);
    if (tfrt_hash_table_count(&cache.by_key) > TFRT_ONEDNN_CACHE_CAPACITY) evicted = evict_locked();
  }
  tfrt_mutex_unlock(&cache.mutex);
  if (evicted) free_primitive(evicted);
}

size_t tfrt_onednn_cache_size(void) {
  tfrt_once_run(&cache.once, initialize);
  tfrt_mutex_lock(&cache.mutex);
  size_t size = tfrt_hash_table_count(&cache.by_key);
  tfrt_mutex_unlock(&cache.mutex);
  return size;
}

// --- What a thread keeps -----------------------------------------------------

// A run that is not ended, for the next one of its thread with the same key: that one needs neither
// lock nor table.
typedef struct kept_run_s {
  primitive_t* primitive;  // NULL: none
  tfrt_onednn_views_t* views;
} kept_run_t;

// Runs by what their keys mix to, two for each.
static _Thread_local struct {
  kept_run_t runs[TFRT_ONEDNN_KEPT_RUNS / 2][2];
  bool is_hooked;
  tfrt_thread_exit_hook_t hook;
} kept;

// The places for runs with |key|. The first one is that of the key that came last.
static kept_run_t* kept_runs_of(const tfrt_onednn_key_t* key) {
  uint64_t mix = (uint64_t)key->kind;
  // Images and windows are mostly square: the fourth lengths tell little apart.
  for (int i = 0; i < 3; ++i) mix = mix * 31 + (uint64_t)key->source[i];
  for (int i = 0; i < 3; ++i) mix = mix * 31 + (uint64_t)key->weights[i];
  return kept.runs[(mix * 0x9e3779b97f4a7c15u >> 32) % TFRT_ARRAY_SIZE(kept.runs)];
}

static bool is_run_of(const kept_run_t* run, const tfrt_onednn_key_t* key) {
  return run->primitive && is_for(run->primitive, key);
}

// The run with |key|, or NULL.
static kept_run_t* find_kept_run(const tfrt_onednn_key_t* key) {
  kept_run_t* runs = kept_runs_of(key);
  if (is_run_of(&runs[0], key)) return &runs[0];
  return is_run_of(&runs[1], key) ? &runs[1] : NULL;
}

static void end_kept_run(kept_run_t* run) {
  if (run->primitive) end_run(run->primitive, run->views);
  *run = (kept_run_t){.primitive = NULL};
}

// A place for a run with |key|, which is free. The key that came before the last one gives way.
static kept_run_t* clear_kept_run(const tfrt_onednn_key_t* key) {
  kept_run_t* runs = kept_runs_of(key);
  end_kept_run(&runs[1]);
  runs[1] = runs[0];
  runs[0] = (kept_run_t){.primitive = NULL};
  return &runs[0];
}

// Runs when the thread ends. A run that comes even later is hooked anew.
static void end_all_kept_runs(tfrt_thread_exit_hook_t* hook) {
  (void)hook;
  kept.is_hooked = false;
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(kept.runs); ++i) {
    end_kept_run(&kept.runs[i][0]);
    end_kept_run(&kept.runs[i][1]);
  }
}

static tfrt_status_t hook_thread(void) {
  kept.hook.run = end_all_kept_runs;
  kept.is_hooked = tfrt_thread_at_exit(&kept.hook);
  return kept.is_hooked ? NULL : tfrt_status_out_of_memory();
}

// --- Runs --------------------------------------------------------------------

// Begins a run with |key|, whose primitive and views are made if there are none, in |place|, which
// is free.
static tfrt_status_t begin_kept_run(const tfrt_onednn_key_t* key,
                                    tfrt_onednn_describe_fn_t describe,
                                    const tfrt_onednn_input_t* inputs, size_t count,
                                    kept_run_t* place) {
  dnnl_engine_t engine;
  TFRT_RETURN_IF_ERROR(tfrt_onednn_start(&engine));
  tfrt_once_run(&cache.once, initialize);
  if (!kept.is_hooked) TFRT_RETURN_IF_ERROR(hook_thread());
  place->primitive = begin_run(key, &place->views);
  if (!place->primitive) {
    // Building compiles code: long, so without the lock. Two threads may build the same; the
    // second one has its own, beside the cache.
    TFRT_RETURN_IF_ERROR(create_primitive(key, describe, engine, &place->primitive));
    insert(place->primitive);
  }
  if (place->views) return NULL;
  dnnl_status_t result =
      tfrt_onednn_views_create(place->primitive->primitive, inputs, count, engine, &place->views);
  if (result != dnnl_success) end_kept_run(place);
  return tfrt_onednn_status(result, "run a primitive");
}

tfrt_status_t tfrt_onednn_run(const tfrt_onednn_key_t* key, tfrt_onednn_describe_fn_t describe,
                              const tfrt_onednn_input_t* inputs, size_t count,
                              tfrt_allocator_t allocator, void* target) {
  kept_run_t* run = find_kept_run(key);
  if (!run) {
    run = clear_kept_run(key);
    TFRT_RETURN_IF_ERROR(begin_kept_run(key, describe, inputs, count, run));
  }
  return tfrt_onednn_status(tfrt_onednn_views_execute(run->views, run->primitive->primitive, inputs,
                                                      count, allocator, target),
                            "run a primitive");
}

// --- Results -----------------------------------------------------------------

tfrt_status_t tfrt_onednn_make_target(const tfrt_onednn_key_t* key, tfrt_allocator_t allocator,
                                      tfrt_dense_host_tensor_t* out_result) {
  tfrt_shape_t shape;
  TFRT_RETURN_IF_ERROR(tfrt_shape_make_unbounded(key->target, key->target_rank, &shape));
  return tfrt_dense_host_tensor_initialize(TFRT_DTYPE_F32, &shape, allocator, out_result);
}

tfrt_status_t tfrt_onednn_run_first(const tfrt_onednn_key_t* key,
                                    tfrt_onednn_describe_fn_t describe,
                                    const tfrt_onednn_input_t* inputs, size_t count,
                                    tfrt_allocator_t allocator,
                                    tfrt_dense_host_tensor_t* out_result) {
  TFRT_RETURN_IF_ERROR(tfrt_onednn_make_target(key, allocator, out_result));
  if (out_result->buffer->size == 0) return NULL;
  tfrt_status_t status =
      tfrt_onednn_run(key, describe, inputs, count, allocator, out_result->buffer->data);
  if (status) tfrt_dense_host_tensor_deinitialize(out_result);
  return status;
}

// Runs |run| into |*out_result|, a new tensor.
static tfrt_status_t run_into_new(const kept_run_t* run, const tfrt_onednn_input_t* inputs,
                                  size_t count, tfrt_allocator_t allocator,
                                  tfrt_dense_host_tensor_t* out_result) {
  const primitive_t* primitive = run->primitive;
  const tfrt_onednn_key_t* key = &primitive->key;
  TFRT_RETURN_IF_ERROR(
      tfrt_host_buffer_create(primitive->target_size, allocator, &out_result->buffer));
  out_result->dtype = TFRT_DTYPE_F32;
  out_result->shape.rank = key->target_rank;
  memcpy(out_result->shape.dims, key->target, sizeof(key->target));
  dnnl_status_t result = tfrt_onednn_views_execute(run->views, primitive->primitive, inputs, count,
                                                   allocator, out_result->buffer->data);
  if (result == dnnl_success) return NULL;
  tfrt_dense_host_tensor_deinitialize(out_result);
  return tfrt_onednn_status(result, "run a primitive");
}

bool tfrt_onednn_run_again(const tfrt_onednn_key_t* key, const tfrt_onednn_input_t* inputs,
                           size_t count, tfrt_allocator_t allocator,
                           tfrt_dense_host_tensor_t* out_result, tfrt_status_t* out_status) {
  const kept_run_t* run = find_kept_run(key);
  if (!run) return false;
  *out_status = run_into_new(run, inputs, count, allocator, out_result);
  return true;
}
