"""The catalogue: one file for each theorem, grouped by subject. Installed as ``symres.derivations``."""
