// SPDX-License-Identifier: Apache-2.0
#include "devices/device_manager.h"

#include "host_runtime/base/ascii.h"
#include "host_runtime/base/clock.h"
#include "host_runtime/base/log.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/base/sync.h"

#define TFRT_DEVICE_MANAGER_PATIENCE_NS (5 * TFRT_NANOSECONDS_PER_SECOND)

typedef struct tfrt_device_entry_s {
  const tfrt_device_kind_t* kind;
  tfrt_device_platform_t* platform;  // +1; NULL: not opened
  tfrt_status_t error;               // +1; NULL: not tried, or open
} tfrt_device_entry_t;

typedef struct tfrt_device_port_entry_s {
  struct tfrt_device_port_entry_s* next;
  tfrt_device_port_t* port;  // +1
} tfrt_device_port_entry_t;

struct tfrt_device_manager_s {
  tfrt_allocator_t allocator;
  tfrt_work_queue_t* work_queue;  // +1
  tfrt_mutex_t mutex;             // guards what is opened or made
  tfrt_device_port_entry_t* ports;
  tfrt_device_lending_t* lending;  // +1; NULL: nobody has asked for it
  size_t count;
  tfrt_device_entry_t entries[TFRT_DEVICE_KIND_MAX_COUNT];
};

tfrt_status_t tfrt_device_manager_allocate(tfrt_allocator_t allocator,
                                           tfrt_work_queue_t* work_queue,
                                           tfrt_device_manager_t** out_manager) {
  tfrt_device_manager_t* manager = tfrt_allocator_allocate_zeroed(allocator, sizeof(*manager));
  *out_manager = manager;
  if (!manager) return tfrt_status_out_of_memory();
  manager->allocator = allocator;
  manager->work_queue = tfrt_work_queue_retain(work_queue);
  tfrt_mutex_initialize(&manager->mutex);
  return NULL;
}

// Waits until nobody else has |platform|: then it ends here, and not in a task of the queue
// that it uses.
static void device_manager_drain_platform(tfrt_device_manager_t* manager,
                                          tfrt_device_platform_t* platform) {
  int64_t deadline_ns =
      tfrt_deadline_after(tfrt_clock_now_ns(tfrt_clock_system()), TFRT_DEVICE_MANAGER_PATIENCE_NS);
  while (!tfrt_ref_count_is_one(&platform->ref_count)) {
    tfrt_work_queue_quiesce(manager->work_queue);
    if (tfrt_clock_now_ns(tfrt_clock_system()) > deadline_ns) {
      tfrt_log(TFRT_LOG_WARNING, NULL, "work of %s devices doesn't end, or they are still in use",
               platform->name);
      return;
    }
    tfrt_thread_yield();
  }
}

static void device_manager_free_ports(tfrt_device_manager_t* manager) {
  tfrt_mutex_lock(&manager->mutex);
  tfrt_device_port_entry_t* entry = manager->ports;
  manager->ports = NULL;
  tfrt_mutex_unlock(&manager->mutex);
  while (entry) {
    tfrt_device_port_entry_t* next = entry->next;
    tfrt_device_port_release(entry->port);
    tfrt_allocator_free(manager->allocator, entry, sizeof(*entry));
    entry = next;
  }
}

static void device_manager_end_lending(tfrt_device_manager_t* manager) {
  tfrt_mutex_lock(&manager->mutex);
  tfrt_device_lending_t* lending = manager->lending;
  manager->lending = NULL;
  tfrt_mutex_unlock(&manager->mutex);
  if (lending) tfrt_device_lending_close(lending);
  tfrt_device_lending_release(lending);
}

void tfrt_device_manager_drain(tfrt_device_manager_t* manager) {
  device_manager_end_lending(manager);
  device_manager_free_ports(manager);
  for (size_t i = 0; i < manager->count; ++i) {
    tfrt_mutex_lock(&manager->mutex);
    tfrt_device_platform_t* platform = manager->entries[i].platform;
    tfrt_mutex_unlock(&manager->mutex);
    if (platform) device_manager_drain_platform(manager, platform);
  }
}

void tfrt_device_manager_free(tfrt_device_manager_t* manager) {
  if (!manager) return;
  tfrt_device_manager_drain(manager);
  for (size_t i = 0; i < manager->count; ++i) {
    tfrt_device_entry_t* entry = &manager->entries[i];
    tfrt_device_platform_release(entry->platform);
    tfrt_status_release(entry->error);
  }
  tfrt_mutex_deinitialize(&manager->mutex);
  tfrt_work_queue_release(manager->work_queue);
  tfrt_allocator_free(manager->allocator, manager, sizeof(*manager));
}

static tfrt_device_entry_t* device_manager_find(tfrt_device_manager_t* manager,
                                                tfrt_string_view_t name) {
  for (size_t i = 0; i < manager->count; ++i) {
    const char* other = manager->entries[i].kind->name;
    if (strlen(other) == name.size && tfrt_ascii_equal_ignoring_case(other, name.data, name.size)) {
      return &manager->entries[i];
    }
  }
  return NULL;
}

tfrt_status_t tfrt_device_manager_add(tfrt_device_manager_t* manager,
                                      const tfrt_device_kind_t* kind) {
  if (device_manager_find(manager, tfrt_string_view_of(kind->name))) {
    return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS, "devices of %s were added before",
                              kind->name);
  }
  if (manager->count == TFRT_DEVICE_KIND_MAX_COUNT) {
    return tfrt_status_create(TFRT_STATUS_RESOURCE_EXHAUSTED, "no room for devices of %s",
                              kind->name);
  }
  manager->entries[manager->count++] = (tfrt_device_entry_t){.kind = kind};
  return NULL;
}

