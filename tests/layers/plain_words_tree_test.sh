#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs plain_words.py on the source tree, found by its WORKSPACE file.
set -euo pipefail

exec tests/layers/plain_words.py "$(dirname "$(readlink -f WORKSPACE)")"
