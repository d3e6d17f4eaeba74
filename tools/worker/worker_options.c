// SPDX-License-Identifier: Apache-2.0
#include "tools/worker/worker_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "host_runtime/base/plural.h"
#include "tools/cluster/cluster_file.h"
#include "tools/cluster/host_process.h"
#include "tools/cluster/hostfile.h"
#include "tools/command_line/flags.h"
#include "tools/command_line/spoken_protocol.h"
#include "tools/kernels/device_platforms.h"
#include "tools/kernels/shared_libraries.h"
#include "tools/process/memory_limit.h"

// An hour: a peer that is silent for longer is of no use to anybody.
#define TFRT_WORKER_MAX_SILENCE_MS (60 * 60 * 1000)

// The values that flags set. Texts that stand for other values still have to be checked.
static struct {
  tfrt_worker_options_t options;
  const char* listen;
  const char* hostfile;
  const char* cluster;
  const char* hosts;  // of the file of --cluster
  int64_t rank;       // -1: not given
  const char* cluster_key_file;
  tfrt_tls_flags_t tls;
  const char* log_level;
  const char* log_format;
  const char* shared_libs;
  const char* device_libs;
  bool insecure_network;
} tfrt_worker_raw;

static const char tfrt_worker_summary[] =
    "Takes part in clusters: runs functions of programs for `tfrt run --hosts ...`, together\n"
    "with other workers, one job after the other or several at once, until it is stopped.\n"
    "When it listens, it prints one line: `tfrt_worker: listening on 127.0.0.1:43121`.";

static const char tfrt_worker_footer[] =
    "Signals: SIGTERM or SIGINT takes no more jobs, lets those that run finish, for at most\n"
    "--drain-timeout-ms, and ends. A second one cancels them and ends at once.\n"
    "\n"
    "Exit codes: 0 it was stopped; 1 the system refused something (the port is in use, there is\n"
    "no descriptor for connections), or kernels still ran at the end; 2 wrong flags, or a file\n"
    "that a flag names; 9 as 0, and --check_races had found a race.\n"
    "\n"
    "Three workers on this machine and a program on them:\n"
    "  tfrt_worker --listen=127.0.0.1:4001 &\n"
    "  tfrt_worker --listen=127.0.0.1:4002 &\n"
    "  tfrt_worker --listen=127.0.0.1:4003 &\n"
    "  tfrt run --hosts 127.0.0.1:4001,127.0.0.1:4002,127.0.0.1:4003 program.mlir\n"
    "\n"
    "One that other machines can reach (`tfrt certs --help` says where the files come from):\n"
    "  tfrt_worker --listen=10.0.0.1:4001 --tls-dir=/etc/tfrt";