tfrt_status_t tfrt_device_manager_add_all(tfrt_device_manager_t* manager) {
  for (size_t i = 0; i < tfrt_device_kind_count(); ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_device_manager_add(manager, tfrt_device_kind_get(i)));
  }
  return NULL;
}

static tfrt_status_t device_manager_refuse(const tfrt_device_manager_t* manager,
                                           tfrt_string_view_t name) {
  tfrt_string_builder_t known;
  tfrt_string_builder_initialize(&known, manager->allocator);
  for (size_t i = 0; i < manager->count; ++i) {
    tfrt_string_builder_append_format(&known, "%s%s", i ? ", " : "",
                                      manager->entries[i].kind->name);
  }
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_NOT_FOUND, "this host has no devices of '%.*s', only of: %s",
                         TFRT_STRING_VIEW_ARGUMENTS(name), tfrt_string_builder_text(&known));
  tfrt_string_builder_deinitialize(&known);
  return status;
}

tfrt_status_t tfrt_device_manager_platform(tfrt_device_manager_t* manager, tfrt_string_view_t name,
                                           tfrt_device_platform_t** out_platform) {
  *out_platform = NULL;
  tfrt_device_entry_t* entry = device_manager_find(manager, name);
  if (!entry) return device_manager_refuse(manager, name);
  tfrt_mutex_lock(&manager->mutex);
  if (!entry->platform && !entry->error) {
    entry->error = tfrt_device_kind_open(entry->kind, manager->allocator, manager->work_queue,
                                         &entry->platform);
  }
  *out_platform = entry->platform;
  tfrt_status_t status = tfrt_status_retain(entry->error);
  tfrt_mutex_unlock(&manager->mutex);
  return status;
}

tfrt_status_t tfrt_device_manager_lending(tfrt_device_manager_t* manager,
                                          tfrt_device_lending_t** out_lending) {
  tfrt_mutex_lock(&manager->mutex);
  tfrt_status_t status = NULL;
  if (!manager->lending) {
    status = tfrt_device_lending_create(manager->allocator, manager->work_queue, &manager->lending);
  }
  *out_lending = manager->lending ? tfrt_device_lending_retain(manager->lending) : NULL;
  tfrt_mutex_unlock(&manager->mutex);
  return status;
}

// --- Devices and ports -----------------------------------------------------------------

// Reads the number behind the colon; false if it is none, or one that no device has.
static bool device_manager_read_ordinal(tfrt_string_view_t text, int64_t* out_ordinal) {
  *out_ordinal = 0;
  if (text.size < 1 || text.size > 4) return false;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    *out_ordinal = 10 * *out_ordinal + (text.data[i] - '0');
  }
  return true;
}

tfrt_status_t tfrt_device_manager_device(tfrt_device_manager_t* manager, tfrt_string_view_t name,
                                         tfrt_device_t** out_device) {
  *out_device = NULL;
  size_t colon = 0;
  while (colon < name.size && name.data[colon] != ':') ++colon;
  int64_t ordinal = 0;
  if (colon == name.size ||
      !device_manager_read_ordinal(
          tfrt_string_view_make(name.data + colon + 1, name.size - colon - 1), &ordinal)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "'%.*s' is no device: write it as \"cuda:0\"",
                              TFRT_STRING_VIEW_ARGUMENTS(name));
  }
  tfrt_device_platform_t* platform;
  TFRT_RETURN_IF_ERROR(
      tfrt_device_manager_platform(manager, tfrt_string_view_make(name.data, colon), &platform));
  return tfrt_device_platform_device(platform, ordinal, out_device);
}

// The port (+1) of |device|, or NULL. With the mutex held.
static tfrt_device_port_t* device_manager_find_port(tfrt_device_manager_t* manager,
                                                    const tfrt_device_t* device) {
  for (tfrt_device_port_entry_t* entry = manager->ports; entry; entry = entry->next) {
    if (entry->port->device == device) return tfrt_device_port_retain(entry->port);
  }
  return NULL;
}

// Made without the mutex, since that takes the driver's time: of two that make one, the first to
// be done wins.
tfrt_status_t tfrt_device_manager_port(tfrt_device_manager_t* manager, tfrt_device_t* device,
                                       tfrt_device_port_t** out_port) {
  tfrt_mutex_lock(&manager->mutex);
  *out_port = device_manager_find_port(manager, device);
  tfrt_mutex_unlock(&manager->mutex);
  if (*out_port) return NULL;
  tfrt_device_port_t* port;
  tfrt_device_port_entry_t* entry =
      tfrt_allocator_allocate_zeroed(manager->allocator, sizeof(*entry));
  if (!entry) return tfrt_status_out_of_memory();
  tfrt_status_t status = tfrt_device_port_create(device, &port);
  if (status) {
    tfrt_allocator_free(manager->allocator, entry, sizeof(*entry));
    return status;
  }
  tfrt_mutex_lock(&manager->mutex);
  *out_port = device_manager_find_port(manager, device);
  if (!*out_port) {
    *entry = (tfrt_device_port_entry_t){.next = manager->ports, .port = port};
    manager->ports = entry;
    *out_port = tfrt_device_port_retain(port);
    entry = NULL;
  }
  tfrt_mutex_unlock(&manager->mutex);
  if (entry) {
    tfrt_device_port_release(port);
    tfrt_allocator_free(manager->allocator, entry, sizeof(*entry));
  }
  return NULL;
}
