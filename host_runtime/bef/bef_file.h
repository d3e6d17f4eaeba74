// SPDX-License-Identifier: Apache-2.0
//
// A loaded BEF program: verified whole, immutable, counted. This is the door for
// program bytes, which may come from a stranger: whatever passes it can be trusted
// by index, so that the executor needs no checks of its own.
//
// Life:
//  1. Created from bytes (copied to 8-byte aligned memory, or taken over if they
//     already are). Everything is checked before anything is handed out: framing,
//     every offset, index and register, use counts against actual uses, user lists
//     against argument lists, operand counts, locations, strings, optional sections.
//  2. Read. Headers of functions are decoded once; of a kernel only the place of its record is
//     kept, and everything else (registers, attributes, users, strings) is read in place, in
//     the image.
//  3. Retained by each object that keeps a pointer into it; released.
//
//   file --> functions[] --> offsets[] -----> records in the image
//        \-> image       \-> use_counts[]     (arguments, attributes, users, ...)
//
// Loading guarantees for the body of each function (docs/bef.md has the list):
//   - kernel 0 is the pseudo kernel: its result 0 is the special register, whose
//     users are the kernels without operands; its result i + 1 is register i, argument
//     i of the function.
//   - each register < register_count is set by exactly one kernel; each argument of a
//     kernel is a register that an earlier kernel sets, so that there is no cycle.
//   - use_counts[r] = arguments that are r + function results that are r.
//   - operand_count = argument_count; the users of a result name each kernel once for
//     each argument of it that is that register.
//   - code, function indices and stream ids are in range.
// It does not guarantee that kernel names are known, that attributes are what the
// kernel wants (bef_attribute.h), or that a callee's signature fits.
//
// Thread rule: immutable after creation; everything but the creation is thread-safe.
// Failure rule: bad bytes give INVALID_ARGUMENT that names section, function, kernel and
// byte offset; never a crash, and never more memory than about 32 times the bytes.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_FILE_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_FILE_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"
#include "host_runtime/bef/bef_format.h"
#include "host_runtime/bef/bef_record.h"

TFRT_API_BEGIN

typedef struct tfrt_bef_file_s tfrt_bef_file_t;

// The entry of one kernel in the section of call options.
typedef struct tfrt_bef_call_options_s {
  bool has_host;
  bool pure;
  bool nonstrict;
  uint32_t host;         // rank, if |has_host|
  uint32_t deadline_ms;  // 0: none
  uint32_t retries;
  uint32_t cost;       // in units of the op table, above what that says; 0: as it says
  const char* device;  // in the image, as "cuda:0", at most TFRT_BEF_MAX_DEVICE_SIZE; NULL: none
} tfrt_bef_call_options_t;

// The entry of kernel |kernel| of a function.
typedef struct tfrt_bef_call_options_entry_s {
  uint32_t kernel;
  tfrt_bef_call_options_t options;
} tfrt_bef_call_options_entry_t;

// One kernel of a body: its record and all that is said of it elsewhere, for those who look at a
// few kernels. Pointers live as long as the file.
typedef struct tfrt_bef_kernel_s {
  const char* name;         // "" for the pseudo kernel
  uint32_t code;            // index of |name|, < tfrt_bef_file_kernel_name_count()
  uint32_t location;        // for tfrt_bef_file_location_*()
  uint32_t stream_id;       // < the function's stream_count
  uint32_t argument_count;  // = its operand count, that is, arguments to wait for
  uint32_t attribute_count;
  uint32_t function_count;
  uint32_t result_count;
  const uint32_t* arguments;    // registers
  const uint32_t* attributes;   // byte offsets into the attribute section
  const uint32_t* functions;    // function indices: symbols, then regions
  const uint32_t* results;      // registers
  const uint32_t* user_counts;  // per result: how many words of |users| are its
  const uint32_t* users;        // kernel indices: those of result 0, then of result 1, ...
  const tfrt_bef_call_options_t* call_options;  // NULL: none
} tfrt_bef_kernel_t;

