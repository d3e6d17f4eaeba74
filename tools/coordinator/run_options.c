// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/run_options.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/allocator.h"
#include "host_runtime/base/macros.h"
#include "tools/cluster/host_process.h"
#include "tools/cluster/network_trust.h"
#include "tools/command_line/spoken_protocol.h"
#include "tools/kernels/device_platforms.h"
#include "tools/kernels/shared_libraries.h"
#include "tools/output/kernel_profile.h"
#include "tools/translation/cost_profile_file.h"

// Texts that the parser of flags sets; the options hold them in another form.
typedef struct tfrt_run_texts_s {
  const char* cluster;
  const char* hosts;
  const char* hostfile;
  const char* key_file;
  tfrt_tls_flags_t tls;
  bool insecure_network;
} tfrt_run_texts_t;

static const char tfrt_run_summary[] =
    "Runs the function `main` of a program and prints what it returns. With --local or\n"
    "--hosts, on a cluster: `main` runs on host 0, and a call with {host = n : i32} on host n.\n"
    "Without, everything runs in this process, such calls too; a program that asks how many\n"
    "hosts there are gets 1, or with --in-process N, which is how it would run on N hosts.";

static const char tfrt_run_footer[] =
    "Lines that kernels print on another host than host 0 have its number in front: [2] ...\n"
    "\n"
    "Exit codes: 0 success; 1 the program returned an error; 2 wrong usage, or the program\n"
    "can't be loaded; 3 the cluster could not form; 4 a host was lost; 5 cancelled;\n"
    "6 deadline; 7 the hosts speak another version; 8 wrong cluster key or certificate;\n"
    "9 --check_races has found a race, and nothing else went wrong.\n"
    "\n"
    "  tfrt run examples/mnist/mnist.mlir --local 3 --arg images=IDX --arg labels=IDX\n"
    "  tfrt run main.bef --hosts 10.0.0.1:7000,10.0.0.2:7000 --cluster-key-file KEY";

#define TFRT_RUN_CLUSTER_FLAG_COUNT 16
#define TFRT_RUN_PROGRAM_FLAG_COUNT 25
#define TFRT_RUN_STOP_FLAG "stop-on-loss"
#define TFRT_RUN_FLAG_COUNT (TFRT_RUN_CLUSTER_FLAG_COUNT + TFRT_RUN_PROGRAM_FLAG_COUNT)

// Where it runs.
static void run_options_list_cluster_flags(tfrt_run_options_t* options, tfrt_run_texts_t* texts,
                                           tfrt_flag_t* out_flags) {
  const tfrt_flag_t flags[TFRT_RUN_CLUSTER_FLAG_COUNT] = {
      {"local", TFRT_FLAG_NUMBER, &options->local_count, "N", "start N workers on this machine", 1,
       TFRT_HOST_LIST_MAX},
      {"bind", TFRT_FLAG_BOOL, &options->binds, NULL,
       "keep each worker of --local to its share of the processors", 0, 0},
      {"hosts", TFRT_FLAG_TEXT, &texts->hosts, "A:P,B:P",
       "workers that listen already, by rank; see tfrt_worker --help", 0, 0},
      {"hostfile", TFRT_FLAG_PATH, &texts->hostfile, "FILE",
       "the same from a file: a line HOST:PORT each, maybe with slots=N behind it", 0, 0},
      {"cluster", TFRT_FLAG_PATH, &texts->cluster, "FILE", TFRT_CLUSTER_FILE_FLAG_HELP, 0, 0},
      {"in-process", TFRT_FLAG_NUMBER, &options->in_process_count, "N",
       "be N hosts in this process: no workers, no network, the same program", 1,
       TFRT_HOST_LIST_MAX},
      {"detach", TFRT_FLAG_BOOL, &options->detach, NULL,
       "with --hosts: begin, print the job's name, and leave it to run; see tfrt attach", 0, 0},
      {"keep-ms", TFRT_FLAG_NUMBER, &options->keep_ms, "MS",
       "how long host 0 keeps the results of a detached job (default 600000)", 1, 86400000},
      {"cluster-key-file", TFRT_FLAG_PATH, &texts->key_file, "FILE",
       "the workers' secret (default: the environment's " TFRT_CLUSTER_KEY_VARIABLE ")", 0, 0},
      {"tls-dir", TFRT_FLAG_PATH, &texts->tls.directory, "DIR", TFRT_TLS_DIRECTORY_HELP, 0, 0},
      {"tls-name", TFRT_FLAG_TEXT, &texts->tls.name, "NAME",
       TFRT_TLS_NAME_HELP " (default: client)", 0, 0},
      {"insecure-network", TFRT_FLAG_BOOL, &texts->insecure_network, NULL, TFRT_NETWORK_TRUST_HELP,
       0, 0},
      {"heartbeat-ms", TFRT_FLAG_NUMBER, &options->losses.heartbeat_ms, "MS",
       "between signs of life (default 1000)", 1, 3600000},
      {"silence-ms", TFRT_FLAG_NUMBER, &options->losses.silence_ms, "MS",
       "without one, then a host is lost (default 5000)", 2, 3600000},
      {TFRT_RUN_STOP_FLAG, TFRT_FLAG_BOOL, &options->losses.end_run, NULL,
       "end the run when a host is lost and no call has retries (default with --local)", 0, 0},
      {"worker", TFRT_FLAG_PATH, &options->worker_path, "FILE",
       "tfrt_worker for --local (default: beside this program)", 0, 0},
  };
  memcpy(out_flags, flags, sizeof(flags));
}

