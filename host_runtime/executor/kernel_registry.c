// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel_registry.h"

#include <stdatomic.h>
#include <string.h>

#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"
#include "host_runtime/base/sync.h"

// Ops that have a synchronous form.
#define TFRT_KERNEL_SYNC_MARKS (TFRT_KERNEL_SYNC_TOO | TFRT_KERNEL_SYNC_ONLY)

// So many names are looked for by walking through the tables. Most programs have fewer; an index
// of all names costs as much as some ten walks.
#define TFRT_KERNEL_REGISTRY_WALKS 8

// An op table with the functions of its entries.
typedef struct tfrt_kernel_room_s {
  tfrt_kernel_table_t table;
  tfrt_kernel_fn_t* functions;            // by entry, NULL for one that has none
  tfrt_sync_kernel_fn_t* sync_functions;  // the same; NULL: no entry has one
} tfrt_kernel_room_t;

// One name in an index.
typedef struct tfrt_kernel_entry_s {
  tfrt_hash_node_t node;
  const tfrt_kernel_descriptor_t* descriptor;  // with the name
  size_t room;
} tfrt_kernel_entry_t;

// Rooms whose names are one set.
typedef struct tfrt_kernel_names_s {
  const char* what;  // has these names, for errors
  tfrt_kernel_room_t* rooms;
  size_t room_count;
  size_t room_capacity;
  tfrt_hash_table_t index;  // of all names, if |is_indexed|
  tfrt_arena_t entries;     // of the index
  _Atomic bool is_indexed;
  _Atomic uint32_t walk_count;
} tfrt_kernel_names_t;

struct tfrt_kernel_registry_s {
  tfrt_allocator_t allocator;
  tfrt_arena_t functions;  // of all rooms
  tfrt_kernel_names_t kernels;
  tfrt_kernel_names_t natives;
  tfrt_mutex_t mutex;           // held by who makes an index
  tfrt_kernel_table_t* tables;  // those of the kernels
  size_t table_count;
  size_t table_capacity;
  bool trusts_names;
  bool type_checks;
};

// --- Life --------------------------------------------------------------------

static uint64_t tfrt_kernel_registry_hash(const void* key) {
  const tfrt_string_view_t* name = key;
  return tfrt_hash_bytes(name->data, name->size);
}

static bool tfrt_kernel_registry_equal(const tfrt_hash_node_t* node, const void* key) {
  const char* name = TFRT_CONTAINER_OF(node, tfrt_kernel_entry_t, node)->descriptor->name;
  return tfrt_string_view_equal(tfrt_string_view_of(name), *(const tfrt_string_view_t*)key);
}

static const tfrt_hash_table_vtable_t tfrt_kernel_registry_vtable = {
    .hash = tfrt_kernel_registry_hash,
    .equal = tfrt_kernel_registry_equal,
};

static void tfrt_kernel_names_initialize(tfrt_kernel_names_t* names, const char* what,
                                         tfrt_allocator_t allocator) {
  names->what = what;
  tfrt_hash_table_initialize(&names->index, &tfrt_kernel_registry_vtable, allocator);
  tfrt_arena_initialize(&names->entries, allocator);
}

static void tfrt_kernel_names_drop_index(tfrt_kernel_names_t* names) {
  tfrt_hash_table_deinitialize(&names->index);
  tfrt_arena_deinitialize(&names->entries);
}

static void tfrt_kernel_names_deinitialize(tfrt_kernel_names_t* names, tfrt_allocator_t allocator) {
  tfrt_kernel_names_drop_index(names);
  tfrt_allocator_free(allocator, names->rooms, names->room_capacity * sizeof(*names->rooms));
}

tfrt_status_t tfrt_kernel_registry_allocate(tfrt_allocator_t allocator,
                                            tfrt_kernel_registry_t** out_registry) {
  *out_registry = NULL;
  tfrt_kernel_registry_t* registry = tfrt_allocator_allocate_zeroed(allocator, sizeof(*registry));
  if (!registry) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a kernel registry");
  }
  registry->allocator = allocator;
  tfrt_arena_initialize(&registry->functions, allocator);
  tfrt_kernel_names_initialize(&registry->kernels, "kernel", allocator);
  tfrt_kernel_names_initialize(&registry->natives, "native function", allocator);
  tfrt_mutex_initialize(&registry->mutex);
  *out_registry = registry;
  return NULL;
}

