// SPDX-License-Identifier: Apache-2.0
#include "tools/coordinator/certs_command.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "distributed/security/certificates.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/number_text.h"
#include "tools/command_line/flags.h"
#include "tools/command_line/spoken_protocol.h"
#include "tools/coordinator/run_report.h"
#include "tools/output/json.h"
#include "tools/process/standard_streams.h"

#define TFRT_CERTS_DAY_S (24 * 60 * 60)

// Clocks of hosts may differ: what is made here counts on those that are behind, too.
#define TFRT_CERTS_EARLIER_S (60 * 60)

// An authority outlives what it signs.
#define TFRT_CERTS_AUTHORITY_S (3650LL * TFRT_CERTS_DAY_S)

#define TFRT_CERTS_MAX_VALID_S (3650LL * TFRT_CERTS_DAY_S)

#define TFRT_CERTS_MAX_HOSTS 1024

// The longest name of a file with its NUL.
#define TFRT_CERTS_NAME_SIZE 272

typedef struct tfrt_certs_host_s {
  const char* names[TFRT_CERTIFICATE_MAX_NAMES];
  size_t name_count;
} tfrt_certs_host_t;

typedef struct tfrt_certs_run_s {
  const char* verb;
  const char* directory;
  const char* host_text;
  const char* name_text;  // what renew is to renew, separated by commas; NULL: all
  const char* valid_text;
  const char* output;
  bool is_json;
  int64_t now_s;
  int64_t valid_s;
  char text[131072];  // of |host_text|, cut into names
  tfrt_certs_host_t hosts[TFRT_CERTS_MAX_HOSTS];
  size_t host_count;
  char (*files)[TFRT_CERTS_NAME_SIZE];  // not freed
  size_t file_count;
  size_t file_capacity;
} tfrt_certs_run_t;

static const char tfrt_certs_summary[] =
    "Makes and shows the certificates by which the processes of a cluster know each other.\n"
    "init makes an authority, a certificate for each host, and one for clients; add makes some\n"
    "for more hosts; renew gives those of hosts and clients a later end, with the same keys and\n"
    "names; show says what there is. Only renew replaces files.";

static const char tfrt_certs_footer[] =
    "A host's names are what others dial: --host node1+10.0.0.1,node2 makes node1.pem, good for\n"
    "node1 and 10.0.0.1, and node2.pem. Copy each to a folder of its own machine, ca.pem too:\n"
    "\n"
    "  ca.pem NAME.pem NAME.key       to host NAME, for tfrt_worker --tls-dir\n"
    "  ca.pem client.pem client.key   to machines that run programs, for tfrt run --tls-dir\n"
    "  ca.key                         stays: with it anybody can be let in\n"
    "\n"
    "Processes that run read files again that have changed: so renew, and copy NAME.pem again.\n"
    "Exit codes: see tfrt run --help.\n"
    "\n"
    "  tfrt certs init certs --host node1,node2\n"
    "  node1$ tfrt_worker --listen node1:7000 --tls-dir certs\n"
    "  tfrt run main.mlir --hosts node1:7000,node2:7000 --tls-dir certs\n"
    "  tfrt certs renew certs --name client,node1";

// --- The command line ------------------------------------------------------------

// Reads "90d", "12h", "30m" or "45s".
static tfrt_status_t certs_parse_valid(const char* text, int64_t* out_seconds) {
  const char* unit = text + strspn(text, "0123456789");
  int64_t number = 0;
  int64_t factor = strcmp(unit, "d") == 0   ? TFRT_CERTS_DAY_S
                   : strcmp(unit, "h") == 0 ? 3600
                   : strcmp(unit, "m") == 0 ? 60
                   : strcmp(unit, "s") == 0 ? 1
                                            : 0;
  bool is_number = factor > 0 && tfrt_number_text_parse_i64(
                                     tfrt_string_view_make(text, (size_t)(unit - text)), &number);
  if (is_number && number >= 1 && number <= TFRT_CERTS_MAX_VALID_S / factor) {
    *out_seconds = number * factor;
    return NULL;
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "--valid %s: write a number with d, h, m or s, at most 3650d", text);
}

