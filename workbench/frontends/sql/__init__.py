"""SQL for a model to speak: statements over the caller's tables, in the dialect of SQLite or PostgreSQL.

Reading order: ``dialects``, ``catalog`` (tables and names), ``lexis`` (words), ``nodes`` (templates), ``expressions``
and ``queries`` (the templates of SQL), ``state``, ``tables``, ``scopes`` (what a text says about tables), ``moves``,
``items``, ``clauses``, ``changes``, ``steps`` (what may come next), ``writer`` (rules on demand), ``limits`` and
``front`` (options).
"""

from workbench.frontends.sql.front import sql

__all__ = ["sql"]
