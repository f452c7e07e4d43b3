"""`python -m temporal_assets`: the command line."""

from temporal_assets.cli import main

if __name__ == "__main__":
    main()
