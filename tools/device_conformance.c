// SPDX-License-Identifier: Apache-2.0
//
// The suite that each backend of devices must pass (devices/conformance), over one device of this
// machine: those that are built in, and those of the libraries that --device_libs names.
//
// The order: flags, libraries, then whether the device is there at all, which a process of its own
// asks, since a driver that was opened can't be used behind a fork; then the suite, whose tests are
// processes, too.

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices/conformance/conformance.h"
#include "devices/device.h"
#include "host_runtime/async/inline_work_queue.h"
#include "host_runtime/base/file.h"
#include "host_runtime/base/number_text.h"
#include "host_runtime/base/string_builder.h"
#include "tools/command_line/flags.h"
#include "tools/kernels/device_platforms.h"
#include "tools/process/standard_streams.h"

enum { TFRT_EXIT_OK = 0, TFRT_EXIT_FAILED = 1, TFRT_EXIT_USAGE = 2 };

// More than any image of the suite's kernels.
#define TFRT_MAX_IMAGE_SIZE ((size_t)1 << 28)

static const char* device_libs = NULL;
static const char* features = NULL;
static const char* image_path = NULL;

static const tfrt_flag_t flags[] = {
    {.name = TFRT_DEVICE_LIBRARIES_FLAG,
     .kind = TFRT_FLAG_TEXT,
     .storage = &device_libs,
     .value = TFRT_DEVICE_LIBRARIES_VALUE,
     .help = TFRT_DEVICE_LIBRARIES_HELP},
    {.name = "features",
     .kind = TFRT_FLAG_TEXT,
     .storage = &features,
     .value = "A,B",
     .help = "what the device has, so that its tests must run: see below"},
    {.name = "image",
     .kind = TFRT_FLAG_PATH,
     .storage = &image_path,
     .value = "FILE",
     .help = "the suite's kernels (share/tfrt/test_kernels.cu) as the device takes them; default: "
             "PTX"},
};

static const tfrt_flag_table_t table = {
    .usage = "tfrt_device_conformance [FLAGS] KIND[:ORDINAL]",
    .summary = "Runs the tests that each device must pass, each in a process of its own.",
    .footer =
        "Features: kernels (they do their work), graphs, blas, dnn, ccl, peer (another device of\n"
        "the kind, within reach), faults (the kernel test_fault may break the device).\n"
        "\n"
        "Environment: CK_FORK=no runs all in one process, CK_RUN_CASE=CASE one part of it, and\n"
        "CK_DEFAULT_TIMEOUT=SECONDS is what each test may take.\n"
        "\n"
        "Exit codes: 0 all passed; 1 one has failed, or the device isn't there; 2 wrong flags.\n"
        "\n"
        "Example: tfrt_device_conformance --device_libs=libmine.so --features=kernels mine:0\n",
    .flags = flags,
    .flag_count = sizeof(flags) / sizeof(flags[0]),
};

static int fail_take(tfrt_status_t status, int exit_code) {
  fprintf(stderr, "tfrt_device_conformance: %s\n", tfrt_status_message(status));
  tfrt_status_release(status);
  return exit_code;
}

// --- Flags -------------------------------------------------------------------------------

static const struct {
  const char* name;
  tfrt_conformance_feature_t feature;
} feature_names[] = {
    {"kernels", TFRT_CONFORMANCE_KERNELS}, {"graphs", TFRT_CONFORMANCE_GRAPHS},
    {"blas", TFRT_CONFORMANCE_BLAS},       {"dnn", TFRT_CONFORMANCE_DNN},
    {"ccl", TFRT_CONFORMANCE_CCL},         {"peer", TFRT_CONFORMANCE_PEER},
    {"faults", TFRT_CONFORMANCE_FAULTS},
};

static tfrt_status_t add_feature(tfrt_string_view_t name, uint32_t* out_features) {
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(feature_names); ++i) {
    if (!tfrt_string_view_equal(name, tfrt_string_view_of(feature_names[i].name))) continue;
    *out_features |= feature_names[i].feature;
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--features: '%.*s' is none of kernels, graphs, blas, dnn, ccl, peer, "
                            "faults",
                            TFRT_STRING_VIEW_ARGUMENTS(name));
}

static tfrt_status_t read_features(uint32_t* out_features) {
  for (const char* rest = features; rest; rest = strchr(rest, ',')) {
    if (*rest == ',') ++rest;
    TFRT_RETURN_IF_ERROR(
        add_feature(tfrt_string_view_make(rest, strcspn(rest, ",")), out_features));
  }
  return NULL;
}

// Reads `mine:1` into |backend|'s name, which is in |kind_name|, and ordinal.
static tfrt_status_t read_device(const char* text, char kind_name[64],
                                 tfrt_conformance_backend_t* backend) {
  size_t size = strcspn(text, ":");
  uint64_t ordinal = 0;
  bool is_good =
      size > 0 && size < 64 &&
      (!text[size] || tfrt_number_text_parse_u64(tfrt_string_view_of(text + size + 1), &ordinal)) &&
      ordinal <= INT32_MAX;
  if (!is_good) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "'%s' is no device: write a kind and maybe a number, as in cuda:0",
                              text);
  }
  memcpy(kind_name, text, size);
  kind_name[size] = '\0';
  backend->name = kind_name;
  backend->ordinal = (uint32_t)ordinal;
  return NULL;
}

