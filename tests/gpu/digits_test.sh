#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The digits on three workers whose device is the host. run_test.sh has them on the fake driver's.
set -euo pipefail
tests/gpu/digits.sh tools/tfrt cpu examples/mnist false
