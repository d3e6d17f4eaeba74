#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs source_rules.py on the source tree, found by its WORKSPACE file.
set -euo pipefail

exec tests/layers/source_rules.py "$(dirname "$(readlink -f WORKSPACE)")"
