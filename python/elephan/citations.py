"""The publications that code and results refer to, by key.

Docstrings cite a key; reports print the sentence behind it.
"""

CITATIONS: dict[str, str] = {
    "Appenzeller2004": (
        "G. Appenzeller, I. Keslassy, N. McKeown, Sizing Router Buffers, Proc. ACM SIGCOMM 2004, pp. 281-292."
    ),
    "Barman2004": (
        "D. Barman, G. Smaragdakis, I. Matta, The Effect of Router Buffer Size on HighSpeed TCP Performance, "
        "Proc. IEEE GLOBECOM 2004, pp. 1617-1621."
    ),
    "BertsekasGallager1992": (
        "D. Bertsekas, R. Gallager, Data Networks, 2nd edition, Prentice Hall 1992, Section 6.5.2."
    ),
    "Fieller1954": (
        "E. C. Fieller, Some Problems in Interval Estimation, Journal of the Royal Statistical Society B 16 (1954), "
        "pp. 175-185."
    ),
    "Jain1984": (
        "R. Jain, D. Chiu, W. Hawe, A Quantitative Measure of Fairness and Discrimination for Resource Allocation in "
        "Shared Computer Systems, DEC Technical Report 301, 1984."
    ),
    "Student1908": "Student, The Probable Error of a Mean, Biometrika 6 (1908), pp. 1-25.",
    "Villamizar1994": (
        "C. Villamizar, C. Song, High Performance TCP in ANSNET, ACM Computer Communication Review 24 (1994), "
        "pp. 45-60."
    ),
    "Ayer1955": (
        "M. Ayer, H. Brunk, G. Ewing, W. Reid, E. Silverman, An Empirical Distribution Function for Sampling with "
        "Incomplete Information, Annals of Mathematical Statistics 26 (1955), pp. 641-647."
    ),
}


def cite(key: str) -> str:
    """Return the publication behind a key.

    Parameters
    ----------
    key : str

    Returns
    -------
    str

    Raises
    ------
    KeyError
        If there is no such key.

    Examples
    --------
    >>> cite("Villamizar1994")[:13]
    'C. Villamizar'
    """
    return CITATIONS[key]
