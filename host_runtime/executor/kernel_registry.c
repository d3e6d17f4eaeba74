// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel_registry.h"

#include <string.h>

#include "host_runtime/base/arena.h"
#include "host_runtime/base/hash_table.h"

// Ops that have a synchronous form.
#define TFRT_KERNEL_SYNC_MARKS (TFRT_KERNEL_SYNC_TOO | TFRT_KERNEL_SYNC_ONLY)

typedef struct tfrt_kernel_entry_s {
  tfrt_hash_node_t node;
  tfrt_kernel_t kernel;  // with its name
} tfrt_kernel_entry_t;

struct tfrt_kernel_registry_s {
  tfrt_allocator_t allocator;
  tfrt_arena_t arena;  // the entries
  tfrt_hash_table_t by_name;
  tfrt_hash_table_t natives;
  tfrt_kernel_table_t* tables;  // those of the kernels
  size_t table_count;
  size_t table_capacity;
  bool type_checks;
};

static uint64_t tfrt_kernel_registry_hash(const void* key) {
  const tfrt_string_view_t* name = key;
  return tfrt_hash_bytes(name->data, name->size);
}

static bool tfrt_kernel_registry_equal(const tfrt_hash_node_t* node, const void* key) {
  const char* name = TFRT_CONTAINER_OF(node, tfrt_kernel_entry_t, node)->kernel.descriptor->name;
  return tfrt_string_view_equal(tfrt_string_view_of(name), *(const tfrt_string_view_t*)key);
}

static const tfrt_hash_table_vtable_t tfrt_kernel_registry_vtable = {
    .hash = tfrt_kernel_registry_hash,
    .equal = tfrt_kernel_registry_equal,
};

tfrt_status_t tfrt_kernel_registry_allocate(tfrt_allocator_t allocator,
                                            tfrt_kernel_registry_t** out_registry) {
  *out_registry = NULL;
  tfrt_kernel_registry_t* registry = tfrt_allocator_allocate_zeroed(allocator, sizeof(*registry));
  if (!registry) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a kernel registry");
  }
  registry->allocator = allocator;
  tfrt_arena_initialize(&registry->arena, allocator);
  tfrt_hash_table_initialize(&registry->by_name, &tfrt_kernel_registry_vtable, allocator);
  tfrt_hash_table_initialize(&registry->natives, &tfrt_kernel_registry_vtable, allocator);
  *out_registry = registry;
  return NULL;
}

void tfrt_kernel_registry_free(tfrt_kernel_registry_t* registry) {
  if (!registry) return;
  tfrt_hash_table_deinitialize(&registry->by_name);
  tfrt_hash_table_deinitialize(&registry->natives);
  tfrt_arena_deinitialize(&registry->arena);
  tfrt_allocator_free(registry->allocator, registry->tables,
                      registry->table_capacity * sizeof(*registry->tables));
  tfrt_allocator_free(registry->allocator, registry, sizeof(*registry));
}

static tfrt_status_t tfrt_kernel_registry_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to register kernels");
}

// Keeps |table| for tfrt_kernel_registry_tables().
static tfrt_status_t tfrt_kernel_registry_keep_table(tfrt_kernel_registry_t* registry,
                                                     const tfrt_kernel_table_t* table) {
  if (registry->table_count == registry->table_capacity) {
    size_t capacity = registry->table_capacity ? 2 * registry->table_capacity : 16;
    tfrt_kernel_table_t* tables = tfrt_allocator_reallocate(
        registry->allocator, registry->tables, registry->table_capacity * sizeof(*tables),
        capacity * sizeof(*tables));
    if (!tables) return tfrt_status_out_of_memory();
    registry->tables = tables;
    registry->table_capacity = capacity;
  }
  registry->tables[registry->table_count++] = *table;
  return NULL;
}

const tfrt_kernel_table_t* tfrt_kernel_registry_tables(const tfrt_kernel_registry_t* registry,
                                                       size_t* out_count) {
  *out_count = registry->table_count;
  return registry->tables;
}

// Adds |kernel| to |names|, one of the tables of |registry|, by |entry|, or by a new one if that is
// NULL; |what| it is, for errors.
static tfrt_status_t tfrt_kernel_registry_add(tfrt_kernel_registry_t* registry,
                                              tfrt_hash_table_t* names, const char* what,
                                              tfrt_kernel_t kernel, tfrt_kernel_entry_t* entry) {
  tfrt_string_view_t name = tfrt_string_view_of(kernel.descriptor->name);
  uint64_t hash = tfrt_kernel_registry_hash(&name);
  if (tfrt_hash_table_find_hashed(names, hash, &name)) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "%s '%s' is registered twice", what,
                              kernel.descriptor->name);
  }
  if (!entry) entry = tfrt_arena_allocate(&registry->arena, sizeof(*entry));
  if (!entry) return tfrt_kernel_registry_out_of_memory();
  entry->kernel = kernel;
  tfrt_hash_table_insert_hashed(names, hash, &entry->node);
  return NULL;
}

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

