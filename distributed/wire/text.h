// SPDX-License-Identifier: Apache-2.0
//
// Texts from outside the runtime (paths, names in programs) in fields of a message.
//
// A text field is valid UTF-8 and has a limit; the system's paths and a program's names need be
// neither valid nor short. Such a text only informs somebody, so it is made to fit instead of
// refused: a call does not fail because its program lies in a deep folder.
//
// Thread rule: thread-compatible. Failure rule: none fails.
#ifndef TFRT_DISTRIBUTED_WIRE_TEXT_H_
#define TFRT_DISTRIBUTED_WIRE_TEXT_H_

#include <stddef.h>

#include "host_runtime/base/string_view.h"

// |text| as a field of at most |limit| bytes takes it: cut between characters where it is too
// long, and with '?' for each byte that is no part of a character. The result is |text|, or its
// beginning, if that is valid, else a copy in |buffer|, which has |limit| bytes.
// Thread-compatible.
tfrt_string_view_t tfrt_wire_text_fit(tfrt_string_view_t text, char* buffer, size_t limit);

#endif  // TFRT_DISTRIBUTED_WIRE_TEXT_H_