static tfrt_certificate_request_t certs_request(const tfrt_certs_run_t* run,
                                                tfrt_certificate_role_t role,
                                                const char* const* names, size_t count) {
  return (tfrt_certificate_request_t){
      .role = role,
      .names = names,
      .name_count = count,
      .validity = {run->now_s - TFRT_CERTS_EARLIER_S, run->now_s + run->valid_s}};
}

// Cuts one host, "a+b", into its names.
static tfrt_status_t certs_parse_host(tfrt_certs_run_t* run, char* text) {
  if (run->host_count == TFRT_CERTS_MAX_HOSTS) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--host: at most %d hosts at once",
                              TFRT_CERTS_MAX_HOSTS);
  }
  tfrt_certs_host_t* host = &run->hosts[run->host_count++];
  for (char* name; (name = strsep(&text, "+"));) {
    if (host->name_count == TFRT_CERTIFICATE_MAX_NAMES) {
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--host: a host has at most %d names",
                                TFRT_CERTIFICATE_MAX_NAMES);
    }
    host->names[host->name_count++] = name;
  }
  tfrt_certificate_request_t request =
      certs_request(run, TFRT_CERTIFICATE_HOST, host->names, host->name_count);
  tfrt_status_t status = tfrt_certificates_check_request(&request);
  return status ? tfrt_status_take_annotate(status, "--host") : NULL;
}

// Each host has files of its own, which its first name names.
static tfrt_status_t certs_check_distinct(const tfrt_certs_run_t* run) {
  for (size_t i = 1; i < run->host_count; ++i) {
    const char* name = run->hosts[i].names[0];
    for (size_t j = 0; j < i; ++j) {
      if (strcmp(run->hosts[j].names[0], name) != 0) continue;
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "--host: '%s' stands twice; name each host once", name);
    }
  }
  return NULL;
}

static tfrt_status_t certs_parse_hosts(tfrt_certs_run_t* run) {
  if (strlen(run->host_text) >= sizeof(run->text)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--host: too many names at once");
  }
  strcpy(run->text, run->host_text);
  char* rest = run->text;
  for (char* host; (host = strsep(&rest, ","));) {
    TFRT_RETURN_IF_ERROR(certs_parse_host(run, host));
  }
  return certs_check_distinct(run);
}

static bool certs_is_verb(const char* verb) {
  static const char* const verbs[] = {"init", "add", "renew", "show"};
  for (size_t i = 0; i < TFRT_ARRAY_SIZE(verbs); ++i) {
    if (strcmp(verb, verbs[i]) == 0) return true;
  }
  return false;
}

static tfrt_status_t certs_parse_output(tfrt_certs_run_t* run) {
  if (!run->is_json && strcmp(run->output, "text") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "-o %s: there are text and json",
                              run->output);
  }
  if (!run->is_json || strcmp(run->verb, "show") == 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "-o json goes with tfrt certs show");
}

static tfrt_status_t certs_parse(tfrt_certs_run_t* run, int argument_count, char* const* arguments,
                                 bool* out_help) {
  const tfrt_flag_t flags[] = {
      {"host", TFRT_FLAG_TEXT, &run->host_text, "A+B,C",
       "hosts, each with the names that others dial (default for init: 127.0.0.1+localhost)", 0, 0},
      {"name", TFRT_FLAG_TEXT, &run->name_text, "NAME,NAME",
       "what renew renews: the names of files without .pem (default: all hosts' and clients')", 0,
       0},
      {"valid", TFRT_FLAG_TEXT, &run->valid_text, "TIME",
       "how long hosts' and clients' count: 365d (default), 12h, 30m; an authority counts 3650d", 0,
       0},
      {"o", TFRT_FLAG_TEXT, &run->output, "FORMAT", "what show prints: text (default) or json", 0,
       0},
  };
  const tfrt_flag_table_t table = {.usage = "tfrt certs init|add|renew|show DIR [FLAGS]",
                                   .summary = tfrt_certs_summary,
                                   .footer = tfrt_certs_footer,
                                   .flags = flags,
                                   .flag_count = TFRT_ARRAY_SIZE(flags),
                                   .protocol = TFRT_SPOKEN_PROTOCOL};
  tfrt_flag_list_t rest;
  tfrt_status_t status = tfrt_flags_parse(&table, argument_count, arguments, &rest, out_help);
  // Parsing may have stopped at an error in front of -o.
  const char* output = status ? tfrt_flags_last_value(argument_count, arguments, "o") : NULL;
  run->is_json = strcmp(output ? output : run->output, "json") == 0;
  if (status || *out_help) return status;
  if (rest.count != 2 || !certs_is_verb(rest.values[0]) || rest.values[1][0] == '\0') {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "say what to do and in which folder: tfrt certs init|add|renew|show DIR");
  }
  run->verb = rest.values[0];
  run->directory = rest.values[1];
  TFRT_RETURN_IF_ERROR(certs_parse_output(run));
  TFRT_RETURN_IF_ERROR(certs_parse_valid(run->valid_text, &run->valid_s));
  if (run->name_text && strcmp(run->verb, "renew") != 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--name goes with tfrt certs renew");
  }
  if (run->host_text && strcmp(run->verb, "renew") == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "renew keeps the names of hosts: --name says which to renew");
  }
  if (strcmp(run->verb, "init") == 0 && !run->host_text) run->host_text = "127.0.0.1+localhost";
  if (run->host_text) return certs_parse_hosts(run);
  if (strcmp(run->verb, "add") != 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "add wants --host NAME,NAME");
}