static const tfrt_flag_t tfrt_worker_flags[] = {
    {"listen", TFRT_FLAG_TEXT, &tfrt_worker_raw.listen, "HOST:PORT",
     "or unix:/path; port 0: a free one (default 127.0.0.1:0)", 0, 0},
    {"hostfile", TFRT_FLAG_PATH, &tfrt_worker_raw.hostfile, "FILE",
     "listen at the address of --rank in it: see tfrt run --hostfile", 0, 0},
    {"cluster", TFRT_FLAG_PATH, &tfrt_worker_raw.cluster, "FILE",
     "the same of a YAML file, with other flags: see docs/hosts.md", 0, 0},
    {"rank", TFRT_FLAG_NUMBER, &tfrt_worker_raw.rank, "N",
     "which worker of --hostfile or --cluster, from 0", 0, TFRT_HOSTFILE_MAX_HOSTS - 1},
    {"name", TFRT_FLAG_TEXT, &tfrt_worker_raw.options.name, "NAME",
     "what others call this worker (default: host name and port)", 0, 0},
    {"cluster-key-file", TFRT_FLAG_PATH, &tfrt_worker_raw.cluster_key_file, "FILE",
     "the secret of the cluster is its first line (default: $" TFRT_CLUSTER_KEY_VARIABLE ")", 0, 0},
    {"tls-dir", TFRT_FLAG_PATH, &tfrt_worker_raw.tls.directory, "DIR", TFRT_TLS_DIRECTORY_HELP, 0,
     0},
    {"tls-name", TFRT_FLAG_TEXT, &tfrt_worker_raw.tls.name, "NAME",
     TFRT_TLS_NAME_HELP " (default: the host of --listen)", 0, 0},
    {"threads", TFRT_FLAG_NUMBER, &tfrt_worker_raw.options.threads, "N",
     "compute threads (default: one per processor)", 1, 1024},
    {"data-directory", TFRT_FLAG_PATH, &tfrt_worker_raw.options.data_directory, "DIR",
     "where files lie that programs name (default: here)", 0, 0},
    {TFRT_SHARED_LIBRARIES_FLAG, TFRT_FLAG_TEXT, &tfrt_worker_raw.shared_libs,
     TFRT_SHARED_LIBRARIES_VALUE, TFRT_SHARED_LIBRARIES_HELP, 0, 0},
    {TFRT_DEVICE_LIBRARIES_FLAG, TFRT_FLAG_TEXT, &tfrt_worker_raw.device_libs,
     TFRT_DEVICE_LIBRARIES_VALUE, TFRT_DEVICE_LIBRARIES_HELP, 0, 0},
    {"check_types", TFRT_FLAG_BOOL, &tfrt_worker_raw.options.checks_types, NULL,
     "check the types of all arguments and results of kernels", 0, 0},
    {"check_races", TFRT_FLAG_BOOL, &tfrt_worker_raw.options.checks_races, NULL,
     "log kernels whose accesses of the same memory no chain orders", 0, 0},
    {"lend-memory", TFRT_FLAG_BOOL, &tfrt_worker_raw.options.lends_memory, NULL,
     "lend memory of GPUs to other workers of this machine and user, and borrow theirs, instead of "
     "sending tensors (default)",
     0, 0},
    {"log-level", TFRT_FLAG_TEXT, &tfrt_worker_raw.log_level, "LEVEL",
     "debug, info (default), warning, error or silent", 0, 0},
    {"log-format", TFRT_FLAG_TEXT, &tfrt_worker_raw.log_format, "FORMAT",
     "text (default) or json, on the standard error", 0, 0},
    {"pid-file", TFRT_FLAG_PATH, &tfrt_worker_raw.options.pid_file, "FILE",
     "written when the worker listens: its process number", 0, 0},
    {"ready-file", TFRT_FLAG_PATH, &tfrt_worker_raw.options.ready_file, "FILE",
     "written when the worker listens: its address", 0, 0},
    {"drain-timeout-ms", TFRT_FLAG_NUMBER, &tfrt_worker_raw.options.drain_timeout_ms, "MS",
     "how long jobs may go on after SIGTERM (default 30000)", 0, INT32_MAX},
    {"heartbeat-ms", TFRT_FLAG_NUMBER, &tfrt_worker_raw.options.heartbeat_ms, "MS",
     "how often to show that it lives (default 1000)", 1, TFRT_WORKER_MAX_SILENCE_MS},
    {"silence-ms", TFRT_FLAG_NUMBER, &tfrt_worker_raw.options.silence_ms, "MS",
     "silence after which others are lost (default 5000)", 2, TFRT_WORKER_MAX_SILENCE_MS},
    {"job-calls", TFRT_FLAG_NUMBER, &tfrt_worker_raw.options.job_calls, "N",
     "calls for others that a job may run here at once, and calls of others that it may make; a "
     "loop waits at half of those (default 1048576, or one for each 8 KiB of memory)",
     1, INT32_MAX},
    {"job-objects", TFRT_FLAG_NUMBER, &tfrt_worker_raw.options.job_objects, "N",
     "values that a job may share here with other hosts (default: no limit)", 1, INT32_MAX},
    {"job-requests", TFRT_FLAG_NUMBER, &tfrt_worker_raw.options.job_requests, "N",
     "starts that a job may run here at once (default: no limit)", 1, INT32_MAX},
    {"job-memory", TFRT_FLAG_NUMBER, &tfrt_worker_raw.options.job_memory, "BYTES",
     "of values that a job may fetch from other hosts, and of records of its calls (default: no "
     "limit)",
     1, INT64_MAX},
    {"stop-with-stdin", TFRT_FLAG_BOOL, &tfrt_worker_raw.options.stops_with_stdin, NULL,
     "end at once when the standard input, a pipe, ends", 0, 0},
    {"insecure-network", TFRT_FLAG_BOOL, &tfrt_worker_raw.insecure_network, NULL,
     "listen for other machines although nothing is encrypted", 0, 0},
};

