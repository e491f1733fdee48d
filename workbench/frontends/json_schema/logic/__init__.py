"""What schemas say about a value: formulas of facts for each type, and the texts and numbers they allow."""