void tfrt_kernel_registry_free(tfrt_kernel_registry_t* registry) {
  if (!registry) return;
  tfrt_mutex_deinitialize(&registry->mutex);
  tfrt_kernel_names_deinitialize(&registry->kernels, registry->allocator);
  tfrt_kernel_names_deinitialize(&registry->natives, registry->allocator);
  tfrt_arena_deinitialize(&registry->functions);
  tfrt_allocator_free(registry->allocator, registry->tables,
                      registry->table_capacity * sizeof(*registry->tables));
  tfrt_allocator_free(registry->allocator, registry, sizeof(*registry));
}

static tfrt_status_t tfrt_kernel_registry_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to register kernels");
}

// Returns |array| of |*capacity| elements of |size| bytes with room for one more than |count|,
// which may lie elsewhere now; NULL, and nothing has changed, when memory is out.
static void* tfrt_kernel_registry_grow(tfrt_kernel_registry_t* registry, void* array, size_t count,
                                       size_t* capacity, size_t size) {
  if (count < *capacity) return array;
  size_t bigger = *capacity ? 2 * *capacity : 16;
  void* grown =
      tfrt_allocator_reallocate(registry->allocator, array, *capacity * size, bigger * size);
  if (grown) *capacity = bigger;
  return grown;
}

// --- The index ---------------------------------------------------------------

// Drops the first |count| of |entries| from the index of |names|.
static void tfrt_kernel_names_take_back(tfrt_kernel_names_t* names, tfrt_kernel_entry_t* entries,
                                        size_t count) {
  for (size_t i = 0; i < count; ++i) tfrt_hash_table_remove(&names->index, &entries[i].node);
}

// Adds the names of |room|, number |number| of |names|, to the index: all, or none if one of them
// is there already.
static tfrt_status_t tfrt_kernel_names_add_to_index(tfrt_kernel_names_t* names,
                                                    const tfrt_kernel_room_t* room, size_t number) {
  const tfrt_kernel_table_t* table = &room->table;
  tfrt_kernel_entry_t* entries =
      tfrt_arena_allocate_room(&names->entries, table->count, sizeof(*entries));
  if (!entries) return tfrt_kernel_registry_out_of_memory();
  tfrt_hash_table_reserve(&names->index, tfrt_hash_table_count(&names->index) + table->count);
  size_t count = 0;
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* descriptor = &table->descriptors[i];
    if (descriptor->flags & TFRT_KERNEL_TERMINATOR) continue;
    tfrt_string_view_t name = tfrt_string_view_of(descriptor->name);
    uint64_t hash = tfrt_kernel_registry_hash(&name);
    if (tfrt_hash_table_find_hashed(&names->index, hash, &name)) {
      tfrt_kernel_names_take_back(names, entries, count);
      return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "%s '%s' is registered twice",
                                names->what, descriptor->name);
    }
    tfrt_kernel_entry_t* entry = &entries[count++];
    entry->descriptor = descriptor;
    entry->room = number;
    tfrt_hash_table_insert_hashed(&names->index, hash, &entry->node);
  }
  return NULL;
}

// Makes the index of |names| if there is none.
static tfrt_status_t tfrt_kernel_names_make_index(tfrt_kernel_names_t* names) {
  if (atomic_load_explicit(&names->is_indexed, memory_order_relaxed)) return NULL;
  for (size_t i = 0; i < names->room_count; ++i) {
    tfrt_status_t status = tfrt_kernel_names_add_to_index(names, &names->rooms[i], i);
    if (!status) continue;
    tfrt_kernel_names_drop_index(names);
    return status;
  }
  // Release: whoever sees it, by the acquire in tfrt_kernel_registry_has_index(), sees the index.
  atomic_store_explicit(&names->is_indexed, true, memory_order_release);
  return NULL;
}

// Whether |names| of |registry| have an index; makes one when enough names were looked for.
static bool tfrt_kernel_registry_has_index(tfrt_kernel_registry_t* registry,
                                           tfrt_kernel_names_t* names) {
  // Acquire: pairs with the release of who has made it.
  if (atomic_load_explicit(&names->is_indexed, memory_order_acquire)) return true;
  // Relaxed: only a number.
  if (atomic_fetch_add_explicit(&names->walk_count, 1, memory_order_relaxed) <
      TFRT_KERNEL_REGISTRY_WALKS) {
    return false;
  }
  tfrt_mutex_lock(&registry->mutex);
  tfrt_status_t status = tfrt_kernel_names_make_index(names);
  tfrt_mutex_unlock(&registry->mutex);
  // Without an index, for lack of memory, one walks on.
  tfrt_status_release(status);
  return !status;
}

// --- Looking up --------------------------------------------------------------