// Flags about the program and the output.
static void run_options_list_program_flags(tfrt_run_options_t* options, tfrt_flag_t* out_flags) {
  const tfrt_flag_t flags[TFRT_RUN_PROGRAM_FLAG_COUNT] = {
      {"function", TFRT_FLAG_TEXT, &options->function_name, "NAME", "not main but this one", 0, 0},
      {"arg", TFRT_FLAG_LIST, &options->arguments, "NAME=VALUE",
       "a parameter, by name or position; a tensor's VALUE is a file (also as @FILE) or numbers, "
       "[[1, 2], [3, 4]]:i32",
       0, 0},
      {"timeout", TFRT_FLAG_NUMBER, &options->timeout_ms, "MS", "cancel after so many milliseconds",
       1, INT32_MAX},
      {"threads", TFRT_FLAG_NUMBER, &options->threads, "N",
       "compute threads of a process (default: the processors, shared by --local)", 1, 1024},
      {"o", TFRT_FLAG_TEXT, &options->output, "FORMAT",
       "text (default), json, or npy with a folder behind it: result_0.npy, ...", 0, 0},
      {"image", TFRT_FLAG_LIST, &options->images.images, "NAME=FILE", TFRT_IMAGE_HELP, 0, 0},
      {"size", TFRT_FLAG_TEXT, &options->images.size, "SIZE", TFRT_IMAGE_SIZE_HELP, 0, 0},
      {"mean", TFRT_FLAG_TEXT, &options->images.mean, "R,G,B", TFRT_IMAGE_MEAN_HELP, 0, 0},
      {"std", TFRT_FLAG_TEXT, &options->images.deviation, "R,G,B", TFRT_IMAGE_DEVIATION_HELP, 0, 0},
      {"channels-last", TFRT_FLAG_BOOL, &options->images.channels_last, NULL,
       TFRT_IMAGE_CHANNELS_LAST_HELP, 0, 0},
      {"top", TFRT_FLAG_NUMBER, &options->results.top, "N",
       "print the N greatest numbers of each row of the results, a tensor's last axis", 1, 1000},
      {"labels", TFRT_FLAG_PATH, &options->results.labels_path, "FILE",
       "with --top: a file with a label in each line, instead of the indices", 0, 0},
      {"shape", TFRT_FLAG_LIST, &options->model.shapes, "NAME=SHAPE", TFRT_MODEL_SHAPE_HELP, 0, 0},
      {"split", TFRT_FLAG_TEXT, &options->model.split, "HOW", TFRT_MODEL_SPLIT_HELP, 0, 0},
      {"no-cache", TFRT_FLAG_BOOL, &options->model.no_cache, NULL, TFRT_MODEL_NO_CACHE_HELP, 0, 0},
      {"trace", TFRT_FLAG_PATH, &options->records.trace, "FILE",
       "write what ran when and where, in Chrome's trace format", 0, 0},
      {TFRT_PROFILE_FLAG, TFRT_FLAG_PATH, &options->records.profile, "FILE", TFRT_PROFILE_HELP, 0,
       0},
      {TFRT_USE_PROFILE_FLAG, TFRT_FLAG_PATH, &options->records.used_profile, "FILE",
       TFRT_USE_PROFILE_HELP, 0, 0},
      {"v", TFRT_FLAG_BOOL, &options->is_verbose, NULL, "print derived errors, too", 0, 0},
      {"print_error_code", TFRT_FLAG_BOOL, &options->print_error_code, NULL,
       "print the code of errors too", 0, 0},
      {TFRT_SHARED_LIBRARIES_FLAG, TFRT_FLAG_TEXT, &options->libraries.kernels,
       TFRT_SHARED_LIBRARIES_VALUE, TFRT_SHARED_LIBRARIES_HELP ", also for --local", 0, 0},
      {TFRT_DEVICE_LIBRARIES_FLAG, TFRT_FLAG_TEXT, &options->libraries.devices,
       TFRT_DEVICE_LIBRARIES_VALUE, TFRT_DEVICE_LIBRARIES_HELP ", also for --local", 0, 0},
      {"no-insert-chains", TFRT_FLAG_BOOL, &options->no_insert_chains, NULL,
       "refuse a text that lacks chains, and put none in", 0, 0},
      {"check_types", TFRT_FLAG_BOOL, &options->checks.types, NULL,
       "check arguments and results of kernels, also on the hosts of --local", 0, 0},
      {"check_races", TFRT_FLAG_BOOL, &options->checks.races, NULL,
       "log kernels whose accesses of the same memory no chain orders, also on these hosts", 0, 0},
  };
  memcpy(out_flags, flags, sizeof(flags));
}

