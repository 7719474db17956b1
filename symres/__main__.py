"""``python -m symres``: the command line."""

from symres.cli import main

main()
