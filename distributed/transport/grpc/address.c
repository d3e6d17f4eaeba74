// SPDX-License-Identifier: Apache-2.0
#include "distributed/transport/grpc/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "host_runtime/base/number_text.h"

#define UNIX_PREFIX "unix:"

typedef enum form_e { FORM_IPV4, FORM_IPV6, FORM_NAME, FORM_UNIX } form_t;

typedef struct parts_s {
  form_t form;
  char host[TFRT_TRANSPORT_ADDRESS_SIZE];  // without brackets; for FORM_UNIX the path
  int port;
  uint32_t scope;  // of FORM_IPV6: the number of the interface; 0: none
} parts_t;

// A socket address of any of the forms.
typedef union socket_address_u {
  struct sockaddr base;
  struct sockaddr_in ipv4;
  struct sockaddr_in6 ipv6;
  struct sockaddr_un local;
} socket_address_t;

// --- Reading -----------------------------------------------------------------

static bool parse_port(tfrt_string_view_t text, int* out_port) {
  *out_port = 0;
  if (text.size == 0 || text.size > 5) return false;
  int port = 0;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] < '0' || text.data[i] > '9') return false;
    port = port * 10 + (text.data[i] - '0');
  }
  *out_port = port;
  return port <= 65535;
}

static bool is_name(const char* host) {
  for (const char* c = host; *c; ++c) {
    bool is_fit = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
                  (*c >= '0' && *c <= '9') || *c == '-' || *c == '.' || *c == '_';
    if (!is_fit) return false;
  }
  return *host != '\0';
}

// Cuts "%eth0" off the host, the interface that a link-local address is of; false if there is no
// such interface.
static bool parse_scope(parts_t* parts) {
  char* percent = strchr(parts->host, '%');
  if (!percent) return true;
  *percent = '\0';
  parts->scope = if_nametoindex(percent + 1);
  uint64_t number = 0;
  if (parts->scope == 0 && tfrt_number_text_parse_u64(tfrt_string_view_of(percent + 1), &number)) {
    parts->scope = (uint32_t)number;
  }
  return parts->scope > 0;
}

static bool parse_host(tfrt_string_view_t text, parts_t* parts) {
  unsigned char number[sizeof(struct in6_addr)];
  bool is_bracketed = text.size >= 2 && text.data[0] == '[' && text.data[text.size - 1] == ']';
  if (is_bracketed) text = tfrt_string_view_make(text.data + 1, text.size - 2);
  memcpy(parts->host, text.data, text.size);
  parts->host[text.size] = '\0';
  if (is_bracketed) {
    parts->form = FORM_IPV6;
    return parse_scope(parts) && inet_pton(AF_INET6, parts->host, number) == 1;
  }
  parts->form = inet_pton(AF_INET, parts->host, number) == 1 ? FORM_IPV4 : FORM_NAME;
  return is_name(parts->host);
}

static bool parse_unix(tfrt_string_view_t path, parts_t* parts) {
  parts->form = FORM_UNIX;
  parts->port = 1;  // gRPC's word for "it works"
  if (path.size == 0 || path.size >= sizeof(((struct sockaddr_un*)NULL)->sun_path)) return false;
  memcpy(parts->host, path.data, path.size);
  parts->host[path.size] = '\0';
  return true;
}

static bool parse_parts(tfrt_string_view_t text, parts_t* parts) {
  if (text.size >= TFRT_TRANSPORT_ADDRESS_SIZE) return false;
  for (size_t i = 0; i < text.size; ++i) {
    if (text.data[i] <= ' ' || text.data[i] > '~') return false;
  }
  tfrt_string_view_t prefix = tfrt_string_view_of(UNIX_PREFIX);
  if (tfrt_string_view_starts_with(text, prefix)) {
    return parse_unix(tfrt_string_view_make(text.data + prefix.size, text.size - prefix.size),
                      parts);
  }
  const char* colon = memrchr(text.data, ':', text.size);
  if (!colon) return false;
  size_t host_size = (size_t)(colon - text.data);
  return parse_host(tfrt_string_view_make(text.data, host_size), parts) &&
         parse_port(tfrt_string_view_make(colon + 1, text.size - host_size - 1), &parts->port);
}

