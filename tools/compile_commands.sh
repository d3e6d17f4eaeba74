#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Writes compile_commands.json, which clangd and other editors' helpers read, from what Bazel
# would run. Builds nothing, except that generated headers exist only after a build.
#
#   tools/compile_commands.sh            all targets
#   tools/compile_commands.sh TARGET...  these, such as //host_runtime/...
set -euo pipefail

cd "$(dirname "$0")/.."
targets=${*:-//...}
output_base=$(bazel info output_base 2>/dev/null)
bazel aquery --output=jsonproto --noshow_progress --ui_event_filters=-info --keep_going \
  "mnemonic(CppCompile, deps(set($targets)))" |
  /usr/bin/python3 -c '
import json
import sys

root, output_base = sys.argv[1:]
commands = {}
for action in json.load(sys.stdin).get("actions", []):
    arguments = action.get("arguments", [])
    source = arguments[arguments.index("-c") + 1] if "-c" in arguments else "external/"
    if source.startswith("external/"):
        continue
    # Libraries outside the tree are folders of the output base.
    arguments = [output_base + "/" + word if word.startswith("external/") else word
                 for word in arguments]
    commands[source] = {"directory": root, "file": source, "arguments": arguments}
if not commands:
    sys.exit("compile_commands.sh: error: no target of these compiles anything")
with open("compile_commands.json", "w", encoding="utf-8") as file:
    json.dump([commands[source] for source in sorted(commands)], file, indent=1)
    file.write("\n")
print(f"compile_commands.json: {len(commands)} sources")
' "$PWD" "$output_base"
