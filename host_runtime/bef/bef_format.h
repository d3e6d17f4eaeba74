// SPDX-License-Identifier: Apache-2.0
//
// The numbers of BEF, the Binary Executable Format, version 0: a program as one
// mappable image of sections. Byte-compatible with TFRT's; docs/bef.md describes
// every section, with the two that are ours.
//
//   0B EF 00 | section | section | ... end of file
//
//   section:  id:u8 | VBR(length << 1 | aligned) | [alignment:u8, CC CC ..] | payload
//
//   VBR:      7 bits per byte, most significant group first, high bit set on all
//             bytes but the last; here at most 64 significant bits
//
// All fixed-width numbers are little-endian, and so must the machine be.
//
// Thread rule: constants. Failure rule: none fails.
#ifndef TFRT_HOST_RUNTIME_BEF_BEF_FORMAT_H_
#define TFRT_HOST_RUNTIME_BEF_BEF_FORMAT_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host_runtime/base/macros.h"

TFRT_API_BEGIN

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "BEF images are read in place, which needs a little-endian machine"
#endif

// The first three bytes of a file.
#define TFRT_BEF_MAGIC_0 0x0B
#define TFRT_BEF_MAGIC_1 0xEF
#define TFRT_BEF_VERSION 0x00
#define TFRT_BEF_HEADER_SIZE 3

// The byte of padding.
#define TFRT_BEF_PADDING_BYTE 0xCC

// The address of an image, and the strongest alignment inside it.
#define TFRT_BEF_ALIGNMENT 8

// Kernel records are arrays of 32-bit words at this alignment.
#define TFRT_BEF_KERNEL_ALIGNMENT 4

// Images are at most this long: offsets inside sections have 32 bits.
#define TFRT_BEF_MAX_SIZE ((size_t)UINT32_MAX)

// Sections, in the order in which the writer emits them. A reader skips an id that
// it doesn't know.
typedef enum tfrt_bef_section_id_e {
  TFRT_BEF_SECTION_STRINGS = 0,
  TFRT_BEF_SECTION_ATTRIBUTES = 1,
  TFRT_BEF_SECTION_KERNELS = 2,
  TFRT_BEF_SECTION_TYPES = 3,
  TFRT_BEF_SECTION_FUNCTION_INDEX = 4,
  TFRT_BEF_SECTION_FUNCTIONS = 5,
  TFRT_BEF_SECTION_LOCATION_STRINGS = 6,
  TFRT_BEF_SECTION_LOCATIONS = 7,
  TFRT_BEF_SECTION_ATTRIBUTE_TYPES = 8,  // optional from here on
  TFRT_BEF_SECTION_ATTRIBUTE_NAMES = 9,
  TFRT_BEF_SECTION_REGISTER_TYPES = 10,
  // Ours, far from those that TFRT may still give out.
  TFRT_BEF_SECTION_CALL_OPTIONS = 0xC0,
  TFRT_BEF_SECTION_ARGUMENT_NAMES = 0xC1,
} tfrt_bef_section_id_t;

typedef enum tfrt_bef_function_kind_e {
  TFRT_BEF_FUNCTION_ASYNC = 0,
  TFRT_BEF_FUNCTION_NATIVE = 1,  // has no body: a C function of that name
  TFRT_BEF_FUNCTION_SYNC = 2,
} tfrt_bef_function_kind_t;

// Words of a kernel record, before the one user count per result:
//
//   code | location | #arguments | #attributes | #functions | #results
//   user counts | argument registers | attribute offsets | function indices |
//   result registers | users of result 0 | users of result 1 | ...
enum {
  TFRT_BEF_KERNEL_CODE = 0,
  TFRT_BEF_KERNEL_LOCATION = 1,
  TFRT_BEF_KERNEL_ARGUMENT_COUNT = 2,
  TFRT_BEF_KERNEL_ATTRIBUTE_COUNT = 3,
  TFRT_BEF_KERNEL_FUNCTION_COUNT = 4,
  TFRT_BEF_KERNEL_RESULT_COUNT = 5,
  TFRT_BEF_KERNEL_HEADER_WORDS = 6,
};

// Code and location of kernel 0 of each body, which stands for the call itself: its
// results are the special register and then the function's arguments.
#define TFRT_BEF_PSEUDO_KERNEL_CODE 0xABABABABu
#define TFRT_BEF_PSEUDO_KERNEL_LOCATION 0xCDCDCDCDu

