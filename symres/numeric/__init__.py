"""Numbers: plain evaluation of terms, readable NumPy code generated from them, and cross-checks of derived gradients.

The path of generated code: terms with one name for each index (:mod:`~symres.numeric.canonical`), array expressions
(:mod:`~symres.numeric.lower`), where their axes stand (:mod:`~symres.numeric.layout`), statements
(:mod:`~symres.numeric.emit`), source text (:mod:`~symres.numeric.spell`), a module (:mod:`~symres.numeric.codegen`).
"""
