"""The language: programs and formulas made of terms, elementwise functions, SymPy in and out."""
