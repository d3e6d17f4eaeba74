// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/kernel_registry.h"

#include <string.h>

#include "host_runtime/executor/kernel/kernel_names.h"

// Ops that have a synchronous form.
#define TFRT_KERNEL_SYNC_MARKS (TFRT_KERNEL_SYNC_TOO | TFRT_KERNEL_SYNC_ONLY)

struct tfrt_kernel_registry_s {
  tfrt_allocator_t allocator;
  tfrt_arena_t rooms;  // and their functions
  tfrt_kernel_names_t kernels;
  tfrt_kernel_names_t natives;
  tfrt_kernel_table_t* tables;  // those of the kernels
  size_t table_count;
  size_t table_capacity;
  bool trusts_names;
  bool type_checks;
  bool race_checks;
};

// --- Life --------------------------------------------------------------------

tfrt_status_t tfrt_kernel_registry_allocate(tfrt_allocator_t allocator,
                                            tfrt_kernel_registry_t** out_registry) {
  *out_registry = NULL;
  tfrt_kernel_registry_t* registry = tfrt_allocator_allocate_zeroed(allocator, sizeof(*registry));
  if (!registry) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory for a kernel registry");
  }
  registry->allocator = allocator;
  tfrt_arena_initialize(&registry->rooms, allocator);
  tfrt_kernel_names_initialize(&registry->kernels, "kernel", allocator);
  tfrt_kernel_names_initialize(&registry->natives, "native function", allocator);
  *out_registry = registry;
  return NULL;
}

void tfrt_kernel_registry_free(tfrt_kernel_registry_t* registry) {
  if (!registry) return;
  tfrt_kernel_names_deinitialize(&registry->kernels);
  tfrt_kernel_names_deinitialize(&registry->natives);
  tfrt_arena_deinitialize(&registry->rooms);
  tfrt_allocator_free(registry->allocator, registry->tables,
                      registry->table_capacity * sizeof(*registry->tables));
  tfrt_allocator_free(registry->allocator, registry, sizeof(*registry));
}

bool tfrt_kernel_registry_find(const tfrt_kernel_registry_t* registry, tfrt_string_view_t name,
                               tfrt_kernel_t* out_kernel) {
  *out_kernel = (tfrt_kernel_t){0};
  return tfrt_kernel_names_find(&registry->kernels, name, out_kernel);
}

bool tfrt_kernel_registry_find_native(const tfrt_kernel_registry_t* registry,
                                      tfrt_string_view_t name, tfrt_kernel_t* out_kernel) {
  *out_kernel = (tfrt_kernel_t){0};
  return tfrt_kernel_names_find(&registry->natives, name, out_kernel);
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

void tfrt_kernel_registry_set_race_checks(tfrt_kernel_registry_t* registry, bool enabled) {
  registry->race_checks = enabled;
}

bool tfrt_kernel_registry_race_checks(const tfrt_kernel_registry_t* registry) {
  return registry->race_checks;
}

void tfrt_kernel_registry_set_trust(tfrt_kernel_registry_t* registry, bool enabled) {
  registry->trusts_names = enabled;
}

// --- Adding ------------------------------------------------------------------

// The names of a list: that of entry i is |stride| bytes times i behind |first|.
typedef struct tfrt_name_column_s {
  const char* const* first;
  size_t stride;
  size_t count;
} tfrt_name_column_t;

static const char* name_column_get(const tfrt_name_column_t* names, size_t place) {
  return *(const char* const*)((const char*)names->first + place * names->stride);
}

// The place of |name| among |names|, or their number. The search begins at |hint| and goes round:
// code and table mostly list the same things in the same order, so that it ends where it begins.
// Equal names are mostly one string, too, since the linker keeps one of each: texts farther away
// than the first ones are compared only where none of the addresses is that of |name|.
static size_t name_column_find(tfrt_name_column_t names, const char* name, size_t hint) {
  enum { NEAR = 4 };
  size_t count = names.count;
  for (size_t place = hint; place < count && place < hint + NEAR; ++place) {
    if (strcmp(name_column_get(&names, place), name) == 0) return place;
  }
  for (size_t i = 0; i < count; ++i) {
    size_t place = hint + i < count ? hint + i : hint + i - count;
    if (name_column_get(&names, place) == name) return place;
  }
  for (size_t i = 0; i < count; ++i) {
    size_t place = hint + i < count ? hint + i : hint + i - count;
    if (strcmp(name_column_get(&names, place), name) == 0) return place;
  }
  return count;
}

static size_t kernel_registration_find(const tfrt_kernel_registration_t* registrations,
                                       size_t count, const char* name, size_t hint) {
  tfrt_name_column_t names = {&registrations->name, sizeof(*registrations), count};
  return name_column_find(names, name, hint);
}

// The same for the entries of |table|; its count if there is none.
static size_t kernel_registry_find_entry(const tfrt_kernel_table_t* table, const char* name,
                                         size_t hint) {
  tfrt_name_column_t names = {&table->descriptors->name, sizeof(*table->descriptors), table->count};
  return name_column_find(names, name, hint);
}

// Whether the op of |descriptor| has a kernel for asynchronous functions.
static bool kernel_registry_wants_kernel(const tfrt_kernel_descriptor_t* descriptor) {
  return !(descriptor->flags & (TFRT_KERNEL_TERMINATOR | TFRT_KERNEL_SYNC_ONLY));
}

// How many entries of |table| do.
static size_t kernel_registry_wanted(const tfrt_kernel_table_t* table) {
  size_t wanted = 0;
  for (size_t i = 0; i < table->count; ++i) {
    wanted += kernel_registry_wants_kernel(&table->descriptors[i]);
  }
  return wanted;
}

// Checks that each of |registrations| has an entry in |table|.
static tfrt_status_t kernel_registry_check_entries(const char* what,
                                                   const tfrt_kernel_table_t* table,
                                                   const tfrt_kernel_registration_t* registrations,
                                                   size_t count) {
  size_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    place = kernel_registry_find_entry(table, registrations[i].name, place);
    if (place++ < table->count) continue;
    return tfrt_status_create(TFRT_STATUS_INTERNAL, "%s '%s' has no entry in the op table", what,
                              registrations[i].name);
  }
  return NULL;
}

