// SPDX-License-Identifier: Apache-2.0
//
// Questions, and a part of an answer of each kind with every field set.
//
// Thread rule: constants. Failure rule: none fails.
#ifndef TFRT_TESTS_DISTRIBUTED_WIRE_SERVICE_SAMPLES_H_
#define TFRT_TESTS_DISTRIBUTED_WIRE_SERVICE_SAMPLES_H_

#include "distributed/wire/service.h"

extern const tfrt_wire_question_t tfrt_wire_sample_questions[];
extern const size_t tfrt_wire_sample_question_count;

extern const tfrt_wire_answer_part_t tfrt_wire_sample_parts[];
extern const size_t tfrt_wire_sample_part_count;

#endif  // TFRT_TESTS_DISTRIBUTED_WIRE_SERVICE_SAMPLES_H_