// Adds to |names| what |table| and |registrations| agree on.
static tfrt_status_t tfrt_kernel_registry_add_table(tfrt_kernel_registry_t* registry,
                                                    tfrt_hash_table_t* names, const char* what,
                                                    const tfrt_kernel_table_t* table,
                                                    const tfrt_kernel_registration_t* registrations,
                                                    size_t count) {
  const size_t wanted = tfrt_kernel_registry_wanted(table);
  // Where as many are listed as are wanted, all have entries if all entries are found below.
  // Otherwise one has none, or is listed twice; looking for that is quadratic.
  if (wanted != count) {
    TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_check_entries(what, table, registrations, count));
    TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_check_names(what, registrations, count));
  }
  tfrt_hash_table_reserve(names, tfrt_hash_table_count(names) + wanted);
  tfrt_kernel_entry_t* entries =
      tfrt_arena_allocate_room(&registry->arena, wanted, sizeof(*entries));
  if (!entries) return tfrt_kernel_registry_out_of_memory();
  size_t place = 0;
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* descriptor = &table->descriptors[i];
    if (!tfrt_kernel_registry_wants_kernel(descriptor)) continue;
    place = tfrt_kernel_registration_find(registrations, count, descriptor->name, place);
    if (place == count) {
      return tfrt_kernel_registry_lacks(what, table, registrations, count, descriptor->name);
    }
    tfrt_kernel_t kernel = {.function = registrations[place++].function, .descriptor = descriptor};
    TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_add(registry, names, what, kernel, entries++));
  }
  return NULL;
}

tfrt_status_t tfrt_kernel_registry_add_all(tfrt_kernel_registry_t* registry,
                                           const tfrt_kernel_table_t* table,
                                           const tfrt_kernel_registration_t* registrations,
                                           size_t count) {
  TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_add_table(registry, &registry->by_name, "kernel", table,
                                                      registrations, count));
  return tfrt_kernel_registry_keep_table(registry, table);
}

tfrt_status_t tfrt_kernel_registry_add_natives(tfrt_kernel_registry_t* registry,
                                               const tfrt_kernel_table_t* table,
                                               const tfrt_kernel_registration_t* registrations,
                                               size_t count) {
  return tfrt_kernel_registry_add_table(registry, &registry->natives, "native function", table,
                                        registrations, count);
}

// Adds one synchronous form, of a kernel with the entry |descriptor|.
static tfrt_status_t tfrt_kernel_registry_add_one_sync(tfrt_kernel_registry_t* registry,
                                                       const tfrt_kernel_descriptor_t* descriptor,
                                                       tfrt_sync_kernel_fn_t function) {
  tfrt_string_view_t name = tfrt_string_view_of(descriptor->name);
  tfrt_hash_node_t* node = tfrt_hash_table_find(&registry->by_name, &name);
  if (!node) {
    tfrt_kernel_t kernel = {.sync_function = function, .descriptor = descriptor};
    return tfrt_kernel_registry_add(registry, &registry->by_name, "kernel", kernel, NULL);
  }
  tfrt_kernel_t* kernel = &TFRT_CONTAINER_OF(node, tfrt_kernel_entry_t, node)->kernel;
  if (kernel->sync_function) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                              "the synchronous form of '%s' is registered twice", descriptor->name);
  }
  kernel->sync_function = function;
  return NULL;
}

// The error for an op that |table| marks and |registry| has no synchronous form of.
static tfrt_status_t tfrt_kernel_registry_lacks_sync(const tfrt_kernel_registry_t* registry,
                                                     const tfrt_kernel_table_t* table) {
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* descriptor = &table->descriptors[i];
    if (!(descriptor->flags & TFRT_KERNEL_SYNC_MARKS)) continue;
    const tfrt_kernel_t* kernel =
        tfrt_kernel_registry_find(registry, tfrt_string_view_of(descriptor->name));
    if (kernel && kernel->sync_function) continue;
    return tfrt_status_create(TFRT_STATUS_INTERNAL,
                              "the op table marks '%s' as an op of synchronous functions, but no "
                              "synchronous form of it is registered",
                              descriptor->name);
  }
  return NULL;
}

tfrt_status_t tfrt_kernel_registry_add_sync(tfrt_kernel_registry_t* registry,
                                            const tfrt_kernel_table_t* table,
                                            const tfrt_sync_kernel_registration_t* registrations,
                                            size_t count) {
  size_t marked = 0;
  for (size_t i = 0; i < table->count; ++i) {
    marked += (table->descriptors[i].flags & TFRT_KERNEL_SYNC_MARKS) != 0;
  }
  size_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    place = tfrt_kernel_registry_find_entry(table, registrations[i].name, place);
    const tfrt_kernel_descriptor_t* descriptor =
        place < table->count ? &table->descriptors[place++] : NULL;
    if (!descriptor || !(descriptor->flags & TFRT_KERNEL_SYNC_MARKS)) {
      return tfrt_status_create(TFRT_STATUS_INTERNAL,
                                "the op table doesn't mark '%s' as an op of synchronous functions",
                                registrations[i].name);
    }
    TFRT_RETURN_IF_ERROR(
        tfrt_kernel_registry_add_one_sync(registry, descriptor, registrations[i].function));
  }
  return marked == count ? NULL : tfrt_kernel_registry_lacks_sync(registry, table);
}

void tfrt_kernel_registry_set_type_checks(tfrt_kernel_registry_t* registry, bool enabled) {
  registry->type_checks = enabled;
}

bool tfrt_kernel_registry_type_checks(const tfrt_kernel_registry_t* registry) {
  return registry->type_checks;
}

const tfrt_kernel_t* tfrt_kernel_registry_find_native(const tfrt_kernel_registry_t* registry,
                                                      tfrt_string_view_t name) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&registry->natives, &name);
  return node ? &TFRT_CONTAINER_OF(node, tfrt_kernel_entry_t, node)->kernel : NULL;
}

const tfrt_kernel_t* tfrt_kernel_registry_find(const tfrt_kernel_registry_t* registry,
                                               tfrt_string_view_t name) {
  tfrt_hash_node_t* node = tfrt_hash_table_find(&registry->by_name, &name);
  return node ? &TFRT_CONTAINER_OF(node, tfrt_kernel_entry_t, node)->kernel : NULL;
}