static tfrt_status_t parse(int argument_count, char** arguments, char kind_name[64],
                           tfrt_conformance_backend_t* backend, bool* out_help) {
  tfrt_flag_list_t rest;
  TFRT_RETURN_IF_ERROR(
      tfrt_flags_parse(&table, argument_count - 1, arguments + 1, &rest, out_help));
  if (*out_help) return NULL;
  if (rest.count != 1) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "name one device, as in cuda:0 (--help says more)");
  }
  TFRT_RETURN_IF_ERROR(read_features(&backend->features));
  return read_device(rest.values[0], kind_name, backend);
}

// --- The device --------------------------------------------------------------------------

static tfrt_status_t find_kind(tfrt_conformance_backend_t* backend) {
  tfrt_string_builder_t known;
  tfrt_string_builder_initialize(&known, tfrt_allocator_system());
  for (size_t i = 0; i < tfrt_device_kind_count(); ++i) {
    const tfrt_device_kind_t* kind = tfrt_device_kind_get(i);
    tfrt_string_builder_append_format(&known, "%s%s", i ? ", " : "", kind->name);
    if (strcmp(kind->name, backend->name) == 0) backend->options = kind;
  }
  tfrt_status_t status = NULL;
  if (!backend->options) {
    status = tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                                "there is no kind of devices '%s', only %s (--device_libs brings "
                                "more)",
                                backend->name, tfrt_string_builder_text(&known));
  }
  tfrt_string_builder_deinitialize(&known);
  return status;
}

static tfrt_status_t open_kind(const void* kind, tfrt_allocator_t allocator,
                               tfrt_work_queue_t* work_queue,
                               tfrt_device_platform_t** out_platform) {
  return tfrt_device_kind_open(kind, allocator, work_queue, out_platform);
}

// OK if the device under test, and its peer if it must have one, can be opened.
static tfrt_status_t probe(const tfrt_conformance_backend_t* backend) {
  tfrt_work_queue_t* queue;
  TFRT_RETURN_IF_ERROR(tfrt_inline_work_queue_create(tfrt_allocator_system(), &queue));
  tfrt_device_platform_t* platform = NULL;
  tfrt_status_t status = open_kind(backend->options, tfrt_allocator_system(), queue, &platform);
  tfrt_device_t* device = NULL;
  if (!status) status = tfrt_device_platform_device(platform, backend->ordinal, &device);
  tfrt_device_release(device);
  device = NULL;
  if (!status && backend->features & TFRT_CONFORMANCE_PEER) {
    status = tfrt_device_platform_device(platform, backend->ordinal == 0 ? 1 : 0, &device);
  }
  tfrt_device_release(device);
  tfrt_device_platform_release(platform);
  tfrt_work_queue_release(queue);
  return status;
}

// Asks in a process of its own; TFRT_EXIT_OK, or what this one is to end with.
static int probe_apart(const tfrt_conformance_backend_t* backend) {
  fflush(NULL);
  pid_t child = fork();
  if (child == 0) {
    tfrt_status_t status = probe(backend);
    _exit(status ? fail_take(status, TFRT_EXIT_FAILED) : TFRT_EXIT_OK);
  }
  int state = 0;
  if (child < 0 || waitpid(child, &state, 0) != child) {
    fprintf(stderr, "tfrt_device_conformance: the system has no process for the device\n");
    return TFRT_EXIT_FAILED;
  }
  if (WIFEXITED(state)) return WEXITSTATUS(state);
  fprintf(stderr, "tfrt_device_conformance: opening %s:%u ends the process by signal %d\n",
          backend->name, backend->ordinal, WTERMSIG(state));
  return TFRT_EXIT_FAILED;
}

// --- The suite ---------------------------------------------------------------------------

static int run_suite(const tfrt_conformance_backend_t* backend) {
  SRunner* runner = srunner_create(tfrt_conformance_suite(backend));
  // NULL: as the environment says.
  srunner_run(runner, NULL, NULL, CK_VERBOSE);
  int run_count = srunner_ntests_run(runner);
  int failed_count = srunner_ntests_failed(runner);
  srunner_free(runner);
  if (run_count == 0) fprintf(stderr, "tfrt_device_conformance: no test ran\n");
  return run_count > 0 && failed_count == 0 ? TFRT_EXIT_OK : TFRT_EXIT_FAILED;
}

int main(int argument_count, char** arguments) {
  static char kind_name[64];
  static tfrt_conformance_backend_t backend = {.open = open_kind};
  static tfrt_file_contents_t image;
  tfrt_standard_streams_open();
  bool help = false;
  tfrt_status_t status = parse(argument_count, arguments, kind_name, &backend, &help);
  if (status) return fail_take(status, TFRT_EXIT_USAGE);
  if (help) return TFRT_EXIT_OK;
  status = tfrt_device_platforms_load(device_libs);
  if (!status) status = find_kind(&backend);
  if (!status && image_path) {
    status =
        tfrt_file_read_at_most(image_path, TFRT_MAX_IMAGE_SIZE, tfrt_allocator_system(), &image);
    backend.image = (const char*)image.data;
    backend.image_size = image.size;
  }
  if (status) return fail_take(status, TFRT_EXIT_FAILED);
  int exit_code = probe_apart(&backend);
  return exit_code == TFRT_EXIT_OK ? run_suite(&backend) : exit_code;
}
