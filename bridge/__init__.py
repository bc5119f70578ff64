"""Bridges between text and vision encoders that were trained apart.

import bridge

text = bridge.load_embeddings("captions.safetensors")
image = bridge.load_embeddings("images.safetensors")
fitted = bridge.fit(text, image, method="ridge")
fitted.save("my-bridge")
"""

from importlib import import_module

_HOME = {
    "Bridge": ("bridge.maps", "Bridge"),
    "Caption": ("bridge.captions", "Caption"),
    "Embeddings": ("bridge.embeddings", "Embeddings"),
    "InputError": ("bridge.errors", "InputError"),
    "embed_captions": ("bridge.embed", "embed_captions"),
    "embed_images": ("bridge.embed", "embed_images"),
    "fit": ("bridge.fitting", "fit"),
    "fit_unpaired": ("bridge.unpaired", "fit_unpaired"),
    "load_bridge": ("bridge.maps", "load"),
    "load_embeddings": ("bridge.embeddings", "load"),
    "read_captions": ("bridge.captions", "read_captions"),
    "save_embeddings": ("bridge.embeddings", "save"),
    "text_encoder": ("bridge.encode_text", "text_encoder"),
    "vision_encoder": ("bridge.encode_vision", "vision_encoder"),
}
__all__ = sorted(_HOME)


def __getattr__(name: str):
    """Import a public name when it is first used, so that the command line starts at once."""
    if name not in _HOME:
        raise AttributeError(f"module 'bridge' has no attribute {name!r}")
    module, attribute = _HOME[name]
    return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    return __all__
