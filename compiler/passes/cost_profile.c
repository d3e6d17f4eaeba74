// SPDX-License-Identifier: Apache-2.0

#include "compiler/passes/cost_profile.h"

#include <stdlib.h>
#include <string.h>

void tfrt_cost_profile_initialize(tfrt_cost_profile_t* profile, tfrt_allocator_t allocator) {
  *profile = (tfrt_cost_profile_t){.is_ordered = true};
  tfrt_arena_initialize(&profile->arena, allocator);
}

void tfrt_cost_profile_deinitialize(tfrt_cost_profile_t* profile) {
  tfrt_allocator_free(profile->arena.allocator, profile->ops,
                      profile->op_capacity * sizeof(*profile->ops));
  tfrt_arena_deinitialize(&profile->arena);
}

// --- Filling --------------------------------------------------------------------------

static bool grow(tfrt_cost_profile_t* profile) {
  size_t capacity = profile->op_capacity == 0 ? 64 : 2 * profile->op_capacity;
  tfrt_cost_profile_op_t* ops =
      tfrt_allocator_allocate(profile->arena.allocator, capacity * sizeof(*ops));
  if (!ops) return false;
  if (profile->op_count > 0) memcpy(ops, profile->ops, profile->op_count * sizeof(*ops));
  tfrt_allocator_free(profile->arena.allocator, profile->ops,
                      profile->op_capacity * sizeof(*profile->ops));
  profile->ops = ops;
  profile->op_capacity = capacity;
  return true;
}

// |file| without its folders.
static tfrt_string_view_t bare_name(tfrt_string_view_t file) {
  size_t begin = file.size;
  while (begin > 0 && file.data[begin - 1] != '/') --begin;
  return tfrt_string_view_make(file.data + begin, file.size - begin);
}

// A copy of |text| that lives as long as |profile|. Most ops have the texts of the one before.
static bool copy_text(tfrt_cost_profile_t* profile, tfrt_string_view_t text,
                      const tfrt_string_view_t* previous, tfrt_string_view_t* out_copy) {
  if (previous && tfrt_string_view_equal(*previous, text)) {
    *out_copy = *previous;
    return true;
  }
  char* copy = tfrt_arena_allocate(&profile->arena, text.size + 1);
  if (!copy) return false;
  if (text.size > 0) memcpy(copy, text.data, text.size);
  *out_copy = tfrt_string_view_make(copy, text.size);
  return true;
}

tfrt_status_t tfrt_cost_profile_add(tfrt_cost_profile_t* profile,
                                    const tfrt_cost_profile_op_t* op) {
  bool has_room = profile->op_count < profile->op_capacity || grow(profile);
  if (!has_room) return tfrt_status_out_of_memory();
  const tfrt_cost_profile_op_t* previous =
      profile->op_count > 0 ? &profile->ops[profile->op_count - 1] : NULL;
  tfrt_cost_profile_op_t copy = *op;
  if (!copy_text(profile, op->kernel, previous ? &previous->kernel : NULL, &copy.kernel) ||
      !copy_text(profile, bare_name(op->file), previous ? &previous->file : NULL, &copy.file)) {
    return tfrt_status_out_of_memory();
  }
  profile->ops[profile->op_count++] = copy;
  profile->is_ordered = false;
  return NULL;
}

// --- Looking up -------------------------------------------------------------------------

static int compare_texts(tfrt_string_view_t a, tfrt_string_view_t b) {
  size_t size = a.size < b.size ? a.size : b.size;
  int order = size > 0 ? memcmp(a.data, b.data, size) : 0;
  if (order != 0) return order;
  return a.size < b.size ? -1 : a.size > b.size;
}