static void run_options_list_flags(tfrt_run_options_t* options, tfrt_run_texts_t* texts,
                                   tfrt_flag_t out_flags[TFRT_RUN_FLAG_COUNT]) {
  run_options_list_cluster_flags(options, texts, out_flags);
  run_options_list_program_flags(options, out_flags + TFRT_RUN_CLUSTER_FLAG_COUNT);
}

// The text behind `-o npy` is the folder; the other one is the program.
static void run_options_take_directory(int argument_count, char* const* arguments,
                                       const tfrt_flag_list_t* files, tfrt_run_options_t* options) {
  options->results.directory = files->values[1];
  for (int i = 1; i < argument_count; ++i) {
    if (strcmp(arguments[i - 1], "npy") != 0 || arguments[i] != files->values[0]) continue;
    options->results.directory = files->values[0];
    options->path = files->values[1];
  }
}

static tfrt_status_t run_options_parse_flags(int argument_count, char* const* arguments,
                                             tfrt_run_options_t* options, tfrt_run_texts_t* texts,
                                             bool* out_help) {
  tfrt_flag_t flags[TFRT_RUN_FLAG_COUNT];
  run_options_list_flags(options, texts, flags);
  const tfrt_flag_table_t table = {.usage = "tfrt run [FLAGS] FILE.mlir|FILE.bef|FILE.onnx",
                                   .summary = tfrt_run_summary,
                                   .footer = tfrt_run_footer,
                                   .flags = flags,
                                   .flag_count = TFRT_ARRAY_SIZE(flags),
                                   .protocol = TFRT_SPOKEN_PROTOCOL};
  tfrt_flag_list_t files;
  TFRT_RETURN_IF_ERROR(tfrt_flags_parse(&table, argument_count, arguments, &files, out_help));
  if (*out_help) return NULL;
  bool has_directory = strcmp(options->output, "npy") == 0;
  if (files.count != (has_directory ? 2 : 1)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              has_directory
                                  ? "-o npy: give one program and one folder for the results"
                                  : "give one program, FILE.mlir, FILE.bef or FILE.onnx; --help "
                                    "says more");
  }
  options->path = files.values[0];
  // The folder follows its flag; the program may stand before both or behind them.
  if (has_directory) run_options_take_directory(argument_count, arguments, &files, options);
  return NULL;
}

