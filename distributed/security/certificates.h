// SPDX-License-Identifier: Apache-2.0
//
// A cluster's certificates, made on the spot: an authority of the cluster's own, which signs
// one certificate for each host and one for those who only dial. There is no other root of trust: a
// process with a certificate of this authority belongs to the cluster.
//
//   directory/ca.pem       the authority's certificate; each process needs it
//             ca.key       its key; signs new ones, and is needed by nobody else
//             NAME.pem     a host's certificate, for all its names; NAME is the first
//             NAME.key     its key
//             client.pem   for `tfrt`; can't be used to listen
//             client.key
//
// Keys are on the curve P-256. All files are readable for their owner alone, and appear whole. No
// file replaces another, except that a renewed certificate replaces the old one.
//
// Life of a cluster's certificates:
//  1. The authority is created, once.
//  2. Hosts and clients are issued certificates, also later.
//  3. They expire. Each is renewed before: the same key and names, with a later end.
//
// Thread rule: thread-safe, as far as the files are.
// Failure rule: ALREADY_EXISTS for a file that is there already, INVALID_ARGUMENT for what is
// no name, the file's own errors; each names the path or the name. A pair of files is made whole
// or, after an error, not at all; a folder that was made stays.
#ifndef TFRT_DISTRIBUTED_SECURITY_CERTIFICATES_H_
#define TFRT_DISTRIBUTED_SECURITY_CERTIFICATES_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "distributed/security/certificate_check.h"
#include "distributed/tuning/tuning.h"
#include "host_runtime/base/macros.h"
#include "host_runtime/base/status.h"
#include "host_runtime/base/string_builder.h"

// The most names of one host.
#define TFRT_CERTIFICATE_MAX_NAMES 32

// The longest name, in bytes.
#define TFRT_CERTIFICATE_MAX_NAME_SIZE 253

// When a certificate counts, in seconds since 1970.
typedef struct tfrt_certificate_validity_s {
  int64_t begins_s;
  int64_t ends_s;
} tfrt_certificate_validity_t;

typedef struct tfrt_certificate_request_s {
  tfrt_certificate_role_t role;
  // A host's IP addresses or DNS names, by which others may dial it; the first names the files. A
  // client has one name, which names the files.
  const char* const* names;
  size_t name_count;
  tfrt_certificate_validity_t validity;
} tfrt_certificate_request_t;

// Makes the authority of a new cluster in |directory|, which is made if it is not there.
// Thread-safe.
tfrt_status_t tfrt_certificates_create_authority(const char* directory,
                                                 tfrt_certificate_validity_t validity)
    TFRT_MUST_USE;

// INVALID_ARGUMENT if |request| asks for what can't be: no name, or times that can't be.
// Thread-safe.
tfrt_status_t tfrt_certificates_check_request(const tfrt_certificate_request_t* request)
    TFRT_MUST_USE;

// ALREADY_EXISTS if |directory| has a certificate or a key called |name|, which names the files as
// the first name of a request does. A caller that makes many can ask before the first. Thread-safe.
tfrt_status_t tfrt_certificates_check_absent(const char* directory, const char* name) TFRT_MUST_USE;

// Makes the certificate and key that |request| describes in |directory|, signed by the
// authority there. Thread-safe.
tfrt_status_t tfrt_certificates_issue(const char* directory,
                                      const tfrt_certificate_request_t* request) TFRT_MUST_USE;

// Makes a certificate with the key, role and names of |directory|/|name|.pem, valid as |validity|
// says, signed by the authority there, and puts it in the place of that one; the key need not be
// there. Errors: NOT_FOUND; FAILED_PRECONDITION if that certificate is no host's and no client's,
// or is of another authority. Thread-safe.
tfrt_status_t tfrt_certificates_renew(const char* directory, const char* name,
                                      tfrt_certificate_validity_t validity) TFRT_MUST_USE;

#endif  // TFRT_DISTRIBUTED_SECURITY_CERTIFICATES_H_
