"""Matrix forms (being written)."""