static void run_options_initialize(tfrt_run_options_t* out_options) {
  *out_options = (tfrt_run_options_t){.function_name = "main",
                                      .output = "text",
                                      .losses = {.heartbeat_ms = TFRT_HOST_PROCESS_HEARTBEAT_MS,
                                                 .silence_ms = TFRT_HOST_PROCESS_SILENCE_MS}};
}

// Where the command line says that a program runs.
typedef enum tfrt_run_place_e {
  TFRT_RUN_PLACE_UNKNOWN,
  TFRT_RUN_PLACE_LOCAL,       // --local
  TFRT_RUN_PLACE_IN_PROCESS,  // --in-process
  TFRT_RUN_PLACE_HOSTS,       // --hosts, --hostfile
} tfrt_run_place_t;

// Sets what the file of --cluster says, but for what the |place| of the command line excludes.
static tfrt_status_t run_options_take_file(const char* path, tfrt_run_place_t place,
                                           tfrt_run_options_t* options, tfrt_run_texts_t* texts) {
  tfrt_flag_t flags[TFRT_RUN_FLAG_COUNT];
  run_options_list_flags(options, texts, flags);
  const tfrt_flag_table_t table = {.flags = flags, .flag_count = TFRT_ARRAY_SIZE(flags)};
  tfrt_status_t status = tfrt_cluster_file_load(path, &options->cluster_file);
  if (!status) status = tfrt_cluster_file_apply(&options->cluster_file, &table);
  if (status) return tfrt_status_take_annotate(status, "--cluster");
  if (place == TFRT_RUN_PLACE_UNKNOWN) return NULL;
  texts->hosts = texts->hostfile = NULL;
  options->local_count = options->in_process_count = 0;
  if (place != TFRT_RUN_PLACE_LOCAL) options->binds = false;
  if (place == TFRT_RUN_PLACE_HOSTS) return NULL;
  texts->key_file = NULL;
  texts->tls = (tfrt_tls_flags_t){0};
  options->detach = false;
  options->keep_ms = 0;
  return NULL;
}

// The command line is read again behind the file, and goes before it so.
static tfrt_status_t run_options_parse_all(int argument_count, char* const* arguments,
                                           tfrt_run_options_t* options, tfrt_run_texts_t* texts,
                                           bool* out_help) {
  run_options_initialize(options);
  TFRT_RETURN_IF_ERROR(
      run_options_parse_flags(argument_count, arguments, options, texts, out_help));
  if (*out_help || !texts->cluster) return NULL;
  const char* path = texts->cluster;
  tfrt_run_place_t place = TFRT_RUN_PLACE_UNKNOWN;
  if (texts->hosts || texts->hostfile) place = TFRT_RUN_PLACE_HOSTS;
  if (options->in_process_count > 0) place = TFRT_RUN_PLACE_IN_PROCESS;
  if (options->local_count > 0) place = TFRT_RUN_PLACE_LOCAL;
  run_options_initialize(options);
  *texts = (tfrt_run_texts_t){0};
  TFRT_RETURN_IF_ERROR(run_options_take_file(path, place, options, texts));
  options->arguments.default_count = options->arguments.count;
  return run_options_parse_flags(argument_count, arguments, options, texts, out_help);
}

static tfrt_status_t run_options_check_output(const tfrt_run_options_t* options) {
  static const char* const outputs[] = {"text", "json", "npy"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(outputs); ++i) {
    if (strcmp(options->output, outputs[i]) == 0) return NULL;
  }
  tfrt_status_t status = tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                            "-o %s: there are text, json and npy", options->output);
  return tfrt_cluster_file_locate(&options->cluster_file, options->output, status);
}