static const tfrt_flag_table_t tfrt_worker_flag_table = {
    .usage = "tfrt_worker [FLAGS]",
    .summary = tfrt_worker_summary,
    .footer = tfrt_worker_footer,
    .flags = tfrt_worker_flags,
    .flag_count = TFRT_ARRAY_SIZE(tfrt_worker_flags),
    .protocol = TFRT_SPOKEN_PROTOCOL};

static void worker_options_initialize(void) {
  memset(&tfrt_worker_raw, 0, sizeof(tfrt_worker_raw));
  tfrt_worker_raw.rank = -1;
  tfrt_worker_raw.log_level = "info";
  tfrt_worker_raw.log_format = "text";
  tfrt_worker_raw.options.drain_timeout_ms = TFRT_WORKER_DRAIN_TIMEOUT_MS;
  tfrt_worker_raw.options.lends_memory = true;
  tfrt_worker_raw.options.heartbeat_ms = TFRT_HOST_PROCESS_HEARTBEAT_MS;
  tfrt_worker_raw.options.silence_ms = TFRT_HOST_PROCESS_SILENCE_MS;
  tfrt_worker_raw.options.job_calls = tfrt_memory_limit_calls();
}

static tfrt_status_t worker_options_parse_flags(int argument_count, char* const* arguments,
                                                bool* out_help) {
  tfrt_flag_list_t rest;
  TFRT_RETURN_IF_ERROR(
      tfrt_flags_parse(&tfrt_worker_flag_table, argument_count, arguments, &rest, out_help));
  if (*out_help || rest.count == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "'%s' is no flag, and a worker takes nothing else; programs come from "
                            "`tfrt run`; --help says more",
                            rest.values[0]);
}

static tfrt_cluster_file_t tfrt_worker_file;  // of --cluster; texts point into it

// The error |status| (consumed) about the value |text| of a flag, with its place in the file.
static tfrt_status_t worker_options_locate(const char* text, tfrt_status_t status) {
  return tfrt_cluster_file_locate(&tfrt_worker_file, text, status);
}

// Before the other flags: what the file of --cluster says, but for where its hosts are dialled from
// and what --listen and --hostfile of the command line exclude.
static tfrt_status_t worker_options_take_file(void) {
  static tfrt_flag_t flags[TFRT_ARRAY_SIZE(tfrt_worker_flags) + 1];
  const char* path = tfrt_worker_raw.cluster;
  bool has_place = tfrt_worker_raw.listen || tfrt_worker_raw.hostfile;
  memcpy(flags, tfrt_worker_flags, sizeof(tfrt_worker_flags));
  flags[TFRT_ARRAY_SIZE(tfrt_worker_flags)] =
      (tfrt_flag_t){"hosts", TFRT_FLAG_TEXT, &tfrt_worker_raw.hosts, "A:P,B:P", "", 0, 0};
  const tfrt_flag_table_t table = {.flags = flags, .flag_count = TFRT_ARRAY_SIZE(flags)};
  worker_options_initialize();
  tfrt_status_t status = tfrt_cluster_file_load(path, &tfrt_worker_file);
  if (!status) status = tfrt_cluster_file_apply(&tfrt_worker_file, &table);
  if (status) return tfrt_status_take_annotate(status, "--cluster");
  // The name of a client.
  tfrt_worker_raw.tls.name = NULL;
  if (has_place) tfrt_worker_raw.hosts = tfrt_worker_raw.hostfile = NULL;
  return NULL;
}

