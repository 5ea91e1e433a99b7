"""The command line: ``elephan VERB …``, or ``python -m elephan VERB …``."""

import signal


def main() -> None:
    """Import the command line and run it.

    Raises
    ------
    SystemExit
        Always, with the exit code.
    """
    # While modules are loaded no run is in progress, so Ctrl-C may end the process at once. An exception could get lost
    # in an import.
    heeds = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if heeds:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from elephan.cli import main as command_line  # noqa: PLC0415 (as above)

    if heeds:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    command_line()


if __name__ == "__main__":
    main()
