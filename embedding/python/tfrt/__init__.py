# SPDX-License-Identifier: Apache-2.0
"""Programs of tfrt, the asynchronous host runtime, called with numpy arrays.

    import tfrt
    model = tfrt.Model("resnet50.bef")
    scores, = model(image=array)
"""

from tfrt.library import TfrtError
from tfrt.model import Model

__all__ = ["Model", "TfrtError"]