// Listens at entry --rank of the hosts of --cluster.
static tfrt_status_t worker_options_choose_entry(void) {
  static char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  const char* entry = tfrt_worker_raw.hosts;
  long long last = 0;
  for (const char* comma = entry; (comma = strchr(comma, ',')); ++comma) ++last;
  if (tfrt_worker_raw.rank < 0 || tfrt_worker_raw.rank > last) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--cluster %s names workers 0 to %lld: say which one this is, --rank",
                              tfrt_worker_raw.cluster, last);
  }
  for (int64_t i = 0; i < tfrt_worker_raw.rank; ++i) entry = strchr(entry, ',') + 1;
  snprintf(address, sizeof(address), "%.*s", (int)strcspn(entry, ","), entry);
  tfrt_worker_raw.listen = address;
  return NULL;
}

// Chooses where to listen: --listen, a line of --hostfile or --cluster, or any free port of this
// machine.
static tfrt_status_t worker_options_choose_listen(void) {
  static tfrt_hostfile_t hostfile;
  const char* path = tfrt_worker_raw.hostfile;
  if (tfrt_worker_raw.hosts && path) {
    tfrt_status_t status = tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT, "hosts and hostfile both name the workers: give one of them");
    return worker_options_locate(path, status);
  }
  if (tfrt_worker_raw.hosts) return worker_options_choose_entry();
  if (tfrt_worker_raw.cluster && !path && tfrt_worker_raw.rank >= 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--rank %lld: %s names no workers: write them under hosts: there, or "
                              "leave out --rank",
                              (long long)tfrt_worker_raw.rank, tfrt_worker_raw.cluster);
  }
  if ((path != NULL) != (tfrt_worker_raw.rank >= 0)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--hostfile and --rank go together: which worker of which file");
  }
  if (path && tfrt_worker_raw.listen) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--listen and --hostfile both say where to listen: give one of them");
  }
  if (!tfrt_worker_raw.listen) tfrt_worker_raw.listen = "127.0.0.1:0";
  if (!path) return NULL;
  tfrt_status_t status = tfrt_hostfile_read(path, &hostfile);
  if (status) {
    return worker_options_locate(path, tfrt_status_take_annotate(status, "--hostfile"));
  }
  if (tfrt_worker_raw.rank >= hostfile.count) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--rank %lld: %s names %u worker%s, ranks 0 to %u",
                              (long long)tfrt_worker_raw.rank, path, hostfile.count,
                              tfrt_plural(hostfile.count), hostfile.count - 1);
  }
  tfrt_worker_raw.listen = hostfile.addresses[tfrt_worker_raw.rank];
  return NULL;
}

static tfrt_status_t worker_options_check_listen(tfrt_listen_address_t* out_listen) {
  const char* text = tfrt_worker_raw.listen;
  tfrt_status_t status = tfrt_listen_address_judge(text, out_listen);
  if (status) return tfrt_status_take_annotate(status, "--listen");
  bool is_safe = out_listen->is_local || tfrt_worker_raw.tls.directory;
  if (is_safe || tfrt_worker_raw.insecure_network) return NULL;
  return tfrt_status_create(
      TFRT_STATUS_INVALID_ARGUMENT,
      "--listen %s: other machines can reach this address, and nothing is encrypted: anybody on "
      "the network reads all data and the cluster key, and can run programs here; add --tls-dir "
      "(`tfrt certs init` makes the files), or listen on 127.0.0.1, or, where each machine of the "
      "network is trusted, add --insecure-network",
      text);
}

// The certificate's name is, by default, what others dial: the host of --listen.
static tfrt_status_t worker_options_check_tls(tfrt_tls_files_t* out_files) {
  char host[TFRT_TRANSPORT_ADDRESS_SIZE];
  tfrt_listen_address_host(tfrt_worker_raw.listen, host);
  return worker_options_locate(
      tfrt_worker_raw.tls.directory,
      tfrt_tls_files_read(&tfrt_worker_raw.tls, host, TFRT_CERTIFICATE_HOST, out_files));
}

static tfrt_status_t worker_options_check_name(const char* name) {
  size_t size = name ? strlen(name) : 1;
  bool is_text = true;
  for (const char* c = name; c && *c; ++c) is_text = is_text && *c >= ' ' && *c <= '~';
  if (is_text && size > 0 && size <= TFRT_WORKER_MAX_NAME_SIZE) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--name wants 1 to %d printable ASCII characters",
                            TFRT_WORKER_MAX_NAME_SIZE);
}

