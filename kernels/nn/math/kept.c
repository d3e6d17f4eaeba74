// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/math/kept.h"

void tfrt_nn_place_initialize(tfrt_nn_place_t* place, tfrt_allocator_t allocator,
                              const tfrt_bef_file_t* file) {
  place->allocator = allocator;
  place->file = file;
  place->first = NULL;
  tfrt_mutex_initialize(&place->mutex);
}

void tfrt_nn_place_deinitialize(tfrt_nn_place_t* place) {
  while (place->first) {
    tfrt_nn_kept_t* kept = place->first;
    place->first = kept->next;
    tfrt_nn_kept_release(kept);
  }
  tfrt_mutex_deinitialize(&place->mutex);
}

tfrt_nn_kept_t* tfrt_nn_place_find(tfrt_nn_place_t* place, tfrt_nn_matches_fn_t matches,
                                   const void* key) {
  tfrt_mutex_lock(&place->mutex);
  tfrt_nn_kept_t** link = &place->first;
  while (*link && !matches(*link, key)) link = &(*link)->next;
  tfrt_nn_kept_t* kept = *link;
  if (kept) {
    *link = kept->next;
    kept->next = place->first;
    place->first = kept;
    tfrt_ref_count_increment(&kept->ref_count);
  }
  tfrt_mutex_unlock(&place->mutex);
  return kept;
}

void tfrt_nn_place_keep(tfrt_nn_place_t* place, tfrt_nn_kept_t* kept) {
  tfrt_ref_count_increment(&kept->ref_count);
  tfrt_mutex_lock(&place->mutex);
  kept->next = place->first;
  place->first = kept;
  tfrt_nn_kept_t** link = &place->first;
  for (int i = 0; i < TFRT_NN_MAX_KEPT && *link; ++i) link = &(*link)->next;
  tfrt_nn_kept_t* last = *link;
  *link = NULL;
  tfrt_mutex_unlock(&place->mutex);
  if (last) tfrt_nn_kept_release(last);
}

void tfrt_nn_kept_release(tfrt_nn_kept_t* kept) {
  if (tfrt_ref_count_decrement(&kept->ref_count)) kept->destroy(kept);
}

bool tfrt_nn_place_is_constant(const tfrt_nn_place_t* place,
                               const tfrt_dense_host_tensor_t* tensor) {
  if (!place || !place->file) return false;
  size_t size;
  const char* constants = tfrt_bef_file_bytes(place->file, &size);
  const char* data = tfrt_dense_host_tensor_data(tensor);
  return data >= constants && data < constants + size;
}

void tfrt_nn_place_unload(const tfrt_nn_place_t* place, const tfrt_dense_host_tensor_t* tensor) {
  tfrt_bef_file_unload(place->file, tfrt_dense_host_tensor_data(tensor),
                       tfrt_dense_host_tensor_size(tensor));
}
