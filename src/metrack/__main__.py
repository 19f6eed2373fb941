"""The command line as ``python -m metrack``."""

from metrack.cli import main

if __name__ == "__main__":
    main()
