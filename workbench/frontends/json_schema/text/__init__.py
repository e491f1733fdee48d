"""JSON as a text: its values, how characters are spelled in strings, where whitespace may stand."""
