"""What objects and arrays can be: plans, derivatives of their formulas, and how many values there are."""
