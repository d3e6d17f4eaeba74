// SPDX-License-Identifier: Apache-2.0
//
// The declarations of a PTX text: its kernels, with the sizes of their parameters, and its global
// variables. The reader skips the code:
//
//   .visible .entry add(.param .u64 a, .param .u32 n) { ... }   kernel add: 8 and 4 bytes
//   .visible .global .align 4 .u32 total[8];                    variable total: 32 bytes
//
// A CPU device takes such a text as the list of a module's kernels and variables; the code of a
// kernel is the C function of its name. So the same program runs on both kinds of devices.
//
// Life: nothing is kept; an image is a borrowed text that each question reads anew.
// Thread rule: thread-safe.
// Failure rule: texts are untrusted. INVALID_ARGUMENT, with the line, for one that is cut off
// or declares more than TFRT_DEVICE_MAX_PARAMETERS parameters.
#ifndef TFRT_DEVICES_DEVICE_IMAGE_H_
#define TFRT_DEVICES_DEVICE_IMAGE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/device_module.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_view.h"

TFRT_API_BEGIN

// One declaration of an image.
typedef struct tfrt_device_image_symbol_s {
  tfrt_string_view_t name;  // in the image
  bool is_kernel;           // else a variable
  uint32_t parameter_count;
  uint32_t parameter_sizes[TFRT_DEVICE_MAX_PARAMETERS];
  size_t size;          // of a variable, in bytes
  bool is_initialized;  // the variable has a value; else it is zero
} tfrt_device_image_symbol_t;

// Where reading stands; starts as {.rest = image, .line = 1}.
typedef struct tfrt_device_image_cursor_s {
  tfrt_string_view_t rest;
  uint32_t line;
} tfrt_device_image_cursor_t;

// Sets |*out_symbol| to the next declaration and |*out_found| to whether there is one.
// Thread-compatible, as |cursor| is.
tfrt_status_t tfrt_device_image_next(tfrt_device_image_cursor_t* cursor,
                                     tfrt_device_image_symbol_t* out_symbol, bool* out_found)
    TFRT_MUST_USE;

// Sets |*out_symbol| to the kernel, or the variable, named |name|, and |*out_found| to
// whether |image| declares it. Thread-safe.
tfrt_status_t tfrt_device_image_find(tfrt_string_view_t image, bool is_kernel, const char* name,
                                     tfrt_device_image_symbol_t* out_symbol, bool* out_found)
    TFRT_MUST_USE;

TFRT_API_END

#endif  // TFRT_DEVICES_DEVICE_IMAGE_H_