// One function. Regions are functions with an empty name; they come before the function
// that contains them.
typedef struct tfrt_bef_function_s {
  const char* name;
  uint32_t index;
  tfrt_bef_function_kind_t kind;
  uint32_t argument_count;
  uint32_t result_count;
  const char* const* argument_types;  // as MLIR prints them
  const char* const* result_types;
  const char* const* argument_names;  // NULL: the file doesn't say

  // The body; all zero for a native function.
  uint32_t location;
  uint32_t register_count;           // without the special register, whose number this is
  uint32_t kernel_count;             // with the pseudo kernel
  uint32_t stream_count;             // one more than the highest stream id
  uint32_t attribute_count;          // of all kernels
  uint32_t value_count;              // arguments and results of all kernels
  const uint32_t* use_counts;        // per register
  const uint32_t* result_registers;  // |result_count| registers
  const uint8_t* records;            // the first one, in the image
  // Per kernel; [0] is the pseudo kernel: where its record is behind the first one, in bytes, and
  // its stream, which is below |stream_count|. NULL: all are of stream 0.
  const uint32_t* offsets;
  const uint32_t* stream_ids;
  const uint8_t* register_types;  // in the image; NULL: the file doesn't say
  // Those of all kernels, one after the other; NULL: the file doesn't say.
  const char* const* attribute_names;
  const tfrt_bef_call_options_entry_t* call_options;  // by kernel
  uint32_t call_options_count;
} tfrt_bef_function_t;

// A place in a source text.
typedef struct tfrt_bef_source_location_s {
  const char* file;  // lives as long as the BEF file
  uint32_t line;
  uint32_t column;
} tfrt_bef_source_location_t;

// Creates a file from a copy of the |size| bytes at |bytes|. Sets |*out_file| at +1, or
// NULL. Errors: INVALID_ARGUMENT (not a valid BEF image), RESOURCE_EXHAUSTED.
// Thread-safe.
tfrt_status_t tfrt_bef_file_create(const void* bytes, size_t size, tfrt_allocator_t allocator,
                                   tfrt_bef_file_t** out_file) TFRT_MUST_USE;

// The same without a copy: takes the |size| bytes at |bytes|, which must be 8-byte aligned
// and come from tfrt_allocator_allocate(|allocator|, |size|), also when it fails. Errors
// as above. Thread-safe.
tfrt_status_t tfrt_bef_file_create_take(void* bytes, size_t size, tfrt_allocator_t allocator,
                                        tfrt_bef_file_t** out_file) TFRT_MUST_USE;

// The same for a file that was read or mapped: takes what |contents| holds, which is empty then,
// also when it fails. Errors as above. Thread-safe.
tfrt_status_t tfrt_bef_file_create_take_contents(tfrt_file_contents_t* contents,
                                                 tfrt_bef_file_t** out_file) TFRT_MUST_USE;

// The same for contents whose memory is not of |allocator|, which the file itself is of. Errors as
// above. Thread-safe.
tfrt_status_t tfrt_bef_file_create_around(tfrt_file_contents_t* contents,
                                          tfrt_allocator_t allocator, tfrt_bef_file_t** out_file)
    TFRT_MUST_USE;

// Adds one reference to |file| and returns it. Thread-safe.
tfrt_bef_file_t* tfrt_bef_file_retain(tfrt_bef_file_t* file);

// Drops one reference to |file|, which may be NULL. Thread-safe.
void tfrt_bef_file_release(tfrt_bef_file_t* file);

// The image that |file| was made from: what a peer would be sent. Thread-safe.
const void* tfrt_bef_file_bytes(const tfrt_bef_file_t* file, size_t* out_size);

// For bytes of the image that are not used for a while, of a file that was mapped: takes their
// memory (tfrt_file_contents_unload()); the next use reads them again. Thread-safe.
void tfrt_bef_file_unload(const tfrt_bef_file_t* file, const void* data, size_t size);

// The number of functions, and function |index| < that. Thread-safe.
uint32_t tfrt_bef_file_function_count(const tfrt_bef_file_t* file);
const tfrt_bef_function_t* tfrt_bef_file_function(const tfrt_bef_file_t* file, uint32_t index);

// The function named |name|, which isn't "", or NULL. Linear. Thread-safe.
const tfrt_bef_function_t* tfrt_bef_file_find_function(const tfrt_bef_file_t* file,
                                                       const char* name);

// |function|, or where that is a region, the named function that it is a part of: the next one with
// a name, as a region stands in the file before what contains it. |function| itself if none
// follows, as in a file of a region by itself. Linear. Thread-safe.
const tfrt_bef_function_t* tfrt_bef_file_enclosing_function(const tfrt_bef_file_t* file,
                                                            const tfrt_bef_function_t* function);

