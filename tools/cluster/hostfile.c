// SPDX-License-Identifier: Apache-2.0
#include "tools/cluster/hostfile.h"

#include <stdio.h>
#include <string.h>

#include "host_runtime/base/file.h"

// One line on its way.
typedef struct tfrt_hostfile_line_s {
  const char* path;
  uint32_t number;
  tfrt_string_view_t address;
  uint32_t slots;
} tfrt_hostfile_line_t;

// Far more than the lines of all hosts that a cluster may have.
#define TFRT_HOSTFILE_MAX_SIZE ((size_t)4 * 1024 * 1024)

#define TFRT_HOSTFILE_ERROR(line, format, ...)                                                     \
  tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT, "%s:%u: " format, (line)->path, (line)->number, \
                     __VA_ARGS__)

static bool hostfile_is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

// Takes the next word off |*rest|; empty at its end.
static tfrt_string_view_t hostfile_cut_word(tfrt_string_view_t* rest) {
  size_t begin = 0;
  while (begin < rest->size && hostfile_is_blank(rest->data[begin])) ++begin;
  size_t end = begin;
  while (end < rest->size && !hostfile_is_blank(rest->data[end])) ++end;
  tfrt_string_view_t word = tfrt_string_view_make(rest->data + begin, end - begin);
  *rest = tfrt_string_view_make(rest->data + end, rest->size - end);
  return word;
}

// Reads |text|, all of it, as a number from |minimum| to |maximum|.
static bool hostfile_read_number(tfrt_string_view_t text, uint32_t minimum, uint32_t maximum,
                                 uint32_t* out_number) {
  uint32_t number = 0;
  if (text.size == 0 || text.size > 6) return false;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    number = 10 * number + (uint32_t)(text.data[i] - '0');
  }
  *out_number = number;
  return number >= minimum && number <= maximum;
}

static tfrt_status_t hostfile_read_slots(tfrt_hostfile_line_t* line, tfrt_string_view_t word) {
  static const char name[] = "slots=";
  size_t size = sizeof(name) - 1;
  bool is_slots = word.size > size && memcmp(word.data, name, size) == 0;
  tfrt_string_view_t number =
      is_slots ? tfrt_string_view_make(word.data + size, word.size - size) : word;
  if (is_slots && hostfile_read_number(number, 1, TFRT_HOSTFILE_MAX_HOSTS, &line->slots)) {
    return NULL;
  }
  return TFRT_HOSTFILE_ERROR(line, "'%.*s': behind the address there may be slots=1 to slots=%d",
                             TFRT_STRING_VIEW_ARGUMENTS(word), TFRT_HOSTFILE_MAX_HOSTS);
}

// Adds |address|, which the hostfile doesn't have yet.
static tfrt_status_t hostfile_add(tfrt_hostfile_t* hostfile, const tfrt_hostfile_line_t* line,
                                  const char* address) {
  for (uint32_t i = 0; i < hostfile->count; ++i) {
    if (strcmp(hostfile->addresses[i], address) != 0) continue;
    return TFRT_HOSTFILE_ERROR(line, "%s stands in line %u already; name each worker once", address,
                               hostfile->lines[i]);
  }
  if (hostfile->count == TFRT_HOSTFILE_MAX_HOSTS) {
    return TFRT_HOSTFILE_ERROR(line, "these are more than %d workers; leave some out",
                               TFRT_HOSTFILE_MAX_HOSTS);
  }
  snprintf(hostfile->addresses[hostfile->count], TFRT_TRANSPORT_ADDRESS_SIZE, "%s", address);
  hostfile->lines[hostfile->count++] = line->number;
  return NULL;
}

// True if |host| is in one pair of brackets or needs none: one with colons does.
static bool hostfile_has_fit_brackets(tfrt_string_view_t host) {
  bool is_bracketed = host.size > 2 && host.data[0] == '[' && host.data[host.size - 1] == ']';
  tfrt_string_view_t inner =
      is_bracketed ? tfrt_string_view_make(host.data + 1, host.size - 2) : host;
  return !memchr(inner.data, '[', inner.size) && !memchr(inner.data, ']', inner.size) &&
         (is_bracketed || !memchr(inner.data, ':', inner.size));
}