// Element types; also the codes of the scalar attributes of these types.
typedef enum tfrt_bef_dtype_e {
  TFRT_BEF_DTYPE_INVALID = 0,
  TFRT_BEF_DTYPE_UI8 = 1,
  TFRT_BEF_DTYPE_UI16 = 2,
  TFRT_BEF_DTYPE_UI32 = 3,
  TFRT_BEF_DTYPE_UI64 = 4,
  TFRT_BEF_DTYPE_I1 = 5,
  TFRT_BEF_DTYPE_I8 = 6,
  TFRT_BEF_DTYPE_I16 = 7,
  TFRT_BEF_DTYPE_I32 = 8,
  TFRT_BEF_DTYPE_I64 = 9,
  TFRT_BEF_DTYPE_F32 = 10,
  TFRT_BEF_DTYPE_F64 = 11,
  TFRT_BEF_DTYPE_COMPLEX64 = 12,
  TFRT_BEF_DTYPE_COMPLEX128 = 13,
  TFRT_BEF_DTYPE_F16 = 14,
  TFRT_BEF_DTYPE_BF16 = 15,
  TFRT_BEF_DTYPE_STRING = 16,
  TFRT_BEF_DTYPE_RESOURCE = 17,
  TFRT_BEF_DTYPE_VARIANT = 18,
  TFRT_BEF_DTYPE_QUI8 = 19,
  TFRT_BEF_DTYPE_QUI16 = 20,
  TFRT_BEF_DTYPE_QI8 = 21,
  TFRT_BEF_DTYPE_QI16 = 22,
  TFRT_BEF_DTYPE_QI32 = 23,
  TFRT_BEF_DTYPE_LAST = 23,
} tfrt_bef_dtype_t;

// The kind of an attribute: a dtype (a scalar of it; STRING: a string), one of these, or a dtype or
// TYPE with the array bit.
typedef uint8_t tfrt_bef_attribute_type_t;
enum {
  TFRT_BEF_ATTRIBUTE_UNSUPPORTED = 24,
  TFRT_BEF_ATTRIBUTE_TYPE = 25,  // a dtype, as a value
  TFRT_BEF_ATTRIBUTE_FUNCTION = 26,
  TFRT_BEF_ATTRIBUTE_SHAPE = 27,
  TFRT_BEF_ATTRIBUTE_DENSE = 28,
  TFRT_BEF_ATTRIBUTE_SYMBOL = 29,  // of a nested, compiled module
  TFRT_BEF_ATTRIBUTE_AGGREGATE = 30,
  TFRT_BEF_ATTRIBUTE_ARRAY_BIT = 0x80,
  TFRT_BEF_ATTRIBUTE_EMPTY_ARRAY = 0x80 | TFRT_BEF_DTYPE_I32,
};

// Tags of location records.
typedef enum tfrt_bef_location_tag_e {
  TFRT_BEF_LOCATION_UNKNOWN = 0,
  TFRT_BEF_LOCATION_FILE = 1,       // VBR string, VBR line, VBR column
  TFRT_BEF_LOCATION_NAME = 2,       // VBR string, child record
  TFRT_BEF_LOCATION_CALL_SITE = 3,  // callee record, caller record
  TFRT_BEF_LOCATION_FUSED = 4,      // VBR count, records
} tfrt_bef_location_tag_t;

// Locations nest at most this deep.
#define TFRT_BEF_MAX_LOCATION_DEPTH 256

// Aggregates nest at most this deep.
#define TFRT_BEF_MAX_ATTRIBUTE_DEPTH 32

// The longest name of a device, as "cuda:0", in bytes.
#define TFRT_BEF_MAX_DEVICE_SIZE 23

// Fields of an entry of the section of call options (bits of its mask).
enum {
  TFRT_BEF_CALL_OPTION_HOST = 1u << 0,         // VBR follows: rank
  TFRT_BEF_CALL_OPTION_DEADLINE_MS = 1u << 1,  // VBR follows: milliseconds, not 0
  TFRT_BEF_CALL_OPTION_RETRIES = 1u << 2,      // VBR follows: count
  TFRT_BEF_CALL_OPTION_PURE = 1u << 3,
  TFRT_BEF_CALL_OPTION_NONSTRICT = 1u << 4,
  TFRT_BEF_CALL_OPTION_DEVICE = 1u << 5,  // NUL-terminated name follows
  TFRT_BEF_CALL_OPTION_COST = 1u << 6,    // VBR follows: in units of the op table
  TFRT_BEF_CALL_OPTION_ALL = (1u << 7) - 1,
};

// The size in bytes of one element of |dtype|, or 0 if it has no fixed size (strings,
// resources, variants) or is no dtype. Thread-safe.
static inline size_t tfrt_bef_dtype_size(uint32_t dtype) {
  static const uint8_t kSizes[TFRT_BEF_DTYPE_LAST + 1] = {0, 1,  2, 4, 8, 1, 1, 2, 4, 8, 4, 8,
                                                          8, 16, 2, 2, 0, 0, 0, 1, 2, 1, 2, 4};
  return dtype <= TFRT_BEF_DTYPE_LAST ? kSizes[dtype] : 0;
}

// The alignment in bytes of one element of |dtype|: its size, but that of its parts
// for complex numbers; 0 where tfrt_bef_dtype_size() is 0. Thread-safe.
static inline size_t tfrt_bef_dtype_alignment(uint32_t dtype) {
  size_t size = tfrt_bef_dtype_size(dtype);
  bool complex = dtype == TFRT_BEF_DTYPE_COMPLEX64 || dtype == TFRT_BEF_DTYPE_COMPLEX128;
  return complex ? size / 2 : size;
}

TFRT_API_END

#endif  // TFRT_HOST_RUNTIME_BEF_BEF_FORMAT_H_
