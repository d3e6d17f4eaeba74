// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/kernel_names.h"

// The number of names that are searched by walking.
#define TFRT_KERNEL_NAMES_WALKS 8

// One name in an index.
typedef struct tfrt_kernel_entry_s {
  tfrt_hash_node_t node;
  const tfrt_kernel_descriptor_t* descriptor;  // with the name
  const tfrt_kernel_room_t* room;
} tfrt_kernel_entry_t;

// --- Life --------------------------------------------------------------------

static uint64_t kernel_names_hash(const void* key) {
  const tfrt_string_view_t* name = key;
  return tfrt_hash_bytes(name->data, name->size);
}

static bool kernel_names_equal(const tfrt_hash_node_t* node, const void* key) {
  const char* name = TFRT_CONTAINER_OF(node, tfrt_kernel_entry_t, node)->descriptor->name;
  return tfrt_string_view_equal(tfrt_string_view_of(name), *(const tfrt_string_view_t*)key);
}

static const tfrt_hash_table_vtable_t tfrt_kernel_names_vtable = {
    .hash = kernel_names_hash,
    .equal = kernel_names_equal,
};

void tfrt_kernel_names_initialize(tfrt_kernel_names_t* names, const char* what,
                                  tfrt_allocator_t allocator) {
  names->what = what;
  tfrt_mutex_initialize(&names->mutex);
  tfrt_hash_table_initialize(&names->index, &tfrt_kernel_names_vtable, allocator);
  tfrt_arena_initialize(&names->entries, allocator);
}

static void kernel_names_drop_index(tfrt_kernel_names_t* names) {
  tfrt_hash_table_deinitialize(&names->index);
  tfrt_arena_deinitialize(&names->entries);
}

void tfrt_kernel_names_deinitialize(tfrt_kernel_names_t* names) {
  kernel_names_drop_index(names);
  tfrt_mutex_deinitialize(&names->mutex);
}

// --- The index ---------------------------------------------------------------

static tfrt_status_t kernel_names_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to register kernels");
}

// Drops the first |count| of |entries| from the index of |names|.
static void kernel_names_take_back(tfrt_kernel_names_t* names, tfrt_kernel_entry_t* entries,
                                   size_t count) {
  for (size_t i = 0; i < count; ++i) tfrt_hash_table_remove(&names->index, &entries[i].node);
}

// Adds the names of |room| to the index: all, or none if one of them is there already.
static tfrt_status_t kernel_names_add_to_index(tfrt_kernel_names_t* names,
                                               const tfrt_kernel_room_t* room) {
  const tfrt_kernel_table_t* table = &room->table;
  tfrt_kernel_entry_t* entries =
      tfrt_arena_allocate_room(&names->entries, table->count, sizeof(*entries));
  if (!entries) return kernel_names_out_of_memory();
  tfrt_hash_table_reserve(&names->index, tfrt_hash_table_count(&names->index) + table->count);
  size_t count = 0;
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* descriptor = &table->descriptors[i];
    if (descriptor->flags & TFRT_KERNEL_TERMINATOR) continue;
    tfrt_string_view_t name = tfrt_string_view_of(descriptor->name);
    uint64_t hash = kernel_names_hash(&name);
    if (tfrt_hash_table_find_hashed(&names->index, hash, &name)) {
      kernel_names_take_back(names, entries, count);
      return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "%s '%s' is registered twice",
                                names->what, descriptor->name);
    }
    tfrt_kernel_entry_t* entry = &entries[count++];
    entry->descriptor = descriptor;
    entry->room = room;
    tfrt_hash_table_insert_hashed(&names->index, hash, &entry->node);
  }
  return NULL;
}

// Makes the index of |names| if there is none.
static tfrt_status_t kernel_names_make_index(tfrt_kernel_names_t* names) {
  // Relaxed: who has made it held the lock, or was this thread.
  if (atomic_load_explicit(&names->is_indexed, memory_order_relaxed)) return NULL;
  for (const tfrt_kernel_room_t* room = names->first; room; room = room->next) {
    tfrt_status_t status = kernel_names_add_to_index(names, room);
    if (!status) continue;
    kernel_names_drop_index(names);
    return status;
  }
  // Release: a thread that sees it, by the acquire in kernel_names_has_index(), sees the
  // index.
  atomic_store_explicit(&names->is_indexed, true, memory_order_release);
  return NULL;
}

