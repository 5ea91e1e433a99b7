"""``python -m elephan VERB …``: the command line, for an interpreter whose scripts are not on the path."""

from elephan.cli import main

if __name__ == "__main__":
    main()
