# SPDX-License-Identifier: Apache-2.0
"""libtfrt.so by ctypes: where it lies, its functions (model.h, status.h), and its errors."""

import ctypes
import ctypes.util
import os
import subprocess
import sys


class TfrtError(Exception):
    """An error of the runtime. `code` is its name, such as "INVALID_ARGUMENT"."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


# void (*release)(void* context), called on any thread; None is NULL.
RELEASE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Tensor(ctypes.Structure):
    """tfrt_model_tensor_t."""

    _fields_ = [("dtype", ctypes.c_int), ("rank", ctypes.c_uint32),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p),
                ("release", RELEASE), ("context", ctypes.c_void_p)]


class Options(ctypes.Structure):
    """tfrt_model_options_t."""

    _fields_ = [("function", ctypes.c_char_p), ("thread_count", ctypes.c_int)]


_FUNCTIONS = {
    # name: (result, arguments); a tfrt_status_t is a pointer, and NULL is success
    "tfrt_model_load": (ctypes.c_void_p, [ctypes.c_char_p, ctypes.POINTER(Options),
                                          ctypes.POINTER(ctypes.c_void_p)]),
    "tfrt_model_free": (None, [ctypes.c_void_p]),
    "tfrt_model_input_count": (ctypes.c_uint32, [ctypes.c_void_p]),
    "tfrt_model_output_count": (ctypes.c_uint32, [ctypes.c_void_p]),
    "tfrt_model_input_name": (ctypes.c_char_p, [ctypes.c_void_p, ctypes.c_uint32]),
    "tfrt_model_run": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.POINTER(Tensor), ctypes.c_uint32,
                                         ctypes.POINTER(Tensor), ctypes.c_uint32]),
    "tfrt_model_tensor_release": (None, [ctypes.POINTER(Tensor)]),
    "tfrt_status_code": (ctypes.c_int, [ctypes.c_void_p]),
    "tfrt_status_code_name": (ctypes.c_char_p, [ctypes.c_int]),
    "tfrt_status_format": (ctypes.c_size_t, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]),
    "tfrt_status_release": (None, [ctypes.c_void_p]),
}


def _candidates():
    """Paths of libtfrt.so, the most wanted first."""
    if os.environ.get("TFRT_LIBRARY"):
        yield os.environ["TFRT_LIBRARY"]
        return
    yield os.path.join(sys.prefix, "lib", "libtfrt.so")
    try:
        done = subprocess.run(["pkg-config", "--variable=libdir", "tfrt"], capture_output=True,
                              check=True)
        yield os.path.join(done.stdout.decode().strip(), "libtfrt.so")
    except (OSError, subprocess.CalledProcessError):
        pass
    found = ctypes.util.find_library("tfrt")
    if found:
        yield found
    yield "/usr/local/lib/libtfrt.so"


def find_library():
    """The path of libtfrt.so, or its name if the system's loader knows it."""
    tried = []
    for path in _candidates():
        if os.sep not in path or os.path.exists(path):
            return path
        tried.append(path)
    raise OSError(f"libtfrt.so is at none of {', '.join(tried)}: install tfrt (tools/install.sh), "
                  "or let TFRT_LIBRARY name the file")


_LIBRARY = None


def library():
    """libtfrt.so, loaded once, with the types of its functions."""
    global _LIBRARY  # pylint: disable=global-statement
    if _LIBRARY is None:
        loaded = ctypes.CDLL(find_library())
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        _LIBRARY = loaded
    return _LIBRARY


def check(status):
    """Raises the TfrtError that `status`, a tfrt_status_t, is; consumes it."""
    if not status:
        return
    lib = library()
    size = lib.tfrt_status_format(status, None, 0) + 1
    text = ctypes.create_string_buffer(size)
    lib.tfrt_status_format(status, text, size)
    code = lib.tfrt_status_code_name(lib.tfrt_status_code(status)).decode()
    lib.tfrt_status_release(status)
    raise TfrtError(code, text.value.decode(errors="replace"))