static tfrt_status_t parse(tfrt_string_view_t text, parts_t* parts) {
  *parts = (parts_t){.port = 0};
  if (parse_parts(text, parts)) return NULL;
  const size_t most = sizeof(((struct sockaddr_un*)NULL)->sun_path) - 1;
  size_t prefix = strlen(UNIX_PREFIX);
  if (tfrt_string_view_starts_with(text, tfrt_string_view_of(UNIX_PREFIX)) &&
      text.size - prefix > most) {
    return tfrt_status_create(
        TFRT_STATUS_INVALID_ARGUMENT,
        "'%.*s' is too long: the path of a Unix socket has at most %zu bytes, "
        "and this one has %zu",
        TFRT_STRING_VIEW_ARGUMENTS(text), most, text.size - prefix);
  }
  return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                            "'%.*s' is no address; write host:port (127.0.0.1:8000, [::1]:8000, "
                            "name:8000) or unix:/path",
                            TFRT_STRING_VIEW_ARGUMENTS(text));
}

// --- Writing -----------------------------------------------------------------

tfrt_status_t tfrt_grpc_address_target(tfrt_string_view_t text,
                                       char out_target[TFRT_GRPC_TARGET_SIZE]) {
  out_target[0] = '\0';
  parts_t parts;
  TFRT_RETURN_IF_ERROR(parse(text, &parts));
  if (parts.port == 0) {
    return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                              "nobody can be dialled at port 0 ('%.*s'); use the port that the "
                              "listener was given",
                              TFRT_STRING_VIEW_ARGUMENTS(text));
  }
  static const char* const kPrefix[] = {
      [FORM_IPV4] = "ipv4:", [FORM_IPV6] = "ipv6:", [FORM_NAME] = "dns:///", [FORM_UNIX] = ""};
  if (parts.scope > 0) {
    // A target is a URI, in which a percent sign begins an escape.
    snprintf(out_target, TFRT_GRPC_TARGET_SIZE, "ipv6:[%s%%25%" PRIu32 "]:%d", parts.host,
             parts.scope, parts.port);
    return NULL;
  }
  snprintf(out_target, TFRT_GRPC_TARGET_SIZE, "%s%.*s", kPrefix[parts.form],
           TFRT_STRING_VIEW_ARGUMENTS(text));
  return NULL;
}

void tfrt_grpc_address_with_port(const char* address, int port,
                                 char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  tfrt_string_view_t text = tfrt_string_view_of(address);
  const char* colon = memrchr(address, ':', text.size);
  if (tfrt_string_view_starts_with(text, tfrt_string_view_of(UNIX_PREFIX))) {
    snprintf(out_address, TFRT_TRANSPORT_ADDRESS_SIZE, "%s", address);
  } else {
    snprintf(out_address, TFRT_TRANSPORT_ADDRESS_SIZE, "%.*s:%d", (int)(colon - address), address,
             port);
  }
}

// --- Why not -----------------------------------------------------------------

// Returns the size of the socket address of |parts|, or 0 for a name.
static socklen_t make_socket_address(const parts_t* parts, socket_address_t* out_address) {
  memset(out_address, 0, sizeof(*out_address));
  if (parts->form == FORM_IPV4) {
    out_address->ipv4.sin_family = AF_INET;
    out_address->ipv4.sin_port = htons((uint16_t)parts->port);
    inet_pton(AF_INET, parts->host, &out_address->ipv4.sin_addr);
    return sizeof(out_address->ipv4);
  }
  if (parts->form == FORM_IPV6) {
    out_address->ipv6.sin6_family = AF_INET6;
    out_address->ipv6.sin6_port = htons((uint16_t)parts->port);
    out_address->ipv6.sin6_scope_id = parts->scope;
    inet_pton(AF_INET6, parts->host, &out_address->ipv6.sin6_addr);
    return sizeof(out_address->ipv6);
  }
  if (parts->form != FORM_UNIX) return 0;
  out_address->local.sun_family = AF_UNIX;
  memcpy(out_address->local.sun_path, parts->host, strlen(parts->host));
  return sizeof(out_address->local);
}