// --- Making ------------------------------------------------------------------------

// Before the first file is made: a name that is taken makes nothing of the others, either.
static tfrt_status_t certs_check_absent(const tfrt_certs_run_t* run) {
  for (size_t i = 0; i < run->host_count; ++i) {
    TFRT_RETURN_IF_ERROR(tfrt_certificates_check_absent(run->directory, run->hosts[i].names[0]));
  }
  return NULL;
}

static tfrt_status_t certs_issue_hosts(const tfrt_certs_run_t* run) {
  for (size_t i = 0; i < run->host_count; ++i) {
    const tfrt_certs_host_t* host = &run->hosts[i];
    tfrt_certificate_request_t request =
        certs_request(run, TFRT_CERTIFICATE_HOST, host->names, host->name_count);
    TFRT_RETURN_IF_ERROR(tfrt_certificates_issue(run->directory, &request));
    printf("%s: copy ca.pem, %s.pem and %s.key to host %s, for tfrt_worker --tls-dir\n",
           run->directory, host->names[0], host->names[0], host->names[0]);
  }
  return NULL;
}

static tfrt_status_t certs_add(const tfrt_certs_run_t* run) {
  TFRT_RETURN_IF_ERROR(certs_check_absent(run));
  return certs_issue_hosts(run);
}

static tfrt_status_t certs_init(const tfrt_certs_run_t* run) {
  const tfrt_certificate_validity_t validity = {run->now_s - TFRT_CERTS_EARLIER_S,
                                                run->now_s + TFRT_CERTS_AUTHORITY_S};
  const char* name = "client";
  TFRT_RETURN_IF_ERROR(tfrt_certificates_check_absent(run->directory, "ca"));
  TFRT_RETURN_IF_ERROR(tfrt_certificates_check_absent(run->directory, name));
  TFRT_RETURN_IF_ERROR(certs_check_absent(run));
  TFRT_RETURN_IF_ERROR(tfrt_certificates_create_authority(run->directory, validity));
  tfrt_certificate_request_t client = certs_request(run, TFRT_CERTIFICATE_CLIENT, &name, 1);
  TFRT_RETURN_IF_ERROR(tfrt_certificates_issue(run->directory, &client));
  TFRT_RETURN_IF_ERROR(certs_issue_hosts(run));
  printf(
      "%s: copy ca.pem, client.pem and client.key to machines that run programs, for tfrt "
      "--tls-dir\n",
      run->directory);
  printf("%s: keep ca.key: with it anybody can be let in; `tfrt certs add` and `renew` need it\n",
         run->directory);
  return NULL;
}

// --- Showing -----------------------------------------------------------------------

static bool certs_is_certificate(const char* name) {
  size_t size = strlen(name);
  return size > 4 && size < TFRT_CERTS_NAME_SIZE && strcmp(name + size - 4, ".pem") == 0;
}

static int certs_compare(const void* a, const void* b) { return strcmp(a, b); }