// Sets |*out_kernel| to that of entry |place| of |room|; returns false if it has no function.
static bool tfrt_kernel_room_get(const tfrt_kernel_room_t* room, size_t place,
                                 tfrt_kernel_t* out_kernel) {
  const tfrt_kernel_t kernel = {
      .function = room->functions ? room->functions[place] : NULL,
      .sync_function = room->sync_functions ? room->sync_functions[place] : NULL,
      .descriptor = &room->table.descriptors[place],
  };
  if (!kernel.function && !kernel.sync_function) return false;
  *out_kernel = kernel;
  return true;
}

static bool tfrt_kernel_names_walk(const tfrt_kernel_names_t* names, tfrt_string_view_t name,
                                   tfrt_kernel_t* out_kernel) {
  for (size_t r = 0; r < names->room_count; ++r) {
    const tfrt_kernel_table_t* table = &names->rooms[r].table;
    for (size_t i = 0; i < table->count; ++i) {
      tfrt_string_view_t other = tfrt_string_view_of(table->descriptors[i].name);
      if (!tfrt_string_view_equal(other, name)) continue;
      if (tfrt_kernel_room_get(&names->rooms[r], i, out_kernel)) return true;
    }
  }
  return false;
}

static bool tfrt_kernel_registry_look_up(const tfrt_kernel_registry_t* registry,
                                         const tfrt_kernel_names_t* names, tfrt_string_view_t name,
                                         tfrt_kernel_t* out_kernel) {
  // The index is no part of what a registry says, so whoever may read it may make that.
  bool has_index = tfrt_kernel_registry_has_index((tfrt_kernel_registry_t*)registry,
                                                  (tfrt_kernel_names_t*)names);
  if (!has_index) return tfrt_kernel_names_walk(names, name, out_kernel);
  tfrt_hash_node_t* node = tfrt_hash_table_find(&names->index, &name);
  if (!node) return false;
  const tfrt_kernel_entry_t* entry = TFRT_CONTAINER_OF(node, tfrt_kernel_entry_t, node);
  const tfrt_kernel_room_t* room = &names->rooms[entry->room];
  return tfrt_kernel_room_get(room, (size_t)(entry->descriptor - room->table.descriptors),
                              out_kernel);
}

bool tfrt_kernel_registry_find(const tfrt_kernel_registry_t* registry, tfrt_string_view_t name,
                               tfrt_kernel_t* out_kernel) {
  *out_kernel = (tfrt_kernel_t){0};
  return tfrt_kernel_registry_look_up(registry, &registry->kernels, name, out_kernel);
}

bool tfrt_kernel_registry_find_native(const tfrt_kernel_registry_t* registry,
                                      tfrt_string_view_t name, tfrt_kernel_t* out_kernel) {
  *out_kernel = (tfrt_kernel_t){0};
  return tfrt_kernel_registry_look_up(registry, &registry->natives, name, out_kernel);
}

const tfrt_kernel_table_t* tfrt_kernel_registry_tables(const tfrt_kernel_registry_t* registry,
                                                       size_t* out_count) {
  *out_count = registry->table_count;
  return registry->tables;
}

void tfrt_kernel_registry_set_type_checks(tfrt_kernel_registry_t* registry, bool enabled) {
  registry->type_checks = enabled;
}

bool tfrt_kernel_registry_type_checks(const tfrt_kernel_registry_t* registry) {
  return registry->type_checks;
}

void tfrt_kernel_registry_set_trust(tfrt_kernel_registry_t* registry, bool enabled) {
  registry->trusts_names = enabled;
}

// --- Adding ------------------------------------------------------------------

// The place of |name| among the |count| registrations, or |count|. The search begins at |hint|
// and goes round: code and table mostly list the same things in the same order, so that it
// ends where it begins. Equal names are mostly one string, too, since the linker keeps one of
// each: texts are compared only where none of the addresses is that of |name|.
static size_t tfrt_kernel_registration_find(const tfrt_kernel_registration_t* registrations,
                                            size_t count, const char* name, size_t hint) {
  for (size_t i = 0; i < count; ++i) {
    size_t place = hint + i < count ? hint + i : hint + i - count;
    if (registrations[place].name == name) return place;
  }
  size_t place = 0;
  while (place < count && strcmp(registrations[place].name, name) != 0) ++place;
  return place;
}

// The same for the entries of |table|; its count if there is none.
static size_t tfrt_kernel_registry_find_entry(const tfrt_kernel_table_t* table, const char* name,
                                              size_t hint) {
  for (size_t i = 0; i < table->count; ++i) {
    size_t place = hint + i < table->count ? hint + i : hint + i - table->count;
    if (table->descriptors[place].name == name) return place;
  }
  size_t place = 0;
  while (place < table->count && strcmp(table->descriptors[place].name, name) != 0) ++place;
  return place;
}

