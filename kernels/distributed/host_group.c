// SPDX-License-Identifier: Apache-2.0
#include "kernels/distributed/host_group.h"

#include <stdatomic.h>
#include <string.h>

#include "host_runtime/base/plural.h"
#include "kernels/distributed/group_withdrawal.h"

// Atomic, as two threads may register at the same time; both write the same.
static _Atomic tfrt_type_id_t group_id;

static size_t body_size_of(uint32_t count, uint32_t name_size) {
  return count * sizeof(uint32_t) + name_size;
}

static size_t body_size(const tfrt_host_group_t* group) {
  return body_size_of(group->count, group->name_size);
}

// --- Checks ----------------------------------------------------------------------

// Reports a rank that occurs twice. Linear in the ranks: |seen| has a byte for each host.
static tfrt_status_t check_distinct(const uint32_t* ranks, uint32_t count, uint8_t* seen) {
  for (uint32_t i = 0; i < count; ++i) {
    if (seen[ranks[i]]) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "host %u is in the group twice; each host is a member once",
                                ranks[i]);
    }
    seen[ranks[i]] = 1;
  }
  return NULL;
}

tfrt_status_t tfrt_host_group_check(const uint32_t* ranks, uint32_t count, tfrt_string_view_t name,
                                    uint32_t host_count, tfrt_allocator_t allocator) {
  if (count == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a group needs a host; tfrt_dist.world has all of them");
  }
  if (name.size > TFRT_HOST_GROUP_MAX_NAME_SIZE) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the name of a group has %zu bytes; it may have %d", name.size,
                              TFRT_HOST_GROUP_MAX_NAME_SIZE);
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (ranks[i] < host_count) continue;
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the group names host %d, the job has %u host%s", (int32_t)ranks[i],
                              host_count, tfrt_plural(host_count));
  }
  uint8_t* seen = tfrt_allocator_allocate_zeroed(allocator, host_count);
  if (!seen) return tfrt_status_out_of_memory();
  tfrt_status_t status = check_distinct(ranks, count, seen);
  tfrt_allocator_free(allocator, seen, host_count);
  return status;
}

// --- Bytes -----------------------------------------------------------------------

static tfrt_status_t encode_group(const void* payload, tfrt_encoding_t* out_encoding) {
  const tfrt_host_group_t* group = payload;
  memcpy(out_encoding->header, &group->count, sizeof(uint32_t));
  memcpy(out_encoding->header + sizeof(uint32_t), &group->name_size, sizeof(uint32_t));
  out_encoding->header_size = 2 * sizeof(uint32_t);
  out_encoding->body = group->ranks;
  out_encoding->body_size = body_size(group);
  return NULL;
}

static tfrt_status_t decode_group(const uint8_t* header, size_t header_size, size_t size,
                                  tfrt_allocator_t allocator, void* payload, void** out_body) {
  *out_body = NULL;
  uint32_t numbers[2] = {0, 0};
  if (header_size == sizeof(numbers)) memcpy(numbers, header, sizeof(numbers));
  bool is_good = numbers[0] > 0 && numbers[0] <= size / sizeof(uint32_t) &&
                 numbers[1] <= TFRT_HOST_GROUP_MAX_NAME_SIZE &&
                 size == body_size_of(numbers[0], numbers[1]);
  if (!is_good) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "%zu bytes came for a group of %u hosts with a name of %u bytes",
                              size, numbers[0], numbers[1]);
  }
  uint32_t* ranks = tfrt_allocator_allocate(allocator, size);
  if (!ranks) return tfrt_status_out_of_memory();
  *(tfrt_host_group_t*)payload = (tfrt_host_group_t){
      .count = numbers[0], .name_size = numbers[1], .ranks = ranks, .allocator = allocator};
  *out_body = ranks;
  return NULL;
}