static tfrt_status_t certs_add_file(tfrt_certs_run_t* run, const char* name) {
  const size_t size = sizeof(*run->files);
  if (run->file_count == run->file_capacity) {
    size_t capacity = run->file_capacity > 0 ? 2 * run->file_capacity : 64;
    void* files = tfrt_allocator_reallocate(tfrt_allocator_system(), run->files,
                                            run->file_capacity * size, capacity * size);
    if (!files) return tfrt_status_out_of_memory();
    run->files = files;
    run->file_capacity = capacity;
  }
  strcpy(run->files[run->file_count++], name);
  return NULL;
}

// Fills |run|'s list of files, in their order.
static tfrt_status_t certs_list(tfrt_certs_run_t* run) {
  DIR* directory = opendir(run->directory);
  if (!directory) {
    tfrt_status_code_t code = errno == EACCES    ? TFRT_STATUS_PERMISSION_DENIED
                              : errno == ENOTDIR ? TFRT_STATUS_INVALID_ARGUMENT
                                                 : TFRT_STATUS_NOT_FOUND;
    return tfrt_status_create(code, "%s: %s", run->directory, strerror(errno));
  }
  tfrt_status_t status = NULL;
  for (struct dirent* entry; !status && (entry = readdir(directory));) {
    if (certs_is_certificate(entry->d_name)) status = certs_add_file(run, entry->d_name);
  }
  closedir(directory);
  if (status) return status;
  qsort(run->files, run->file_count, sizeof(run->files[0]), certs_compare);
  if (run->file_count > 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_NOT_FOUND,
                            "%s: no certificate is here; `tfrt certs init` makes some",
                            run->directory);
}

static void certs_append_member(tfrt_string_builder_t* out, const char* name, const char* text) {
  tfrt_string_builder_append_format(out, ",\"%s\":", name);
  tfrt_json_append_string(out, tfrt_string_view_of(text));
}

// Appends the certificate in |path|, whose file is |name|, as an object.
static tfrt_status_t certs_append_json(const char* path, const char* name, int64_t now_s,
                                       tfrt_string_builder_t* out) {
  tfrt_certificate_description_t description;
  TFRT_RETURN_IF_ERROR(tfrt_certificate_description_read(path, now_s, &description));
  tfrt_string_builder_append_text(out, "{\"file\":");
  tfrt_json_append_string(out, tfrt_string_view_of(name));
  certs_append_member(out, "kind", description.kind);
  tfrt_string_builder_append_text(out, ",\"names\":[");
  tfrt_string_view_t names = tfrt_string_builder_view(&description.names);
  for (size_t i = 0; i < names.size; i += strlen(names.data + i) + 1) {
    if (i > 0) tfrt_string_builder_append_char(out, ',');
    tfrt_json_append_string(out, tfrt_string_view_of(names.data + i));
  }
  tfrt_string_builder_append_char(out, ']');
  certs_append_member(out, "issuer", tfrt_string_builder_text(&description.issuer));
  char until[TFRT_NUMBER_TEXT_DATE_SIZE];
  tfrt_number_text_date(description.ends_s, 'T', until);
  strcat(until, "Z");
  certs_append_member(out, "until", until);
  tfrt_string_builder_append_format(out, ",\"expired\":%s}",
                                    description.is_over ? "true" : "false");
  tfrt_certificate_description_deinitialize(&description);
  return NULL;
}

// The same for one that can't be read because of |status|.
static void certs_append_json_error(const char* name, tfrt_status_t status,
                                    tfrt_string_builder_t* out) {
  tfrt_string_builder_append_text(out, "{\"file\":");
  tfrt_json_append_string(out, tfrt_string_view_of(name));
  certs_append_member(out, "error", tfrt_status_message(status));
  tfrt_string_builder_append_char(out, '}');
}

static tfrt_status_t certs_show_one(const tfrt_certs_run_t* run, const char* name,
                                    tfrt_string_builder_t* out) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", run->directory, name);
  if (run->is_json) return certs_append_json(path, name, run->now_s, out);
  tfrt_string_builder_append_format(out, "%s: ", name);
  TFRT_RETURN_IF_ERROR(tfrt_certificates_describe(path, run->now_s, out));
  tfrt_string_builder_append_char(out, '\n');
  return NULL;
}

