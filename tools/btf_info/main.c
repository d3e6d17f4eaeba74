// SPDX-License-Identifier: Apache-2.0
//
// Prints the tensors of a BTF file, one line for each.

#include <inttypes.h>
#include <stdio.h>

#include "host_runtime/base/file.h"
#include "host_runtime/tensor/btf.h"
#include "tools/command_line/flags.h"

static const tfrt_flag_table_t table = {
    .usage = "btf_info FILE.btf",
    .summary =
        "Prints each tensor of a BTF file: its number, layout, dtype, shape and elements, of\n"
        "which at most 16 if it is dense. With - it reads the standard input.",
    .footer =
        "Exit codes: 0 done; 1 the file can't be read or is no BTF file; 2 usage.\n"
        "\n"
        "Example: btf_info weights.btf\n"
        "  [0] DenseHostTensor dtype = i8, shape = [3], values = [1, 2, 3]\n",
};

// The buffer over a file gives nothing back: the contents outlive it.
static void keep(void* context, void* data, size_t size) {
  (void)context;
  (void)data;
  (void)size;
}

static tfrt_status_t print_tensor(tfrt_host_buffer_t* file, uint64_t index) {
  tfrt_host_tensor_t tensor;
  TFRT_RETURN_IF_ERROR(tfrt_btf_read_any(file, index, tfrt_allocator_system(), &tensor));
  tfrt_string_builder_t line;
  tfrt_string_builder_initialize(&line, tfrt_allocator_system());
  tfrt_string_builder_append_format(&line, "[%" PRIu64 "] ", index);
  tfrt_host_tensor_print(&tensor, &line);
  tfrt_host_tensor_deinitialize(&tensor);
  tfrt_status_t status = tfrt_string_builder_status(&line);
  if (!status && printf("%s\n", tfrt_string_builder_text(&line)) < 0) {
    status = tfrt_status_create(TFRT_STATUS_UNKNOWN, "cannot write to the standard output");
  }
  tfrt_string_builder_deinitialize(&line);
  return status;
}

static tfrt_status_t print_tensors(tfrt_host_buffer_t* file) {
  uint64_t count;
  TFRT_RETURN_IF_ERROR(tfrt_btf_count(file, &count));
  for (uint64_t i = 0; i < count; ++i) TFRT_RETURN_IF_ERROR(print_tensor(file, i));
  return NULL;
}

static tfrt_status_t print_file(const char* path) {
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(tfrt_file_read(path, tfrt_allocator_system(), &contents));
  tfrt_host_buffer_t* file;
  tfrt_status_t status = tfrt_host_buffer_create_external(contents.data, contents.size, keep, NULL,
                                                          tfrt_allocator_system(), &file);
  if (!status) {
    status = tfrt_status_take_annotate(print_tensors(file), "%s", path);
    tfrt_host_buffer_release(file);
  }
  tfrt_file_contents_deinitialize(&contents);
  return status;
}

// Says what |status| (consumed) is, and returns |code|.
static int fail(tfrt_status_t status, int code) {
  fprintf(stderr, "btf_info: %s\n", tfrt_status_message(status));
  if (code == 2) fprintf(stderr, "Usage: %s; --help tells more\n", table.usage);
  tfrt_status_release(status);
  return code;
}

int main(int argument_count, char** arguments) {
  tfrt_flag_list_t files;
  bool help;
  tfrt_status_t status = tfrt_flags_parse(&table, argument_count - 1, arguments + 1, &files, &help);
  if (!status && !help && files.count != 1) {
    status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "one file is needed, but %zu given",
                                files.count);
  }
  if (status) return fail(status, 2);
  if (help) return 0;
  status = print_file(files.values[0]);
  bool flushed = fflush(stdout) == 0;
  if (status) return fail(status, 1);
  return flushed ? 0 : 1;
}