// The number of hosts is not known here; users of the group check it.
static tfrt_status_t complete_group(void* payload) {
  const tfrt_host_group_t* group = payload;
  uint32_t highest = 0;
  for (uint32_t i = 0; i < group->count; ++i) {
    if (group->ranks[i] > highest) highest = group->ranks[i];
  }
  if (highest >= INT32_MAX || group->count > highest + 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "a group of %u hosts came with %u as its highest rank", group->count,
                              highest);
  }
  return NULL;
}

static const tfrt_codec_t group_codec = {encode_group, decode_group, complete_group};

// --- The type --------------------------------------------------------------------

static void destroy_group(void* payload) {
  tfrt_host_group_t* group = payload;
  tfrt_allocator_free(group->allocator, group->ranks, body_size(group));
}

static void print_group(const void* payload, tfrt_string_builder_t* out) {
  const tfrt_host_group_t* group = payload;
  tfrt_string_builder_append_text(out, "group of hosts ");
  tfrt_host_group_append(group, out);
  if (group->name_size == 0) return;
  tfrt_string_builder_append_text(out, " named ");
  tfrt_string_builder_append_view(out, tfrt_host_group_name(group));
}

tfrt_status_t tfrt_host_group_register(void) {
  static const tfrt_type_t type = {.name = "!tfrt_dist.group",
                                   .size = sizeof(tfrt_host_group_t),
                                   .destroy = destroy_group,
                                   .codec = &group_codec,
                                   .withdraw = tfrt_group_withdraw,
                                   .print = print_group};
  tfrt_type_id_t id = TFRT_TYPE_NONE;
  TFRT_RETURN_IF_ERROR(tfrt_type_register(&type, &id));
  atomic_store_explicit(&group_id, id, memory_order_relaxed);
  return NULL;
}

tfrt_type_id_t tfrt_host_group_type_id(void) {
  return atomic_load_explicit(&group_id, memory_order_relaxed);
}

// --- Values ----------------------------------------------------------------------

tfrt_async_value_t* tfrt_async_value_create_group(const uint32_t* ranks, uint32_t count,
                                                  tfrt_string_view_t name,
                                                  tfrt_allocator_t allocator) {
  size_t size = body_size_of(count, (uint32_t)name.size);
  uint32_t* body = tfrt_allocator_allocate(allocator, size);
  tfrt_async_value_t* value =
      body ? tfrt_async_value_create_available(tfrt_host_group_type_id()) : NULL;
  if (!value) {
    tfrt_allocator_free(allocator, body, size);
    return tfrt_async_value_out_of_memory();
  }
  memcpy(body, ranks, count * sizeof(uint32_t));
  if (name.size > 0) memcpy(body + count, name.data, name.size);
  *(tfrt_host_group_t*)tfrt_async_value_payload(value) = (tfrt_host_group_t){
      .count = count, .name_size = (uint32_t)name.size, .ranks = body, .allocator = allocator};
  return value;
}

tfrt_string_view_t tfrt_host_group_name(const tfrt_host_group_t* group) {
  return tfrt_string_view_make((const char*)(group->ranks + group->count), group->name_size);
}

uint32_t tfrt_host_group_position(const tfrt_host_group_t* group, uint32_t rank) {
  for (uint32_t i = 0; i < group->count; ++i) {
    if (group->ranks[i] == rank) return i;
  }
  return TFRT_HOST_GROUP_NOBODY;
}

void tfrt_host_group_append(const tfrt_host_group_t* group, tfrt_string_builder_t* out) {
  for (uint32_t i = 0; i < group->count;) {
    uint32_t end = i + 1;
    while (end < group->count && group->ranks[end] == group->ranks[end - 1] + 1) ++end;
    tfrt_string_builder_append_format(out, "%s%u", i > 0 ? "," : "", group->ranks[i]);
    if (end - i > 1) tfrt_string_builder_append_format(out, "-%u", group->ranks[end - 1]);
    i = end;
  }
}
