"""JSON Schema -> Grammar. Start reading at ``front.py``."""

from __future__ import annotations

from workbench.frontends.json_schema.front import json_schema

__all__ = ["json_schema"]
