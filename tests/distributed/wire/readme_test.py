#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The bytes in proto/README.md are those that protoc makes of the texts before them.

A fenced block "textproto MESSAGE FILE" is a message in text form; a block "bytes" behind it is what
that message is on the wire: hexadecimal pairs, then at least two blanks and a remark. A body that is
spelled out in a Batch must be a good message of the kind that stands beside it.
"""

import ast
import re
import subprocess
import sys

FENCE = re.compile(r"^```(textproto|bytes)([^\n]*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PAIRS = re.compile(r"^\s*((?:[0-9a-f]{2} ?)+)(?:\s\s.*)?$")


def protoc(mode, message, proto, data):
    return subprocess.run(
        ["protoc", f"--{mode}=tfrt.peer.v1.{message}", f"proto/{proto}"],
        input=data, stdout=subprocess.PIPE, check=True).stdout


def read_bytes(block):
    """The bytes of a block, or an error that names the line."""
    pairs = []
    for line in block.splitlines():
        match = PAIRS.match(line)
        if not match:
            sys.exit(f"error: proto/README.md: no bytes in the line: {line}")
        pairs += match.group(1).split()
    return bytes.fromhex("".join(pairs))


def body_message(kind):
    """Message and file of a frame's body, by the comments of enum FrameKind."""
    with open("proto/batch.proto", encoding="utf-8") as file:
        text = file.read()
    name = re.search(rf"FRAME_\w+ = {kind};\s*//(?: \[session\])? (\w+)", text).group(1)
    for proto in ("session", "job", "call", "object"):
        with open(f"proto/{proto}.proto", encoding="utf-8") as file:
            if f"message {name} {{" in file.read():
                return name, f"{proto}.proto"
    sys.exit(f"error: no message {name}")


def check_bodies(text):
    """Each body in a Batch decodes without a field that its message doesn't have."""
    for kind, body in re.findall(r'kind: (\d+).*?body: (".*?")', text, re.DOTALL):
        raw = re.sub(r"\\0(?![0-9])", r"\\x00", body)
        data = ast.literal_eval("b" + raw)  # else the escapes are those of Python
        name, proto = body_message(kind)
        decoded = protoc("decode", name, proto, data).decode()
        if not decoded or re.search(r"^\s*\d+(:| \{)", decoded, re.MULTILINE):
            sys.exit(f"error: proto/README.md: the body of kind {kind} is no {name}: {decoded}")


def main():
    with open("proto/README.md", encoding="utf-8") as file:
        blocks = FENCE.findall(file.read())
    compared = 0
    encoded = None
    for kind, title, content in blocks:
        if kind == "textproto":
            message, proto = title.split()
            encoded = protoc("encode", message, proto, content.encode())
            check_bodies(content)
        elif read_bytes(content) != encoded:
            sys.exit(f"error: proto/README.md: these are not the bytes of the {message} above:\n"
                     f"{content}\nthey are: {encoded.hex(' ')}")
        else:
            compared += 1
    if compared < 4:
        sys.exit(f"error: proto/README.md: only {compared} blocks of bytes were found")


if __name__ == "__main__":
    main()
