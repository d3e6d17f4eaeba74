// SPDX-License-Identifier: Apache-2.0
//
// A library of the system that is opened when it is first needed, and not when the program
// starts: what few programs use costs the others nothing.
//
//   file name + names of functions --> addresses, each in its slot of the caller's table
//
// The caller lists the functions once, as X(name) each, and gets the table and its opening:
//
//   #define FUNCTIONS(X) X(png_image_free) ...
//   TFRT_DYNAMIC_LIBRARY_TABLE(FUNCTIONS, "libpng16.so.16", "the image library libpng",
//   "libpng16-16")
//   ...
//   TFRT_RETURN_IF_ERROR(open_library());
//   library.png_image_free(&image);
//
// Life: opened at most once per process by its user (sync.h's tfrt_once_t), never closed.
//
// Thread rule: thread-safe, but for the slots.
// Failure rule: NOT_FOUND, which says what the system's loader said and what to install.
#ifndef TFRT_HOST_RUNTIME_BASE_DYNAMIC_LIBRARY_DYNAMIC_LIBRARY_H_
#define TFRT_HOST_RUNTIME_BASE_DYNAMIC_LIBRARY_DYNAMIC_LIBRARY_H_

#include <stddef.h>

#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/sync.h"

// The text of a macro's value, for file names with a version in them.
#define TFRT_DYNAMIC_LIBRARY_TEXT_OF(number) #number

// A name of the library, and where the address of that function belongs.
typedef struct tfrt_dynamic_symbol_s {
  const char* name;
  void* slot;  // a function pointer, of whatever type
} tfrt_dynamic_symbol_t;

typedef struct tfrt_dynamic_library_s {
  const char* file;     // as the loader looks for it, e.g. "libjpeg.so.62"
  const char* what;     // for messages: "the maths library oneDNN"
  const char* package;  // the Debian package that has it
  const tfrt_dynamic_symbol_t* symbols;
  size_t symbol_count;
} tfrt_dynamic_library_t;

// Opens |library| and fills in all slots. Sets |*out_handle| to the loader's handle, for names
// that may be missing. Thread-compatible.
tfrt_status_t tfrt_dynamic_library_open(const tfrt_dynamic_library_t* library, void** out_handle)
    TFRT_MUST_USE;

#define TFRT_DYNAMIC_LIBRARY_MEMBER(name) __typeof__(&name) name;
#define TFRT_DYNAMIC_LIBRARY_SYMBOL(name) {#name, &library.name},

// Defines `library`, a table with the address of each of |FUNCTIONS|, and `open_library()`, which
// returns NULL once they are there; both are the file's own. |file_name|, |description| and
// |package_name| are members of tfrt_dynamic_library_t. The opening is thread-safe.
#define TFRT_DYNAMIC_LIBRARY_TABLE(FUNCTIONS, file_name, description, package_name)          \
  static struct {                                                                            \
    tfrt_once_t once;                                                                        \
    tfrt_status_t status; /* of the opening; kept, as the library is */                      \
    FUNCTIONS(TFRT_DYNAMIC_LIBRARY_MEMBER)                                                   \
  } library = {.once = TFRT_ONCE_INITIALIZER};                                               \
  static void open_library_now(void) {                                                       \
    static const tfrt_dynamic_symbol_t symbols[] = {FUNCTIONS(TFRT_DYNAMIC_LIBRARY_SYMBOL)}; \
    static const tfrt_dynamic_library_t named = {.file = (file_name),                        \
                                                 .what = (description),                      \
                                                 .package = (package_name),                  \
                                                 .symbols = symbols,                         \
                                                 .symbol_count = TFRT_ARRAY_SIZE(symbols)};  \
    void* handle = NULL;                                                                     \
    library.status = tfrt_dynamic_library_open(&named, &handle);                             \
  }                                                                                          \
  static tfrt_status_t open_library(void) {                                                  \
    tfrt_once_run(&library.once, open_library_now);                                          \
    return library.status ? tfrt_status_retain(library.status) : NULL;                       \
  }

#endif  // TFRT_HOST_RUNTIME_BASE_DYNAMIC_LIBRARY_DYNAMIC_LIBRARY_H_