// Checks that no two of |registrations| have one name.
static tfrt_status_t kernel_registry_check_names(const char* what,
                                                 const tfrt_kernel_registration_t* registrations,
                                                 size_t count) {
  for (size_t i = 1; i < count; ++i) {
    if (kernel_registration_find(registrations, i, registrations[i].name, 0) == i) continue;
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "%s '%s' is registered twice", what,
                              registrations[i].name);
  }
  return NULL;
}

// The error if no |what| is listed for the entry |missing| of |table|: it is missing, or listed by
// another name.
static tfrt_status_t kernel_registry_lacks(const char* what, const tfrt_kernel_table_t* table,
                                           const tfrt_kernel_registration_t* registrations,
                                           size_t count, const char* missing) {
  TFRT_RETURN_IF_ERROR(kernel_registry_check_entries(what, table, registrations, count));
  return tfrt_status_create(TFRT_STATUS_INTERNAL, "op table entry '%s' has no %s", missing, what);
}

// Sets |functions|, by entry of |table|, to what |registrations| say; the two must agree.
static tfrt_status_t kernel_registry_match(const char* what, const tfrt_kernel_table_t* table,
                                           const tfrt_kernel_registration_t* registrations,
                                           size_t count, tfrt_kernel_fn_t* functions) {
  // Where as many are listed as are wanted, all have entries if all entries are found below.
  // Otherwise one has none, or is listed twice; looking for that is quadratic.
  if (kernel_registry_wanted(table) != count) {
    TFRT_RETURN_IF_ERROR(kernel_registry_check_entries(what, table, registrations, count));
    TFRT_RETURN_IF_ERROR(kernel_registry_check_names(what, registrations, count));
  }
  size_t place = 0;
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* descriptor = &table->descriptors[i];
    if (!kernel_registry_wants_kernel(descriptor)) continue;
    place = kernel_registration_find(registrations, count, descriptor->name, place);
    if (place == count) {
      return kernel_registry_lacks(what, table, registrations, count, descriptor->name);
    }
    functions[i] = registrations[place++].function;
  }
  return NULL;
}

// A room of |table| without functions, as long as the registry; NULL when memory is out.
static tfrt_kernel_room_t* kernel_registry_make_room(tfrt_kernel_registry_t* registry,
                                                     const tfrt_kernel_table_t* table) {
  tfrt_kernel_room_t* room = tfrt_arena_allocate_array(&registry->rooms, 1, sizeof(*room));
  if (room) room->table = *table;
  return room;
}

static tfrt_status_t kernel_registry_out_of_memory(void) {
  return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no memory to register kernels");
}

// Adds to |names| what |table| and |registrations| agree on.
static tfrt_status_t kernel_registry_add_table(tfrt_kernel_registry_t* registry,
                                               tfrt_kernel_names_t* names,
                                               const tfrt_kernel_table_t* table,
                                               const tfrt_kernel_registration_t* registrations,
                                               size_t count) {
  tfrt_kernel_room_t* room = kernel_registry_make_room(registry, table);
  if (!room) return kernel_registry_out_of_memory();
  room->functions =
      tfrt_arena_allocate_array(&registry->rooms, table->count, sizeof(*room->functions));
  if (!room->functions) return kernel_registry_out_of_memory();
  TFRT_RETURN_IF_ERROR(
      kernel_registry_match(names->what, table, registrations, count, room->functions));
  return tfrt_kernel_names_add(names, room, !registry->trusts_names);
}

