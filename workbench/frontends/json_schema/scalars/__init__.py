"""Languages of strings and numbers, as patterns, formats, bounds and multiples describe them."""