static tfrt_status_t worker_options_check_directory(const char* path) {
  struct stat found;
  if (!path) return NULL;
  if (stat(path, &found) != 0) {
    return tfrt_status_create(TFRT_STATUS_NOT_FOUND, "--data-directory %s: %s", path,
                              strerror(errno));
  }
  if (S_ISDIR(found.st_mode)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--data-directory %s: this is a file; name the folder that it lies in",
                            path);
}

static tfrt_status_t worker_options_check_log_level(tfrt_log_severity_t* out_level) {
  if (tfrt_log_severity_parse(tfrt_worker_raw.log_level, out_level)) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--log-level wants debug, info, warning, error or silent, not '%s'",
                            tfrt_worker_raw.log_level);
}

static tfrt_status_t worker_options_check_log_format(tfrt_log_format_t* out_format) {
  const char* format = tfrt_worker_raw.log_format;
  bool is_json = strcmp(format, "json") == 0;
  if (!is_json && strcmp(format, "text") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "--log-format wants text or json, not '%s'", format);
  }
  *out_format = is_json ? TFRT_LOG_FORMAT_JSON : TFRT_LOG_FORMAT_TEXT;
  return NULL;
}

static tfrt_status_t worker_options_check_silence(const tfrt_worker_options_t* options,
                                                  int argument_count, char* const* arguments) {
  if (options->silence_ms >= 2 * options->heartbeat_ms) return NULL;
  tfrt_status_t status =
      tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                         "--silence-ms %lld is less than two times --heartbeat-ms %lld: all "
                         "others would seem dead",
                         (long long)options->silence_ms, (long long)options->heartbeat_ms);
  return tfrt_cluster_file_locate_key(&tfrt_worker_file, "silence-ms", "heartbeat-ms",
                                      argument_count, arguments, status);
}

static tfrt_status_t worker_options_check(tfrt_worker_options_t* options) {
  TFRT_RETURN_IF_ERROR(worker_options_choose_listen());
  // Where the file names the workers, the address is of there.
  TFRT_RETURN_IF_ERROR(
      worker_options_locate(tfrt_worker_raw.hosts, worker_options_check_listen(&options->listen)));
  TFRT_RETURN_IF_ERROR(worker_options_check_tls(&options->tls));
  TFRT_RETURN_IF_ERROR(worker_options_check_name(options->name));
  TFRT_RETURN_IF_ERROR(worker_options_locate(
      options->data_directory, worker_options_check_directory(options->data_directory)));
  TFRT_RETURN_IF_ERROR(worker_options_locate(tfrt_worker_raw.log_level,
                                             worker_options_check_log_level(&options->log_level)));
  TFRT_RETURN_IF_ERROR(worker_options_locate(
      tfrt_worker_raw.log_format, worker_options_check_log_format(&options->log_format)));
  TFRT_RETURN_IF_ERROR(worker_options_locate(
      tfrt_worker_raw.device_libs, tfrt_device_platforms_load(tfrt_worker_raw.device_libs)));
  TFRT_RETURN_IF_ERROR(worker_options_locate(
      tfrt_worker_raw.shared_libs, tfrt_shared_libraries_load(tfrt_worker_raw.shared_libs)));
  const char* key_file = tfrt_worker_raw.cluster_key_file;
  tfrt_status_t status = tfrt_cluster_key_read(key_file, &options->cluster_key);
  if (!status || !key_file) return status;
  return worker_options_locate(key_file, tfrt_status_take_annotate(status, "--cluster-key-file"));
}

tfrt_status_t tfrt_worker_options_parse(int argument_count, char* const* arguments,
                                        tfrt_worker_options_t* out_options, bool* out_help) {
  worker_options_initialize();
  tfrt_status_t status = worker_options_parse_flags(argument_count, arguments, out_help);
  if (!status && !*out_help && tfrt_worker_raw.cluster) {
    status = worker_options_take_file();
    // The command line goes before the file.
    if (!status) {
      status = worker_options_parse_flags(argument_count, arguments, out_help);
    }
  }
  *out_options = tfrt_worker_raw.options;
  if (status || *out_help) return status;
  TFRT_RETURN_IF_ERROR(worker_options_check_silence(out_options, argument_count, arguments));
  return worker_options_check(out_options);
}