// The record of kernel |index| < kernel_count of |function|, which has a body. Thread-safe.
static inline const tfrt_bef_record_t* tfrt_bef_function_record(const tfrt_bef_function_t* function,
                                                                uint32_t index) {
  // Records begin at multiples of 4 in an image that does so, too.
  return (const tfrt_bef_record_t*)(const void*)(function->records + function->offsets[index]);
}

// The stream of kernel |index| < kernel_count of |function|, which has a body. Thread-safe.
static inline uint32_t tfrt_bef_function_stream_id(const tfrt_bef_function_t* function,
                                                   uint32_t index) {
  return function->stream_ids ? function->stream_ids[index] : 0;
}

// All of kernel |index| < kernel_count of |function|, which is one of |file| and has a body.
// Logarithmic in the number of call options. Thread-safe.
tfrt_bef_kernel_t tfrt_bef_file_kernel(const tfrt_bef_file_t* file,
                                       const tfrt_bef_function_t* function, uint32_t index);

// Sets |out_types|, room for |register_count| texts that live as long as |file|, to the types of
// the registers of |function|, which is one of |file| and has a body. Returns false and sets
// nothing if the file doesn't say. Thread-safe.
bool tfrt_bef_file_read_register_types(const tfrt_bef_file_t* file,
                                       const tfrt_bef_function_t* function, const char** out_types);

// The number of distinct kernel names, and the name with |code| < that. A name may be
// listed though nothing uses it. Thread-safe.
uint32_t tfrt_bef_file_kernel_name_count(const tfrt_bef_file_t* file);
const char* tfrt_bef_file_kernel_name(const tfrt_bef_file_t* file, uint32_t code);

// All of them, by code. Thread-safe.
const char* const* tfrt_bef_file_kernel_names(const tfrt_bef_file_t* file);

// The attribute section, to which attribute offsets are relative: 8-byte aligned if it
// holds anything that needs it. Sets |*out_size|. Thread-safe.
const uint8_t* tfrt_bef_file_attributes(const tfrt_bef_file_t* file, size_t* out_size);

// The type of the attribute at |offset| if the file says so, else
// TFRT_BEF_ATTRIBUTE_UNSUPPORTED. Logarithmic. Thread-safe.
tfrt_bef_attribute_type_t tfrt_bef_file_attribute_type(const tfrt_bef_file_t* file,
                                                       uint32_t offset);

// True if the file has the optional sections that text needs: types and names of
// attributes, and types of registers. Thread-safe.
bool tfrt_bef_file_has_attribute_types(const tfrt_bef_file_t* file);
bool tfrt_bef_file_has_attribute_names(const tfrt_bef_file_t* file);
bool tfrt_bef_file_has_register_types(const tfrt_bef_file_t* file);

// Finds the place in a source text that |location| stands for: itself, or the first one
// inside a name, a call site (the callee) or a fused location. Returns false, with
// |*out_location| {"", 0, 0}, if there is none. Any number is allowed. Thread-safe.
bool tfrt_bef_file_source_location(const tfrt_bef_file_t* file, uint32_t location,
                                   tfrt_bef_source_location_t* out_location);

// True if |location| is a plain file, line and column, and not something around it.
// Thread-safe.
bool tfrt_bef_file_location_is_plain(const tfrt_bef_file_t* file, uint32_t location);

// Appends |location| as one text: `file;line;col`, `child(name)`, `callee<-caller`, fused
// ones joined by commas, `(unknown)`. Thread-compatible on |builder|.
void tfrt_bef_file_location_append_text(const tfrt_bef_file_t* file, uint32_t location,
                                        tfrt_string_builder_t* builder);

// The same in MLIR's syntax, as in `loc("a.mlir":1:2)`, for going back to text. Returns
// false and appends nothing if |location| can't be decoded. Thread-compatible on |builder|.
bool tfrt_bef_file_location_append_mlir(const tfrt_bef_file_t* file, uint32_t location,
                                        tfrt_string_builder_t* builder);

// Appends the debug name of the op at |location|: that of a name location; of a fused one
// the names of its members in a row; of a call site that of its callee. Returns false if
// there is none. Thread-compatible on |builder|.
bool tfrt_bef_file_location_append_debug_name(const tfrt_bef_file_t* file, uint32_t location,
                                              tfrt_string_builder_t* builder);

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_FILE_H_