static tfrt_status_t run_options_check_top(const tfrt_run_options_t* options) {
  if (options->results.top > 0 && strcmp(options->output, "text") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--top goes with -o text, not -o %s",
                              options->output);
  }
  if (options->results.top > 0 && options->detach) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--top prints results, and --detach leaves before: give one of them");
  }
  if (options->results.top > 0 || !options->results.labels_path) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--labels goes with --top");
}

static tfrt_status_t run_options_check_images(const tfrt_run_options_t* options) {
  const tfrt_image_flags_t* images = &options->images;
  bool has_form = images->size || images->mean || images->deviation || images->channels_last;
  if (images->images.count > 0 || !has_form) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--size, --mean, --std and --channels-last go with --image");
}

// The flags of a mistake: the flag that is too much, and the flag that excludes it, or NULL.
typedef struct tfrt_run_blame_s {
  const char* key;
  const char* other;
} tfrt_run_blame_t;

static tfrt_status_t run_options_check_detach(const tfrt_run_options_t* options, bool has_hosts,
                                              tfrt_run_blame_t* out_blame) {
  *out_blame = (tfrt_run_blame_t){"detach", NULL};
  if (options->detach && !has_hosts) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--detach needs workers that go on without this process: name them "
                              "with --hosts, --hostfile or --cluster");
  }
  *out_blame = (tfrt_run_blame_t){"trace", "detach"};
  if (options->detach && options->records.trace) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "--trace collects at the end, and --detach leaves before: give one of "
        "them");
  }
  *out_blame = (tfrt_run_blame_t){TFRT_PROFILE_FLAG, "detach"};
  if (options->detach && options->records.profile) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--" TFRT_PROFILE_FLAG
                              " collects at the end, and --detach leaves before: give one of them");
  }
  *out_blame = (tfrt_run_blame_t){"keep-ms", NULL};
  if (options->keep_ms == 0 || options->detach) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--keep-ms goes with --detach");
}

static tfrt_status_t run_options_check_place(const tfrt_run_options_t* options,
                                             const tfrt_run_texts_t* texts,
                                             tfrt_run_blame_t* out_blame) {
  bool has_hosts = texts->hosts || texts->hostfile;
  *out_blame = (tfrt_run_blame_t){"cluster-key-file", "local"};
  if (options->local_count > 0 && texts->key_file) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--local makes a key of its own: --cluster-key-file is for --hosts");
  }
  *out_blame = (tfrt_run_blame_t){"local", texts->hosts ? "hosts" : "hostfile"};
  if (options->local_count > 0 && has_hosts) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--local starts its own hosts: give it or --hosts, not both");
  }
  *out_blame = (tfrt_run_blame_t){"bind", NULL};
  if (options->binds && options->local_count == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--bind goes with --local: a worker that you start yourself keeps to "
                              "the processors that taskset or numactl give it");
  }
  *out_blame = (tfrt_run_blame_t){"in-process", has_hosts ? "hosts" : "local"};
  if (options->in_process_count > 0 && (options->local_count > 0 || has_hosts)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--in-process is no cluster: give it alone, or %s",
                              has_hosts ? "--hosts" : "--local");
  }
  return run_options_check_detach(options, has_hosts, out_blame);
}

static tfrt_status_t run_options_check(const tfrt_run_options_t* options,
                                       const tfrt_run_texts_t* texts, tfrt_run_blame_t* out_blame) {
  bool has_hosts = texts->hosts || texts->hostfile;
  TFRT_RETURN_IF_ERROR(run_options_check_place(options, texts, out_blame));
  *out_blame = (tfrt_run_blame_t){"tls-dir", NULL};
  if (texts->tls.directory && !has_hosts) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--tls-dir goes with --hosts: nothing else leaves this machine");
  }
  *out_blame = (tfrt_run_blame_t){"silence-ms", "heartbeat-ms"};
  if (options->losses.silence_ms < 2 * options->losses.heartbeat_ms) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--silence-ms must be at least two times --heartbeat-ms");
  }
  return NULL;
}

