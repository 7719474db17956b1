"""The kernel: terms, their normal form, and the decision of equality for all sizes. Standard library only."""