// Whether |names| have an index; makes one when enough names were looked for.
static bool kernel_names_has_index(tfrt_kernel_names_t* names) {
  // Acquire: pairs with the release of the thread that made it.
  if (atomic_load_explicit(&names->is_indexed, memory_order_acquire)) return true;
  // Relaxed: only a number.
  if (atomic_fetch_add_explicit(&names->walk_count, 1, memory_order_relaxed) <
      TFRT_KERNEL_NAMES_WALKS) {
    return false;
  }
  tfrt_mutex_lock(&names->mutex);
  tfrt_status_t status = kernel_names_make_index(names);
  tfrt_mutex_unlock(&names->mutex);
  // Without an index, for lack of memory, one walks on.
  tfrt_status_release(status);
  return !status;
}

// --- Looking up --------------------------------------------------------------

// Sets |*out_kernel| to that of entry |place| of |room|; returns false if it has no function.
static bool kernel_room_get(const tfrt_kernel_room_t* room, size_t place,
                            tfrt_kernel_t* out_kernel) {
  const tfrt_kernel_t kernel = {
      .function = room->functions ? room->functions[place] : NULL,
      .sync_function = room->sync_functions ? room->sync_functions[place] : NULL,
      .withdraw = room->withdrawals ? room->withdrawals[place] : NULL,
      .descriptor = &room->table.descriptors[place],
  };
  if (!kernel.function && !kernel.sync_function) return false;
  *out_kernel = kernel;
  return true;
}

static bool kernel_names_walk(const tfrt_kernel_names_t* names, tfrt_string_view_t name,
                              tfrt_kernel_t* out_kernel) {
  for (const tfrt_kernel_room_t* room = names->first; room; room = room->next) {
    for (size_t i = 0; i < room->table.count; ++i) {
      tfrt_string_view_t other = tfrt_string_view_of(room->table.descriptors[i].name);
      if (!tfrt_string_view_equal(other, name)) continue;
      if (kernel_room_get(room, i, out_kernel)) return true;
    }
  }
  return false;
}

bool tfrt_kernel_names_find(const tfrt_kernel_names_t* names, tfrt_string_view_t name,
                            tfrt_kernel_t* out_kernel) {
  // The index adds nothing to the names, so a thread that may read them may make it.
  if (!kernel_names_has_index((tfrt_kernel_names_t*)names)) {
    return kernel_names_walk(names, name, out_kernel);
  }
  tfrt_hash_node_t* node = tfrt_hash_table_find(&names->index, &name);
  if (!node) return false;
  const tfrt_kernel_entry_t* entry = TFRT_CONTAINER_OF(node, tfrt_kernel_entry_t, node);
  return kernel_room_get(entry->room, (size_t)(entry->descriptor - entry->room->table.descriptors),
                         out_kernel);
}

tfrt_kernel_room_t* tfrt_kernel_names_room_of(const tfrt_kernel_names_t* names,
                                              const tfrt_kernel_table_t* table) {
  tfrt_kernel_room_t* room = names->first;
  while (room && room->table.descriptors != table->descriptors) room = room->next;
  return room;
}

// --- Adding ------------------------------------------------------------------

tfrt_status_t tfrt_kernel_names_add(tfrt_kernel_names_t* names, tfrt_kernel_room_t* room,
                                    bool is_checked) {
  if (is_checked) TFRT_RETURN_IF_ERROR(kernel_names_make_index(names));
  // Relaxed: nobody looks up while something is added.
  if (atomic_load_explicit(&names->is_indexed, memory_order_relaxed)) {
    TFRT_RETURN_IF_ERROR(kernel_names_add_to_index(names, room));
  }
  if (names->last) {
    names->last->next = room;
  } else {
    names->first = room;
  }
  names->last = room;
  return NULL;
}