tfrt_grpc_address_kind_t tfrt_grpc_address_kind(const char* address) {
  parts_t parts;
  tfrt_status_t status = parse(tfrt_string_view_of(address), &parts);
  bool is_good = tfrt_status_is_ok(status);
  tfrt_status_release(status);
  if (!is_good) return TFRT_GRPC_ADDRESS_OTHER;
  if (parts.form == FORM_NAME) return TFRT_GRPC_ADDRESS_NAME;
  bool is_numeric = parts.form == FORM_IPV4 || parts.form == FORM_IPV6;
  return is_numeric ? TFRT_GRPC_ADDRESS_NUMERIC : TFRT_GRPC_ADDRESS_OTHER;
}

socklen_t tfrt_grpc_address_to_socket(const char* address, struct sockaddr_in6* out_address) {
  memset(out_address, 0, sizeof(*out_address));
  parts_t parts;
  socket_address_t found;
  socklen_t size = 0;
  tfrt_status_t status = parse(tfrt_string_view_of(address), &parts);
  if (!status) size = make_socket_address(&parts, &found);
  tfrt_status_release(status);
  if (size > sizeof(*out_address)) return 0;
  memcpy(out_address, &found, size);
  return size;
}

// True if |address|, an address to listen on, is a unix socket that somebody listens on: gRPC would
// take its place, and nobody would get there any more.
static bool is_taken(const char* address) {
  parts_t parts;
  tfrt_status_t status = parse(tfrt_string_view_of(address), &parts);
  bool is_local = !status && parts.form == FORM_UNIX;
  tfrt_status_release(status);
  if (!is_local) return false;
  socket_address_t socket_address;
  socklen_t size = make_socket_address(&parts, &socket_address);
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (descriptor < 0) return false;
  // The socket file of a dead process refuses the connection; EAGAIN: a listener lives, with a full
  // queue.
  bool is_heard = connect(descriptor, &socket_address.base, size) == 0 || errno == EAGAIN;
  close(descriptor);
  return is_heard;
}

// Tries what gRPC tried, because gRPC does not say what went wrong. 0: it works now.
static int find_bind_error(const parts_t* parts) {
  socket_address_t address;
  socklen_t size = make_socket_address(parts, &address);
  if (size == 0) return EADDRNOTAVAIL;
  int descriptor = socket(address.base.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return errno;
  int on = 1;
  (void)setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  bool is_bound = bind(descriptor, &address.base, size) == 0;
  int error = is_bound && listen(descriptor, 1) == 0 ? 0 : errno;
  close(descriptor);
  if (is_bound && parts->form == FORM_UNIX) unlink(parts->host);
  return error;
}

tfrt_status_t tfrt_grpc_address_explain(const char* address) {
  parts_t parts;
  TFRT_RETURN_IF_ERROR(parse(tfrt_string_view_of(address), &parts));
  int error = find_bind_error(&parts);
  switch (error) {
    case EADDRINUSE:
      return tfrt_status_create(TFRT_STATUS_ALREADY_EXISTS,
                                "can't listen on %s: address already in use; choose another "
                                "--listen or stop the process that holds it",
                                address);
    case EADDRNOTAVAIL:
      return tfrt_status_create(TFRT_STATUS_INVALID_ARGUMENT,
                                "can't listen on %s: no interface of this machine has this "
                                "address; choose another --listen",
                                address);
    case EACCES:
      return tfrt_status_create(TFRT_STATUS_PERMISSION_DENIED,
                                "can't listen on %s: permission denied; choose another --listen "
                                "(ports below 1024 are the system's)",
                                address);
    default:
      return tfrt_status_create(TFRT_STATUS_UNAVAILABLE, "can't listen on %s: %s", address,
                                error ? strerror(error) : "gRPC failed, try again");
  }
}

tfrt_status_t tfrt_grpc_address_check_listen(tfrt_string_view_t text,
                                             char out_address[TFRT_TRANSPORT_ADDRESS_SIZE]) {
  out_address[0] = '\0';
  parts_t parts;
  TFRT_RETURN_IF_ERROR(parse(text, &parts));
  memcpy(out_address, text.data, text.size);
  out_address[text.size] = '\0';
  return is_taken(out_address) ? tfrt_grpc_address_explain(out_address) : NULL;
}
