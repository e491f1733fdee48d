"""Formulas and plans written as rules of a grammar."""
