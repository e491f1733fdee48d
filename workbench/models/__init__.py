"""Loading a real model; the packaged default model. Importing this does not import torch."""

from __future__ import annotations

from workbench.models.load import LoadedModel, assemble, load_model
from workbench.models.packaged import MODEL_NAME
from workbench.models.scripted import scripted_model

__all__ = ["MODEL_NAME", "LoadedModel", "assemble", "load_model", "scripted_model"]
