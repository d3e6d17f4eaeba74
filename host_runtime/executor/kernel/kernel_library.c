// SPDX-License-Identifier: Apache-2.0
#include "host_runtime/executor/kernel/kernel_library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host_runtime/async/type.h"
#include "host_runtime/executor/descriptor/descriptor_check.h"

#define TFRT_KERNEL_LIBRARY_SYMBOL "tfrt_kernel_library"

// How libraries are linked so that they bring no runtime of their own.
#define TFRT_KERNEL_LIBRARY_LINK_ADVICE \
  "link it with what `pkg-config --libs tfrt-kernels` prints, and not with libtfrt"

// --- The check -----------------------------------------------------------------

static tfrt_status_t kernel_library_check_version(const tfrt_kernel_library_t* library) {
  if (library->api_version == TFRT_API_VERSION) return NULL;
  return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                            "was compiled against version %u of the interface, and this runtime "
                            "(%s) has version %u: compile it against this runtime's headers",
                            library->api_version, TFRT_VERSION, TFRT_API_VERSION);
}

static tfrt_status_t kernel_library_second_runtime(void) {
  return tfrt_status_create(
      TFRT_STATUS_FAILED_PRECONDITION,
      "brings a second runtime into this process: " TFRT_KERNEL_LIBRARY_LINK_ADVICE);
}

// Adds the library to the error |status| (consumed); OK stays OK.
static tfrt_status_t kernel_library_take_annotate(const tfrt_kernel_library_t* library,
                                                  tfrt_status_t status) {
  return tfrt_status_take_annotate(status, "kernel library '%s'", library->name);
}

typedef tfrt_status_t (*tfrt_kernel_library_check_fn_t)(const tfrt_kernel_descriptor_t* entry);

static tfrt_status_t kernel_library_check_table(const tfrt_kernel_table_t* table,
                                                tfrt_kernel_library_check_fn_t check) {
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* entry = &table->descriptors[i];
    if (!entry->name || !entry->name[0]) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "op table entry %zu has no name", i);
    }
    TFRT_RETURN_IF_ERROR(check(entry));
  }
  return NULL;
}

// OK if |what| number |index|, |name|, is complete.
static tfrt_status_t kernel_library_check_kernel(const char* what, size_t index, const char* name,
                                                 bool has_function) {
  if (!name || !name[0]) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s %zu lacks its name", what, index);
  }
  if (has_function) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s '%s' lacks its function", what, name);
}

static tfrt_status_t kernel_library_check_kernels(const tfrt_kernel_registration_t* registrations,
                                                  size_t count) {
  for (size_t i = 0; i < count; ++i) {
    TFRT_RETURN_IF_ERROR(kernel_library_check_kernel("kernel", i, registrations[i].name,
                                                     registrations[i].function != NULL));
  }
  return NULL;
}

static tfrt_status_t kernel_library_check_parts(const tfrt_kernel_library_t* library) {
  TFRT_RETURN_IF_ERROR(kernel_library_check_table(&library->ops, tfrt_descriptor_check_op));
  TFRT_RETURN_IF_ERROR(
      kernel_library_check_table(&library->native_ops, tfrt_descriptor_check_native));
  TFRT_RETURN_IF_ERROR(kernel_library_check_kernels(library->kernels, library->kernel_count));
  TFRT_RETURN_IF_ERROR(kernel_library_check_kernels(library->natives, library->native_count));
  for (size_t i = 0; i < library->sync_kernel_count; ++i) {
    const tfrt_sync_kernel_registration_t* sync_kernel = &library->sync_kernels[i];
    TFRT_RETURN_IF_ERROR(kernel_library_check_kernel("synchronous kernel", i, sync_kernel->name,
                                                     sync_kernel->function != NULL));
  }
  return NULL;
}

tfrt_status_t tfrt_kernel_library_check(const tfrt_kernel_library_t* library) {
  // Nothing but the version may be read of another version's description.
  TFRT_RETURN_IF_ERROR(kernel_library_check_version(library));
  if (library->runtime && library->runtime() != tfrt_runtime_identity()) {
    return kernel_library_second_runtime();
  }
  if (!library->runtime || !library->name) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the description lacks TFRT_KERNEL_LIBRARY_HEADER(name)");
  }
  return kernel_library_take_annotate(library, kernel_library_check_parts(library));
}

// --- Registering -----------------------------------------------------------------

// OK if |type|, of |value| of the op |entry|, is known in this process. A kernel would make values
// of no type of one that isn't; nobody but the library can say what lies behind it.
static tfrt_status_t kernel_library_check_type(const tfrt_kernel_descriptor_t* entry,
                                               const char* what, const char* value,
                                               const char* type) {
  tfrt_type_id_t id;
  if (type[0] != '!' || tfrt_type_find(type, &id)) return NULL;
  return tfrt_status_create(TFRT_STATUS_FAILED_PRECONDITION,
                            "op table entry '%s': %s '%s' has the type '%s', which is not "
                            "registered: register it in set_up, or correct its name",
                            entry->name, what, value, type);
}