// Adds a worker for each slot: that of the address, and those at the ports behind it.
static tfrt_status_t hostfile_add_slots(tfrt_hostfile_t* hostfile,
                                        const tfrt_hostfile_line_t* line) {
  char address[TFRT_TRANSPORT_ADDRESS_SIZE];
  snprintf(address, sizeof(address), "%.*s", TFRT_STRING_VIEW_ARGUMENTS(line->address));
  if (strncmp(address, "unix:", 5) == 0) {
    if (line->slots == 1) return hostfile_add(hostfile, line, address);
    return TFRT_HOSTFILE_ERROR(line, "%s has no port, and so one slot; give each its path",
                               address);
  }
  char* colon = strrchr(address, ':');
  uint32_t port = 0;
  if (!colon || colon == address ||
      !hostfile_read_number(tfrt_string_view_of(colon + 1), 1, 65535, &port)) {
    return TFRT_HOSTFILE_ERROR(
        line, "'%s' is no HOST:PORT with a port from 1 to 65535; a worker prints its own", address);
  }
  if (!hostfile_has_fit_brackets(tfrt_string_view_make(address, (size_t)(colon - address)))) {
    return TFRT_HOSTFILE_ERROR(
        line, "'%s': brackets stand around an IPv6 address, as in [::1]:7000", address);
  }
  if (port + line->slots - 1 > 65535) {
    return TFRT_HOSTFILE_ERROR(line, "%u slots from port %u on go beyond port 65535", line->slots,
                               port);
  }
  for (uint32_t i = 0; i < line->slots; ++i) {
    char slot[TFRT_TRANSPORT_ADDRESS_SIZE + 16];
    snprintf(slot, sizeof(slot), "%.*s:%u", (int)(colon - address), address, port + i);
    TFRT_RETURN_IF_ERROR(hostfile_add(hostfile, line, slot));
  }
  return NULL;
}

static tfrt_status_t hostfile_check_size(const tfrt_hostfile_line_t* line) {
  bool is_text = line->address.size > 0 && line->address.size < TFRT_TRANSPORT_ADDRESS_SIZE &&
                 !memchr(line->address.data, '\0', line->address.size);
  if (is_text) return NULL;
  return TFRT_HOSTFILE_ERROR(line, "this is no address; write HOST:PORT, at most %d bytes",
                             TFRT_TRANSPORT_ADDRESS_SIZE - 1);
}

tfrt_status_t tfrt_hostfile_add_worker(tfrt_hostfile_t* hostfile, const char* path, uint32_t number,
                                       tfrt_string_view_t address) {
  const tfrt_hostfile_line_t line = {
      .path = path, .number = number, .address = address, .slots = 1};
  TFRT_RETURN_IF_ERROR(hostfile_check_size(&line));
  return hostfile_add_slots(hostfile, &line);
}

static tfrt_status_t hostfile_parse_line(tfrt_hostfile_t* hostfile, const char* path,
                                         uint32_t number, tfrt_string_view_t rest) {
  tfrt_hostfile_line_t line = {.path = path, .number = number, .slots = 1};
  const char* remark = rest.size > 0 ? memchr(rest.data, '#', rest.size) : NULL;
  if (remark) rest.size = (size_t)(remark - rest.data);
  line.address = hostfile_cut_word(&rest);
  if (line.address.size == 0) return NULL;
  TFRT_RETURN_IF_ERROR(hostfile_check_size(&line));
  tfrt_string_view_t word = hostfile_cut_word(&rest);
  if (word.size > 0) TFRT_RETURN_IF_ERROR(hostfile_read_slots(&line, word));
  word = hostfile_cut_word(&rest);
  if (word.size > 0) {
    return TFRT_HOSTFILE_ERROR(&line, "'%.*s': behind the slots there is nothing more; remove it",
                               TFRT_STRING_VIEW_ARGUMENTS(word));
  }
  return hostfile_add_slots(hostfile, &line);
}

tfrt_status_t tfrt_hostfile_parse(const char* path, tfrt_string_view_t text,
                                  tfrt_hostfile_t* out_hostfile) {
  out_hostfile->count = 0;
  // Some editors begin a text in UTF-8 with this mark, which people don't see.
  static const char mark[] = "\xef\xbb\xbf";
  size_t mark_size = sizeof(mark) - 1;
  if (text.size >= mark_size && memcmp(text.data, mark, mark_size) == 0) {
    text = tfrt_string_view_make(text.data + mark_size, text.size - mark_size);
  }
  for (uint32_t number = 1; text.size > 0; ++number) {
    const char* end = memchr(text.data, '\n', text.size);
    size_t size = end ? (size_t)(end - text.data) : text.size;
    TFRT_RETURN_IF_ERROR(
        hostfile_parse_line(out_hostfile, path, number, tfrt_string_view_make(text.data, size)));
    size_t used = end ? size + 1 : size;
    text = tfrt_string_view_make(text.data + used, text.size - used);
  }
  if (out_hostfile->count > 0) return NULL;
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "%s: no worker is named; write a line HOST:PORT for each", path);
}

tfrt_status_t tfrt_hostfile_read(const char* path, tfrt_hostfile_t* out_hostfile) {
  tfrt_file_contents_t contents;
  TFRT_RETURN_IF_ERROR(
      tfrt_file_read_at_most(path, TFRT_HOSTFILE_MAX_SIZE, tfrt_allocator_system(), &contents));
  tfrt_status_t status = tfrt_hostfile_parse(
      path, tfrt_string_view_make((const char*)contents.data, contents.size), out_hostfile);
  tfrt_file_contents_deinitialize(&contents);
  return status;
}
