"""Formats of outputs: free text, tags in it, and what stands in them. ``formats.py`` has the kinds.

``build.py`` makes grammars of them.
"""
