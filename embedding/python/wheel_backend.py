# SPDX-License-Identifier: Apache-2.0
"""Makes the wheel of this folder for pip (PEP 517): pure Python, so a zip file with three pages of
metadata. It needs nothing but Python, so `pip install` works without a package index.
"""

import base64
import hashlib
import os
import re
import zipfile

ROOT = os.path.dirname(os.path.abspath(__file__))
PACKAGE = "tfrt"


def _project():
    """The fields of pyproject.toml that the metadata needs (tomllib comes with Python 3.11 only)."""
    with open(os.path.join(ROOT, "pyproject.toml"), encoding="utf-8") as file:
        text = file.read()
    return {name: re.search(rf'^{name} = "([^"]+)"', text, re.MULTILINE).group(1)
            for name in ["name", "version", "description", "requires-python"]}


def _metadata(project):
    return (f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
            f"Summary: {project['description']}\nLicense: Apache-2.0\n"
            f"Requires-Python: {project['requires-python']}\nRequires-Dist: numpy\n")


def _modules():
    folder = os.path.join(ROOT, PACKAGE)
    return {f"{PACKAGE}/{name}": os.path.join(folder, name)
            for name in sorted(os.listdir(folder)) if name.endswith(".py")}


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel into `wheel_directory` and returns its file name."""
    del config_settings, metadata_directory
    project = _project()
    base = f"{project['name']}-{project['version']}"
    info = f"{base}.dist-info"
    contents = {name: open(path, "rb").read() for name, path in _modules().items()}
    contents[f"{info}/METADATA"] = _metadata(project).encode()
    contents[f"{info}/WHEEL"] = (b"Wheel-Version: 1.0\nGenerator: wheel_backend\n"
                                 b"Root-Is-Purelib: true\nTag: py3-none-any\n")
    record = ""
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record += f"{name},sha256={digest},{len(data)}\n"
    contents[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    file_name = f"{base}-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(wheel_directory, file_name), "w",
                         zipfile.ZIP_DEFLATED) as wheel:
        for name, data in contents.items():
            wheel.writestr(name, data)
    return file_name