static tfrt_status_t kernel_library_check_types(const tfrt_kernel_table_t* table) {
  for (size_t i = 0; i < table->count; ++i) {
    const tfrt_kernel_descriptor_t* entry = &table->descriptors[i];
    for (uint32_t j = 0; j < entry->operand_count; ++j) {
      TFRT_RETURN_IF_ERROR(kernel_library_check_type(entry, "operand", entry->operands[j].name,
                                                     entry->operands[j].type));
    }
    for (uint32_t j = 0; j < entry->result_count; ++j) {
      TFRT_RETURN_IF_ERROR(kernel_library_check_type(entry, "result", entry->results[j].name,
                                                     entry->results[j].type));
    }
  }
  return NULL;
}

// Sets up |library|, which has been checked, and adds its parts to |registry|.
static tfrt_status_t kernel_library_add(tfrt_kernel_registry_t* registry,
                                        const tfrt_kernel_library_t* library) {
  if (library->set_up) TFRT_RETURN_IF_ERROR(library->set_up());
  TFRT_RETURN_IF_ERROR(kernel_library_check_types(&library->ops));
  TFRT_RETURN_IF_ERROR(kernel_library_check_types(&library->native_ops));
  TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_add_all(registry, &library->ops, library->kernels,
                                                    library->kernel_count));
  TFRT_RETURN_IF_ERROR(tfrt_kernel_registry_add_sync(registry, &library->ops, library->sync_kernels,
                                                     library->sync_kernel_count));
  return tfrt_kernel_registry_add_natives(registry, &library->native_ops, library->natives,
                                          library->native_count);
}

tfrt_status_t tfrt_kernel_library_register(tfrt_kernel_registry_t* registry,
                                           const tfrt_kernel_library_t* library) {
  TFRT_RETURN_IF_ERROR(tfrt_kernel_library_check(library));
  return kernel_library_take_annotate(library, kernel_library_add(registry, library));
}

// --- Loading ---------------------------------------------------------------------

// True if |handle|, or a library that was loaded for it, has a runtime that isn't this one.
static bool kernel_library_has_second_runtime(void* handle) {
  const void* (*identity)(void) = NULL;
  // The way that POSIX shows from a data pointer to one to a function.
  *(void**)&identity = dlsym(handle, "tfrt_runtime_identity");
  return identity && identity() != tfrt_runtime_identity();
}

static tfrt_status_t kernel_library_find(void* handle, const tfrt_kernel_library_t** out_library) {
  if (kernel_library_has_second_runtime(handle)) return kernel_library_second_runtime();
  const tfrt_kernel_library_t* library = dlsym(handle, TFRT_KERNEL_LIBRARY_SYMBOL);
  if (!library) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "is no library of kernels or devices: it defines no '%s' "
                              "(see <tfrt/kernel_library.h>)",
                              TFRT_KERNEL_LIBRARY_SYMBOL);
  }
  TFRT_RETURN_IF_ERROR(tfrt_kernel_library_check(library));
  *out_library = library;
  return NULL;
}

// The system's reason for not loading |path|, which says the path itself, as an error.
static tfrt_status_t kernel_library_not_loaded(const char* path) {
  const char* reason = dlerror();
  if (!reason) reason = "unknown";
  size_t size = strlen(path);
  if (strncmp(reason, path, size) == 0 && strncmp(reason + size, ": ", 2) == 0) reason += size + 2;
  // In the words of the dynamic linker of glibc: empty, a text, an object file.
  bool is_other = strstr(reason, "file too short") || strstr(reason, "invalid ELF header") ||
                  strstr(reason, "only ET_DYN");
  if (is_other) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "can't be loaded: it is no shared library (%s)", reason);
  }
  bool is_symbol = strstr(reason, "undefined symbol") != NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "can't be loaded: %s%s", reason,
                            is_symbol ? " (kernels may call what the headers of "
                                        "<tfrt/kernel_library.h> declare, devices in programs "
                                        "that have some those of <tfrt/device_library.h>, and "
                                        "both what the library is linked with)"
                                      : "");
}

tfrt_status_t tfrt_kernel_library_load(const char* path,
                                       const tfrt_kernel_library_t** out_library) {
  *out_library = NULL;
  if (!path[0] || access(path, F_OK) != 0) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "there is no shared library '%s'", path);
  }
  // Without a slash the system would look in its own folders only.
  char file[4096];
  if (snprintf(file, sizeof(file), "%s%s", strchr(path, '/') ? "" : "./", path) >=
      (int)sizeof(file)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "the path of a shared library is too "
                              "long: '%.64s...'",
                              path);
  }
  // All at once, so that what is missing is said here and not in the middle of a run; local, so
  // that libraries don't see each other.
  void* handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  tfrt_status_t status =
      handle ? kernel_library_find(handle, out_library) : kernel_library_not_loaded(file);
  if (status) {
    if (handle) dlclose(handle);
    return tfrt_status_take_annotate(status, "shared library '%s'", path);
  }
  return NULL;
}
