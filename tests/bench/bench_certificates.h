// SPDX-License-Identifier: Apache-2.0
//
// A folder with an authority and the certificate of the host 127.0.0.1, for benchmarks that talk
// TLS: the files have the names that `tfrt certs` gives them.
//
// Thread rule: thread-compatible (caller synchronises).
// Failure rule: what is half there after an error is removed all the same.
#ifndef TFRT_TESTS_BENCH_BENCH_CERTIFICATES_H_
#define TFRT_TESTS_BENCH_BENCH_CERTIFICATES_H_

#include "distributed/security/certificate_check.h"
#include "host_runtime/base/status.h"

typedef struct tfrt_bench_certificates_s {
  char folder[64];  // "": none
  char paths[3][96];
} tfrt_bench_certificates_t;

// Makes a new folder in /tmp. Thread-compatible.
tfrt_status_t tfrt_bench_certificates_make(tfrt_bench_certificates_t* certificates) TFRT_MUST_USE;

// The files; they live as long as |certificates|. Thread-compatible.
tfrt_certificate_files_t tfrt_bench_certificates_files(
    const tfrt_bench_certificates_t* certificates);

// Removes the folder, if there is one. Thread-compatible.
void tfrt_bench_certificates_remove(tfrt_bench_certificates_t* certificates);

#endif  // TFRT_TESTS_BENCH_BENCH_CERTIFICATES_H_
