"""`python -m assay` does what `assay` does."""

from assay.cli.main import main

if __name__ == "__main__":
    main()
