"""A schema document read: its resources and references, each schema at its place with its keywords."""
