"""``python -m elephan.accuracy``: run the survey and compare every model with it; this rewrites the package's tables.

``python -m elephan.accuracy errors [MODEL ...]`` compares without simulating, for a model that is new or has changed.
``python -m elephan.accuracy paced`` simulates only paced senders again, some ten minutes, and compares every model.
"""

import sys

from elephan.accuracy import errors, survey
from elephan.errors import InputError


def main(words: list[str]) -> None:
    """Rewrite the requested tables.

    Parameters
    ----------
    words : list of str
        Nothing, ``paced``, or ``errors`` and names of models.
    """
    if words and words[0] != "errors" and words != ["paced"]:
        sys.stderr.write(f'accuracy: there is no "{words[0]}"; say nothing, paced, or errors and names of models\n')
        sys.exit(2)
    if not words or words == ["paced"]:
        survey.rewrite(only_paced=bool(words))
    try:
        errors.rewrite(words[1:])
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        sys.exit(2)


if __name__ == "__main__":
    main(sys.argv[1:])