// Makes room for one more in |registry->tables|.
static tfrt_status_t kernel_registry_grow_tables(tfrt_kernel_registry_t* registry) {
  if (registry->table_count < registry->table_capacity) return NULL;
  const size_t size = sizeof(*registry->tables);
  size_t capacity = registry->table_capacity ? 2 * registry->table_capacity : 16;
  tfrt_kernel_table_t* tables = tfrt_allocator_reallocate(
      registry->allocator, registry->tables, registry->table_capacity * size, capacity * size);
  if (!tables) return kernel_registry_out_of_memory();
  registry->tables = tables;
  registry->table_capacity = capacity;
  return NULL;
}

tfrt_status_t tfrt_kernel_registry_add_all(tfrt_kernel_registry_t* registry,
                                           const tfrt_kernel_table_t* table,
                                           const tfrt_kernel_registration_t* registrations,
                                           size_t count) {
  TFRT_RETURN_IF_ERROR(kernel_registry_grow_tables(registry));
  TFRT_RETURN_IF_ERROR(
      kernel_registry_add_table(registry, &registry->kernels, table, registrations, count));
  registry->tables[registry->table_count++] = *table;
  return NULL;
}

tfrt_status_t tfrt_kernel_registry_add_natives(tfrt_kernel_registry_t* registry,
                                               const tfrt_kernel_table_t* table,
                                               const tfrt_kernel_registration_t* registrations,
                                               size_t count) {
  return kernel_registry_add_table(registry, &registry->natives, table, registrations, count);
}

static bool kernel_registry_wants_sync(const tfrt_kernel_descriptor_t* descriptor) {
  return (descriptor->flags & TFRT_KERNEL_SYNC_MARKS) != 0;
}

static tfrt_status_t kernel_registry_sync_twice(const char* name) {
  return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                            "the synchronous form of '%s' is registered twice", name);
}

// Sets |functions|, by entry of |table|, to what |registrations| say; they must be those that the
// table marks.
static tfrt_status_t kernel_registry_match_sync(
    const tfrt_kernel_table_t* table, const tfrt_sync_kernel_registration_t* registrations,
    size_t count, tfrt_sync_kernel_fn_t* functions) {
  size_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    const char* name = registrations[i].name;
    place = kernel_registry_find_entry(table, name, place);
    if (place == table->count || !kernel_registry_wants_sync(&table->descriptors[place])) {
      return tfrt_status_create(TFRT_STATUS_INTERNAL,
                                "the op table doesn't mark '%s' as an op of synchronous functions",
                                name);
    }
    if (functions[place]) return kernel_registry_sync_twice(name);
    functions[place++] = registrations[i].function;
  }
  for (size_t i = 0; i < table->count; ++i) {
    if (functions[i] || !kernel_registry_wants_sync(&table->descriptors[i])) continue;
    return tfrt_status_create(TFRT_STATUS_INTERNAL,
                              "the op table marks '%s' as an op of synchronous functions, but no "
                              "synchronous form of it is registered",
                              table->descriptors[i].name);
  }
  return NULL;
}

tfrt_status_t tfrt_kernel_registry_add_sync(tfrt_kernel_registry_t* registry,
                                            const tfrt_kernel_table_t* table,
                                            const tfrt_sync_kernel_registration_t* registrations,
                                            size_t count) {
  tfrt_sync_kernel_fn_t* functions =
      tfrt_arena_allocate_array(&registry->rooms, table->count, sizeof(*functions));
  if (!functions) return kernel_registry_out_of_memory();
  TFRT_RETURN_IF_ERROR(kernel_registry_match_sync(table, registrations, count, functions));
  tfrt_kernel_room_t* room = tfrt_kernel_names_room_of(&registry->kernels, table);
  if (!room) {
    room = kernel_registry_make_room(registry, table);
    if (!room) return kernel_registry_out_of_memory();
    room->sync_functions = functions;
    return tfrt_kernel_names_add(&registry->kernels, room, !registry->trusts_names);
  }
  if (room->sync_functions && count > 0) {
    return kernel_registry_sync_twice(registrations[0].name);
  }
  room->sync_functions = functions;
  return NULL;
}

tfrt_status_t tfrt_kernel_registry_add_withdrawals(
    tfrt_kernel_registry_t* registry, const tfrt_kernel_table_t* table,
    const tfrt_withdrawal_registration_t* registrations, size_t count) {
  tfrt_kernel_room_t* room = tfrt_kernel_names_room_of(&registry->kernels, table);
  tfrt_kernel_withdraw_fn_t* functions =
      tfrt_arena_allocate_array(&registry->rooms, table->count, sizeof(*functions));
  if (!functions) return kernel_registry_out_of_memory();
  size_t place = 0;
  for (size_t i = 0; i < count; ++i) {
    const char* name = registrations[i].name;
    place = kernel_registry_find_entry(table, name, place);
    if (place == table->count || !room || !room->functions || !room->functions[place]) {
      return tfrt_status_create(TFRT_STATUS_INTERNAL,
                                "'%s' does something for cancelled calls, but is no kernel", name);
    }
    functions[place++] = registrations[i].function;
  }
  room->withdrawals = functions;
  return NULL;
}