// Shows all files that can be read. Reports an error for each other file; the caller reports the
// last one.
static tfrt_status_t certs_show_all(const tfrt_certs_run_t* run) {
  tfrt_status_t last = NULL;
  const char* separator = "";
  for (size_t i = 0; i < run->file_count; ++i) {
    tfrt_string_builder_t line;
    tfrt_string_builder_initialize(&line, tfrt_allocator_system());
    tfrt_status_t status = certs_show_one(run, run->files[i], &line);
    if (status && run->is_json) certs_append_json_error(run->files[i], status, &line);
    if (!status || run->is_json) printf("%s%s", separator, tfrt_string_builder_text(&line));
    if (run->is_json) separator = ",";
    if (status && last) {
      tfrt_run_report_error(last);
      tfrt_status_release(last);
    }
    if (status) last = status;
    tfrt_string_builder_deinitialize(&line);
  }
  return last;
}

static tfrt_status_t certs_show(tfrt_certs_run_t* run) {
  TFRT_RETURN_IF_ERROR(certs_list(run));
  if (!run->is_json) return certs_show_all(run);
  putchar('[');
  tfrt_status_t status = certs_show_all(run);
  puts("]");
  return status;
}

// --- Renewing ----------------------------------------------------------------------

static bool certs_has_file(const tfrt_certs_run_t* run, const char* name) {
  for (size_t i = 0; i < run->file_count; ++i) {
    if (strncmp(run->files[i], name, strlen(name)) == 0 &&
        strcmp(run->files[i] + strlen(name), ".pem") == 0) {
      return true;
    }
  }
  return false;
}

// Renews |name|, or makes the client's anew where its files were moved away.
static tfrt_status_t certs_renew_one(const tfrt_certs_run_t* run, const char* name) {
  const char* client = "client";
  tfrt_certificate_request_t request = certs_request(run, TFRT_CERTIFICATE_CLIENT, &client, 1);
  bool is_new = strcmp(name, client) == 0 && !certs_has_file(run, client);
  TFRT_RETURN_IF_ERROR(is_new ? tfrt_certificates_issue(run->directory, &request)
                              : tfrt_certificates_renew(run->directory, name, request.validity));
  printf(is_new ? "%s: made %s.pem and %s.key; copy both\n"
                : "%s: renewed %s.pem; copy it in place of the old one, %s.key stays as it is\n",
         run->directory, name, name);
  return NULL;
}

// Renews the files of |run|'s list that are hosts' or clients'.
static tfrt_status_t certs_renew_all(const tfrt_certs_run_t* run) {
  for (size_t i = 0; i < run->file_count; ++i) {
    char name[TFRT_CERTS_NAME_SIZE];
    snprintf(name, sizeof(name), "%.*s", (int)(strlen(run->files[i]) - 4), run->files[i]);
    if (strcmp(name, "ca") == 0) continue;
    TFRT_RETURN_IF_ERROR(certs_renew_one(run, name));
  }
  return NULL;
}

static tfrt_status_t certs_renew(tfrt_certs_run_t* run) {
  TFRT_RETURN_IF_ERROR(certs_list(run));
  if (!run->name_text) return certs_renew_all(run);
  if (strlen(run->name_text) >= sizeof(run->text)) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "--name: too many names at once");
  }
  strcpy(run->text, run->name_text);
  char* rest = run->text;
  for (char* name; (name = strsep(&rest, ","));) {
    TFRT_RETURN_IF_ERROR(certs_renew_one(run, name));
  }
  return NULL;
}

// --- The verb ----------------------------------------------------------------------

tfrt_exit_code_t tfrt_certs_command(int argument_count, char* const* arguments) {
  static tfrt_certs_run_t run = {.valid_text = "365d", .output = "text"};
  run.now_s = (int64_t)time(NULL);
  bool help = false;
  tfrt_status_t status = certs_parse(&run, argument_count, arguments, &help);
  if (!status && !help) {
    bool is_init = strcmp(run.verb, "init") == 0;
    bool is_show = strcmp(run.verb, "show") == 0;
    bool is_renew = strcmp(run.verb, "renew") == 0;
    status = is_init    ? certs_init(&run)
             : is_show  ? certs_show(&run)
             : is_renew ? certs_renew(&run)
                        : certs_add(&run);
  }
  if (!status) status = tfrt_standard_streams_flush();
  if (!status) return TFRT_EXIT_SUCCESS;
  // Where files were found, the standard output has a list of them.
  tfrt_run_report_failure(status, run.is_json && run.file_count == 0);
  tfrt_status_release(status);
  return TFRT_EXIT_USAGE;
}
