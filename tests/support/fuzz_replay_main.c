// SPDX-License-Identifier: Apache-2.0
//
// Feeds each file named on the command line to the fuzz target, once.

#include <stdio.h>
#include <stdlib.h>

#include "tests/support/fuzz_target.h"

// Each file gets a block of exactly its size, so that AddressSanitizer sees one byte too many.
static int replay(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    perror(path);
    if (file != NULL) fclose(file);
    return 0;
  }
  size_t size = (size_t)ftell(file);
  rewind(file);
  uint8_t* data = malloc(size > 0 ? size : 1);
  int ok = data != NULL && fread(data, 1, size, file) == size;
  fclose(file);
  if (ok) {
    printf("%s: %zu bytes\n", path, size);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, size);
  } else {
    fprintf(stderr, "%s: cannot read it whole\n", path);
  }
  free(data);
  return ok;
}

int main(int argc, char** argv) {
  if (argc < 2) {
    fprintf(stderr, "error: no corpus file; a replay of nothing proves nothing\n");
    return EXIT_FAILURE;
  }
  int ok = 1;
  for (int i = 1; i < argc; ++i) ok = replay(argv[i]) && ok;
  return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
