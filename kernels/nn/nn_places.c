// SPDX-License-Identifier: Apache-2.0
#include "kernels/nn/nn_places.h"

#include "host_runtime/base/hash_table.h"
#include "host_runtime/executor/program/program.h"

typedef struct places_s {
  tfrt_resource_t resource;
  tfrt_allocator_t allocator;
  const tfrt_bef_file_t* file;  // the program's; NULL: none
  tfrt_mutex_t mutex;
  tfrt_hash_table_t table;  // guarded by |mutex|
  struct entry_s* entries;  // guarded by |mutex|
} places_t;

typedef struct entry_s {
  tfrt_hash_node_t node;
  struct entry_s* next;
  const tfrt_kernel_site_t* site;
  tfrt_nn_place_t place;
} entry_t;

static uint64_t hash_site(const void* key) {
  uint64_t hash = (uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

static bool is_at_site(const tfrt_hash_node_t* node, const void* key) {
  return TFRT_CONTAINER_OF(node, const entry_t, node)->site == key;
}

static const tfrt_hash_table_vtable_t sites = {hash_site, is_at_site};

static void destroy_places(tfrt_resource_t* resource) {
  places_t* places = TFRT_CONTAINER_OF(resource, places_t, resource);
  while (places->entries) {
    entry_t* entry = places->entries;
    places->entries = entry->next;
    tfrt_nn_place_deinitialize(&entry->place);
    tfrt_allocator_free(places->allocator, entry, sizeof(*entry));
  }
  tfrt_hash_table_deinitialize(&places->table);
  tfrt_mutex_deinitialize(&places->mutex);
  tfrt_allocator_free(places->allocator, places, sizeof(*places));
}

static tfrt_status_t create_places(void* argument, tfrt_resource_t** out_resource) {
  const tfrt_program_t* program = argument;
  tfrt_allocator_t allocator = tfrt_program_allocator(program);
  places_t* places = tfrt_allocator_allocate_zeroed(allocator, sizeof(*places));
  if (!places) return tfrt_status_out_of_memory();
  places->resource.name = "tfrt_nn";
  places->resource.destroy = destroy_places;
  places->allocator = allocator;
  places->file = tfrt_program_file(program);
  tfrt_mutex_initialize(&places->mutex);
  tfrt_hash_table_initialize(&places->table, &sites, allocator);
  *out_resource = &places->resource;
  return NULL;
}

// The entry of |site|, or NULL when memory is out. The mutex is held.
static entry_t* find_entry(places_t* places, const tfrt_kernel_site_t* site) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&places->table, site);
  if (node) return TFRT_CONTAINER_OF(node, entry_t, node);
  entry_t* entry = tfrt_allocator_allocate_zeroed(places->allocator, sizeof(*entry));
  if (!entry) return NULL;
  entry->site = site;
  tfrt_nn_place_initialize(&entry->place, places->allocator, places->file);
  tfrt_hash_table_insert(&places->table, site, &entry->node);
  entry->next = places->entries;
  places->entries = entry;
  return entry;
}

tfrt_nn_place_t* tfrt_nn_places_find(const tfrt_kernel_site_t* site) {
  tfrt_program_t* program = site ? tfrt_kernel_site_program(site) : NULL;
  if (!program) return NULL;
  tfrt_resource_t* resource = NULL;
  tfrt_status_t status = tfrt_resource_context_get_or_create(
      tfrt_program_resources(program), "tfrt_nn", create_places, program, &resource);
  if (status) {
    tfrt_status_release(status);
    return NULL;
  }
  places_t* places = TFRT_CONTAINER_OF(resource, places_t, resource);
  tfrt_mutex_lock(&places->mutex);
  entry_t* entry = find_entry(places, site);
  tfrt_mutex_unlock(&places->mutex);
  return entry ? &entry->place : NULL;
}