// Whether the op of |descriptor| has a kernel for asynchronous functions.
static bool tfrt_kernel_registry_wants_kernel(const tfrt_kernel_descriptor_t* descriptor) {
  return !(descriptor->flags & (TFRT_KERNEL_TERMINATOR | TFRT_KERNEL_SYNC_ONLY));
}

// How many entries of |table| do.
static size_t tfrt_kernel_registry_wanted(const tfrt_kernel_table_t* table) {
  size_t wanted = 0;
  for (size_t i = 0; i < table->count; ++i) {
    wanted += tfrt_kernel_registry_wants_kernel(&table->descriptors[i]);
  }
  return wanted;
}

// Checks that each of |registrations| has an entry in |table|.
static tfrt_status_t tfrt_kernel_registry_check_entries(
    const char* what, const tfrt_kernel_table_t* table,
    const tfrt_kernel_registration_t* registrations, size_t count) {
  size_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    place = tfrt_kernel_registry_find_entry(table, registrations[i].name, place);
    if (place++ < table->count) continue;
    return tfrt_status_create(TFRT_STATUS_INTERNAL, "%s '%s' has no entry in the op table", what,
                              registrations[i].name);
  }
  return NULL;
}

// Checks that no two of |registrations| have one name.
static tfrt_status_t tfrt_kernel_registry_check_names(
    const char* what, const tfrt_kernel_registration_t* registrations, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    if (tfrt_kernel_registration_find(registrations, i, registrations[i].name, 0) == i) continue;
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "%s '%s' is registered twice", what,
                              registrations[i].name);
  }
  return NULL;
}

// What is wrong if no |what| is listed for the entry |missing| of |table|: that, or that it is
// listed by another name.
static tfrt_status_t tfrt_kernel_registry_lacks(const char* what, const tfrt_kernel_table_t* table,
                                                const tfrt_kernel_registration_t* registrations,
                                                size_t count, const char* missing) {
  TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_check_entries(what, table, registrations, count));
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "op table entry '%s' has no %s", missing, what);
}

// Sets |functions|, by entry of |table|, to what |registrations| say; the two must agree.
static tfrt_status_t tfrt_kernel_registry_match(const char* what, const tfrt_kernel_table_t* table,
                                                const tfrt_kernel_registration_t* registrations,
                                                size_t count, tfrt_kernel_fn_t* functions) {
  // Where as many are listed as are wanted, all have entries if all entries are found below.
  // Otherwise one has none, or is listed twice; looking for that is quadratic.
  if (tfrt_kernel_registry_wanted(table) != count) {
    TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_check_entries(what, table, registrations, count));
    TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_check_names(what, registrations, count));
  }
  size_t place = 0;
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* descriptor = &table->descriptors[i];
    if (!tfrt_kernel_registry_wants_kernel(descriptor)) continue;
    place = tfrt_kernel_registration_find(registrations, count, descriptor->name, place);
    if (place == count) {
      return tfrt_kernel_registry_lacks(what, table, registrations, count, descriptor->name);
    }
    functions[i] = registrations[place++].function;
  }
  return NULL;
}

// Adds |room| to |names|. Unless names are trusted, or if there is an index, none of its names may
// be there.
static tfrt_status_t tfrt_kernel_registry_add_room(tfrt_kernel_registry_t* registry,
                                                   tfrt_kernel_names_t* names,
                                                   const tfrt_kernel_room_t* room) {
  tfrt_kernel_room_t* rooms = tfrt_kernel_registry_grow(
      registry, names->rooms, names->room_count, &names->room_capacity, sizeof(*names->rooms));
  if (!rooms) return tfrt_kernel_registry_out_of_memory();
  names->rooms = rooms;
  if (!registry->trusts_names) TFRT_RETURN_IF_ERROR(tfrt_kernel_names_make_index(names));
  // Relaxed: nobody looks up while something is added.
  if (atomic_load_explicit(&names->is_indexed, memory_order_relaxed)) {
    TFRT_RETURN_IF_ERROR(tfrt_kernel_names_add_to_index(names, room, names->room_count));
  }
  names->rooms[names->room_count++] = *room;
  return NULL;
}

