"""symres."""