static int compare_numbers(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

static int compare_ops(const void* left, const void* right) {
  const tfrt_cost_profile_op_t* a = left;
  const tfrt_cost_profile_op_t* b = right;
  int order = compare_texts(a->kernel, b->kernel);
  if (order == 0) order = compare_texts(a->file, b->file);
  if (order == 0) order = compare_numbers(a->line, b->line);
  return order != 0 ? order : compare_numbers(a->column, b->column);
}

static void order_ops(tfrt_cost_profile_t* profile) {
  if (profile->is_ordered) return;
  qsort(profile->ops, profile->op_count, sizeof(*profile->ops), compare_ops);
  profile->is_ordered = true;
}

// All ops of one name, one after the other.
typedef struct kernel_ops_s {
  tfrt_string_view_t kernel;
  const tfrt_cost_profile_op_t* first;
  size_t count;
  uint64_t median_ns;
} kernel_ops_t;

typedef struct application_s {
  tfrt_ir_context_t* context;
  const tfrt_ir_string_t* name;  // of the attribute
  const tfrt_ir_type_t* type;
  kernel_ops_t* kernels;  // ordered
  size_t kernel_count;
} application_t;

static int compare_times(const void* left, const void* right) {
  return compare_numbers(*(const uint64_t*)left, *(const uint64_t*)right);
}

// Groups the ops of |profile|; |times| has room for a number for each.
static void group_ops(const tfrt_cost_profile_t* profile, uint64_t* times,
                      application_t* application) {
  for (size_t first = 0, end = 0; first < profile->op_count; first = end) {
    const tfrt_cost_profile_op_t* op = &profile->ops[first];
    for (end = first;
         end < profile->op_count && tfrt_string_view_equal(profile->ops[end].kernel, op->kernel);
         ++end) {
      times[end - first] = profile->ops[end].median_ns;
    }
    size_t count = end - first;
    qsort(times, count, sizeof(*times), compare_times);
    application->kernels[application->kernel_count++] = (kernel_ops_t){
        .kernel = op->kernel, .first = op, .count = count, .median_ns = times[count / 2]};
  }
}

static int compare_kernels(const void* left, const void* right) {
  return compare_texts(((const kernel_ops_t*)left)->kernel, ((const kernel_ops_t*)right)->kernel);
}

// Sets |*out_ns| to the time that |op| took; false if nobody knows.
static bool find_time(const application_t* application, const tfrt_ir_operation_t* op,
                      uint64_t* out_ns) {
  kernel_ops_t key = {.kernel = tfrt_ir_string_view(op->name)};
  const kernel_ops_t* kernel = bsearch(&key, application->kernels, application->kernel_count,
                                       sizeof(*application->kernels), compare_kernels);
  if (!kernel) return false;
  const tfrt_ir_location_t* place =
      op->location ? tfrt_ir_location_nearest_file(op->location) : NULL;
  tfrt_cost_profile_op_t wanted = {.kernel = key.kernel};
  if (place) {
    wanted.file = bare_name(tfrt_ir_string_view(place->name));
    wanted.line = place->line;
    wanted.column = place->column;
  }
  const tfrt_cost_profile_op_t* found =
      bsearch(&wanted, kernel->first, kernel->count, sizeof(*kernel->first), compare_ops);
  *out_ns = found ? found->median_ns : kernel->median_ns;
  return true;
}

// --- Giving costs -------------------------------------------------------------------------

static bool give_cost(tfrt_ir_operation_t* op, void* user_data) {
  const application_t* application = user_data;
  uint64_t time_ns = 0;
  if (tfrt_ir_operation_attribute(op, "_tfrt_cost") || !find_time(application, op, &time_ns)) {
    return true;
  }
  uint64_t cost = time_ns / TFRT_COST_PROFILE_UNIT_NS;
  if (cost < 1) cost = 1;
  if (cost > UINT32_MAX) cost = UINT32_MAX;
  const tfrt_ir_attribute_t* value =
      tfrt_ir_attribute_integer(application->context, application->type, (int64_t)cost);
  return value &&
         tfrt_ir_operation_set_attribute(application->context, op, application->name, value);
}

bool tfrt_cost_profile_apply(tfrt_cost_profile_t* profile, tfrt_ir_context_t* context,
                             tfrt_ir_operation_t* module) {
  if (profile->op_count == 0) return true;
  order_ops(profile);
  application_t application = {.context = context,
                               .name = tfrt_ir_string_of(context, "_tfrt_cost"),
                               .type = tfrt_ir_type_integer(context, 64, TFRT_IR_SIGNLESS)};
  tfrt_arena_t scratch;
  tfrt_arena_initialize(&scratch, profile->arena.allocator);
  application.kernels =
      tfrt_arena_allocate_array(&scratch, profile->op_count, sizeof(*application.kernels));
  uint64_t* times = tfrt_arena_allocate_array(&scratch, profile->op_count, sizeof(*times));
  bool ok = application.name && application.type && application.kernels && times;
  if (ok) {
    group_ops(profile, times, &application);
    ok = tfrt_ir_operation_walk(module, give_cost, &application);
  }
  tfrt_arena_deinitialize(&scratch);
  return ok;
}