// Flags of models need a model; its hosts are those of the run.
static tfrt_status_t run_options_check_model(tfrt_run_options_t* options) {
  bool is_model = tfrt_model_loader_is_model(options->path);
  if (!is_model && (options->model.split || options->model.shapes.count > 0)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--shape and --split go with a model, FILE.onnx");
  }
  options->model.host_count = 1;
  if (options->local_count > 0) options->model.host_count = options->local_count;
  if (options->in_process_count > 0) options->model.host_count = options->in_process_count;
  return NULL;
}

// Whether the flag |name| is among |arguments|, in any of its forms.
static bool run_options_names(int argument_count, char* const* arguments, const char* name) {
  for (int i = 0; i < argument_count && strcmp(arguments[i], "--") != 0; ++i) {
    size_t dashes = strspn(arguments[i], "-");
    const char* text = arguments[i] + dashes;
    size_t size = strcspn(text, "=");
    if (dashes > 0 && size == strlen(name) && strncmp(text, name, size) == 0) return true;
  }
  return false;
}

// Relative paths in the program start where the program lies.
static void run_options_set_directory(tfrt_run_options_t* options) {
  const char* slash = strrchr(options->path, '/');
  int length = slash == options->path ? 1 : slash ? (int)(slash - options->path) : 0;
  snprintf(options->directory, sizeof(options->directory), "%.*s", length ? length : 1,
           length ? options->path : ".");
}

tfrt_status_t tfrt_run_options_parse(int argument_count, char* const* arguments,
                                     tfrt_run_options_t* out_options, bool* out_help) {
  tfrt_run_texts_t texts = {0};
  tfrt_status_t status =
      run_options_parse_all(argument_count, arguments, out_options, &texts, out_help);
  // Parsing may have stopped at an error in front of -o.
  const char* output = status ? tfrt_flags_last_value(argument_count, arguments, "o") : NULL;
  out_options->is_json = strcmp(output ? output : out_options->output, "json") == 0;
  if (status || *out_help) return status;
  TFRT_RETURN_IF_ERROR(run_options_check_output(out_options));
  TFRT_RETURN_IF_ERROR(run_options_check_top(out_options));
  TFRT_RETURN_IF_ERROR(run_options_check_images(out_options));
  const tfrt_cluster_file_t* file = &out_options->cluster_file;
  tfrt_run_blame_t blame = {0};
  status = run_options_check(out_options, &texts, &blame);
  TFRT_RETURN_IF_ERROR(tfrt_cluster_file_locate_key(file, blame.key, blame.other, argument_count,
                                                    arguments, status));
  run_options_set_directory(out_options);
  // Nobody else uses the workers of --local.
  bool is_chosen = run_options_names(argument_count, arguments, TFRT_RUN_STOP_FLAG) ||
                   tfrt_cluster_file_sets(file, TFRT_RUN_STOP_FLAG);
  if (!is_chosen) out_options->losses.end_run = out_options->local_count > 0;
  TFRT_RETURN_IF_ERROR(run_options_check_model(out_options));
  TFRT_RETURN_IF_ERROR(
      tfrt_cluster_file_locate(file, texts.hostfile,
                               tfrt_host_list_choose(texts.hosts, texts.hostfile,
                                                     &out_options->hostfile, &out_options->hosts)));
  if (out_options->hosts.count > 0) out_options->model.host_count = out_options->hosts.count;
  TFRT_RETURN_IF_ERROR(tfrt_cluster_file_locate(
      file, texts.tls.directory,
      tfrt_tls_files_read(&texts.tls, "client", TFRT_CERTIFICATE_CLIENT, &out_options->tls)));
  if (out_options->local_count > 0) {
    tfrt_cluster_key_generate(&out_options->key);
    return NULL;
  }
  TFRT_RETURN_IF_ERROR(tfrt_cluster_file_locate(
      file, texts.key_file, tfrt_cluster_key_read(texts.key_file, &out_options->key)));
  bool is_safe = out_options->key.size == 0 || out_options->tls.is_given || texts.insecure_network;
  if (is_safe) return NULL;
  return tfrt_network_trust_check_key(out_options->hosts.addresses, out_options->hosts.count);
}
