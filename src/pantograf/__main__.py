"""`python -m pantograf` is the command `pantograf`."""

from pantograf.cli import main

main()