// Adds to |names| what |table| and |registrations| agree on.
static tfrt_status_t tfrt_kernel_registry_add_table(tfrt_kernel_registry_t* registry,
                                                    tfrt_kernel_names_t* names,
                                                    const tfrt_kernel_table_t* table,
                                                    const tfrt_kernel_registration_t* registrations,
                                                    size_t count) {
  tfrt_kernel_room_t room = {.table = *table};
  room.functions =
      tfrt_arena_allocate_array(&registry->functions, table->count, sizeof(*room.functions));
  if (!room.functions) return tfrt_kernel_registry_out_of_memory();
  TFRT_RETURN_IF_ERROR(
      tfrt_kernel_registry_match(names->what, table, registrations, count, room.functions));
  return tfrt_kernel_registry_add_room(registry, names, &room);
}

tfrt_status_t tfrt_kernel_registry_add_all(tfrt_kernel_registry_t* registry,
                                           const tfrt_kernel_table_t* table,
                                           const tfrt_kernel_registration_t* registrations,
                                           size_t count) {
  tfrt_kernel_table_t* tables =
      tfrt_kernel_registry_grow(registry, registry->tables, registry->table_count,
                                &registry->table_capacity, sizeof(*registry->tables));
  if (!tables) return tfrt_kernel_registry_out_of_memory();
  registry->tables = tables;
  TFRT_RETURN_IF_ERROR(
      tfrt_kernel_registry_add_table(registry, &registry->kernels, table, registrations, count));
  registry->tables[registry->table_count++] = *table;
  return NULL;
}

tfrt_status_t tfrt_kernel_registry_add_natives(tfrt_kernel_registry_t* registry,
                                               const tfrt_kernel_table_t* table,
                                               const tfrt_kernel_registration_t* registrations,
                                               size_t count) {
  return tfrt_kernel_registry_add_table(registry, &registry->natives, table, registrations, count);
}

static bool tfrt_kernel_registry_wants_sync(const tfrt_kernel_descriptor_t* descriptor) {
  return (descriptor->flags & TFRT_KERNEL_SYNC_MARKS) != 0;
}

static tfrt_status_t tfrt_kernel_registry_sync_twice(const char* name) {
  return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                            "the synchronous form of '%s' is registered twice", name);
}

// Sets |functions|, by entry of |table|, to what |registrations| say; they must be those that the
// table marks.
static tfrt_status_t tfrt_kernel_registry_match_sync(
    const tfrt_kernel_table_t* table, const tfrt_sync_kernel_registration_t* registrations,
    size_t count, tfrt_sync_kernel_fn_t* functions) {
  size_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    const char* name = registrations[i].name;
    place = tfrt_kernel_registry_find_entry(table, name, place);
    if (place == table->count || !tfrt_kernel_registry_wants_sync(&table->descriptors[place])) {
      return tfrt_status_create(TFRT_STATUS_INTERNAL,
                                "the op table doesn't mark '%s' as an op of synchronous functions",
                                name);
    }
    if (functions[place]) return tfrt_kernel_registry_sync_twice(name);
    functions[place++] = registrations[i].function;
  }
  for (size_t i = 0; i < table->count; ++i) {
    if (functions[i] || !tfrt_kernel_registry_wants_sync(&table->descriptors[i])) continue;
    return tfrt_status_create(TFRT_STATUS_INTERNAL,
                              "the op table marks '%s' as an op of synchronous functions, but no "
                              "synchronous form of it is registered",
                              table->descriptors[i].name);
  }
  return NULL;
}

// The room of |table| among those of the kernels, or NULL.
static tfrt_kernel_room_t* tfrt_kernel_registry_room_of(tfrt_kernel_registry_t* registry,
                                                        const tfrt_kernel_table_t* table) {
  for (size_t r = 0; r < registry->kernels.room_count; ++r) {
    tfrt_kernel_room_t* room = &registry->kernels.rooms[r];
    if (room->table.descriptors == table->descriptors) return room;
  }
  return NULL;
}

tfrt_status_t tfrt_kernel_registry_add_sync(tfrt_kernel_registry_t* registry,
                                            const tfrt_kernel_table_t* table,
                                            const tfrt_sync_kernel_registration_t* registrations,
                                            size_t count) {
  tfrt_sync_kernel_fn_t* functions =
      tfrt_arena_allocate_array(&registry->functions, table->count, sizeof(*functions));
  if (!functions) return tfrt_kernel_registry_out_of_memory();
  TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_match_sync(table, registrations, count, functions));
  tfrt_kernel_room_t* room = tfrt_kernel_registry_room_of(registry, table);
  if (!room) {
    const tfrt_kernel_room_t own = {.table = *table, .sync_functions = functions};
    return tfrt_kernel_registry_add_room(registry, &registry->kernels, &own);
  }
  if (room->sync_functions && count > 0) {
    return tfrt_kernel_registry_sync_twice(registrations[0].name);
  }
  room->sync_functions = functions;
  return NULL;
}
