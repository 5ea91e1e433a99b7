"""Publications that code and results cite, by key.

Docstrings cite a key; reports print the sentence behind it.
"""

import re

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
    "Bansal2001": (
        "D. Bansal, H. Balakrishnan, S. Floyd, S. Shenker, Dynamic Behavior of Slowly-Responsive Congestion Control "
        "Algorithms, Proc. ACM SIGCOMM 2001, pp. 263-274."
    ),
    "Bender1998": (
        "M. A. Bender, S. Chakrabarti, S. Muthukrishnan, Flow and Stretch Metrics for Scheduling Continuous Job "
        "Streams, Proc. ACM-SIAM SODA 1998, pp. 270-279."
    ),
    "Dukkipati2006": (
        "N. Dukkipati, N. McKeown, Why Flow-Completion Time is the Right Metric for Congestion Control, ACM Computer "
        "Communication Review 36 (2006), pp. 59-62."
    ),
    "DhamdhereDovrolis2006": (
        "A. Dhamdhere, C. Dovrolis, Open Issues in Router Buffer Sizing, ACM Computer Communication Review 36 (2006), "
        "pp. 87-92."
    ),
    "Morris1997": "R. Morris, TCP Behavior with Many Flows, Proc. IEEE ICNP 1997, pp. 205-211.",
    "HassayounRos2008": (
        "S. Hassayoun, D. Ros, Loss Synchronization and Router Buffer Sizing with High-Speed Versions of TCP, IEEE "
        "INFOCOM Workshops 2008."
    ),
    "LakshmanMadhow1997": (
        "T. V. Lakshman, U. Madhow, The Performance of TCP/IP for Networks with High Bandwidth-Delay Products and "
        "Random Loss, IEEE/ACM Transactions on Networking 5 (1997), pp. 336-350."
    ),
    "Little1961": (
        "J. D. C. Little, A Proof for the Queuing Formula L = lambda W, Operations Research 9 (1961), pp. 383-387."
    ),
    "PhillipsHu2006": "D. Phillips, J. Hu, Enhancements for RTT-Fair HighSpeed TCP, Proc. IEEE GLOBECOM 2006.",
    "RFC5166": "S. Floyd (editor), Metrics for the Evaluation of Congestion Control Mechanisms, RFC 5166, 2008.",
    "RFC6298": "V. Paxson, M. Allman, J. Chu, M. Sargent, Computing TCP's Retransmission Timer, RFC 6298, 2011.",
    "Student1908": "Student, The Probable Error of a Mean, Biometrika 6 (1908), pp. 1-25.",
    "Villamizar1994": (
        "C. Villamizar, C. Song, High Performance TCP in ANSNET, ACM Computer Communication Review 24 (1994), "
        "pp. 45-60."
    ),
    "Ayer1955": (
        "M. Ayer, H. Brunk, G. Ewing, W. Reid, E. Silverman, An Empirical Distribution Function for Sampling with "
        "Incomplete Information, Annals of Mathematical Statistics 26 (1955), pp. 641-647."
    ),
    "ChowRobbins1965": (
        "Y. S. Chow, H. Robbins, On the Asymptotic Theory of Fixed-Width Sequential Confidence Intervals for the Mean, "
        "Annals of Mathematical Statistics 36 (1965), pp. 457-462."
    ),
    "EfronTibshirani1993": "B. Efron, R. J. Tibshirani, An Introduction to the Bootstrap, Chapman and Hall 1993.",
    "FloydJacobson1992": (
        "S. Floyd, V. Jacobson, On Traffic Phase Effects in Packet-Switched Gateways, "
        "Internetworking: Research and Experience 3 (1992), pp. 115-156."
    ),
    "FranklinWhite2008": (
        "W. W. Franklin, K. P. White, Stationarity Tests and MSER-5: Exploring the Intuition behind "
        "Mean-Squared-Error-Reduction in Detecting and Correcting Initialization Bias, "
        "Proc. Winter Simulation Conference 2008, pp. 541-546."
    ),
    "Geyer1992": "C. J. Geyer, Practical Markov Chain Monte Carlo, Statistical Science 7 (1992), pp. 473-483.",
    "LawKelton2000": "A. M. Law, W. D. Kelton, Simulation Modeling and Analysis, 3rd edition, McGraw-Hill 2000.",
    "Schmeiser1982": (
        "B. Schmeiser, Batch Size Effects in the Analysis of Simulation Output, Operations Research 30 (1982), "
        "pp. 556-568."
    ),
    "White1997": (
        "K. P. White, An Effective Truncation Heuristic for Bias Reduction in Simulation Output, Simulation 69 (1997), "
        "pp. 323-334."
    ),
    "WhiteCobbSpratt2000": (
        "K. P. White, M. J. Cobb, S. C. Spratt, A Comparison of Five Steady-State Truncation Heuristics for "
        "Simulation, Proc. Winter Simulation Conference 2000, pp. 755-760."
    ),
    "Andrew2005": (
        "L. L. H. Andrew, T. Cui, J. Sun, M. Zukerman, K.-T. Ko, S. Chan, Buffer Sizing for Nonhomogeneous TCP "
        "Sources, IEEE Communications Letters 9 (2005), pp. 567-569."
    ),
    "BonaldMayBolot2000": (
        "T. Bonald, M. May, J.-C. Bolot, Analytic Evaluation of RED Performance, Proc. IEEE INFOCOM 2000, "
        "pp. 1415-1424."
    ),
    "BrakmoPeterson1995": (
        "L. Brakmo, L. Peterson, TCP Vegas: End to End Congestion Avoidance on a Global Internet, IEEE Journal on "
        "Selected Areas in Communications 13(8), 1995, pp. 1465-1480."
    ),
    "CainiFirrincieli2004": (
        "C. Caini, R. Firrincieli, TCP Hybla: a TCP Enhancement for Heterogeneous Networks, International Journal of "
        "Satellite Communications and Networking 22 (2004), pp. 547-566."
    ),
    "FloydHandleyPadhye2000": (
        "S. Floyd, M. Handley, J. Padhye, A Comparison of Equation-Based and AIMD Congestion Control, 2000."
    ),
    "Henderson1998": (
        "T. Henderson, E. Sahouria, S. McCanne, R. Katz, On Improving the Fairness of TCP Congestion Avoidance, "
        "Proc. IEEE GLOBECOM 1998, pp. 539-544."
    ),
    "Jin2004": (
        "C. Jin, D. Wei, S. Low, FAST TCP: Motivation, Architecture, Algorithms, Performance, Proc. IEEE INFOCOM 2004."
    ),
    "Kelly2003": (
        "T. Kelly, Scalable TCP: Improving Performance in Highspeed Wide Area Networks, ACM Computer Communication "
        "Review 33 (2003), pp. 83-91."
    ),
    "Low2002": (
        "S. Low, L. Peterson, L. Wang, Understanding TCP Vegas: A Duality Model, Journal of the ACM 49(2), 2002, "
        "pp. 207-235."
    ),
    "Mathis1997": (
        "M. Mathis, J. Semke, J. Mahdavi, T. Ott, The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm, "
        "ACM Computer Communication Review 27 (1997), pp. 67-82."
    ),
    "RFC3649": "S. Floyd, HighSpeed TCP for Large Congestion Windows, RFC 3649, 2003.",
    "RFC9438": (
        "L. Xu, S. Ha, I. Rhee, V. Goel, L. Eggert (editor), CUBIC for Fast and Long-Distance Networks, RFC 9438, 2023."
    ),
    "ShortenLeith2004": "R. Shorten, D. Leith, H-TCP: TCP for High-Speed and Long-Distance Networks, PFLDnet 2004.",
    "Tan2006": (
        "K. Tan, J. Song, Q. Zhang, M. Sridharan, A Compound TCP Approach for High-Speed and Long Distance Networks, "
        "Proc. IEEE INFOCOM 2006."
    ),
    "Xu2004": (
        "L. Xu, K. Harfoush, I. Rhee, Binary Increase Congestion Control for Fast Long-Distance Networks, "
        "Proc. IEEE INFOCOM 2004, pp. 2514-2524."
    ),
    "AugeRoberts2006": "J. Auge, J. Roberts, Buffer Sizing for Elastic Traffic, Proc. NGI 2006, pp. 33-40.",
    "Enachescu2006": (
        "M. Enachescu, Y. Ganjali, A. Goel, N. McKeown, T. Roughgarden, Routers with Very Small Buffers, Proc. IEEE "
        "INFOCOM 2006."
    ),
    "Floyd2001": (
        "S. Floyd, R. Gummadi, S. Shenker, Adaptive RED: An Algorithm for Increasing the Robustness of RED's Active "
        "Queue Management, ICSI 2001."
    ),
    "FloydJacobson1993": (
        "S. Floyd, V. Jacobson, Random Early Detection Gateways for Congestion Avoidance, IEEE/ACM Transactions on "
        "Networking 1 (1993), pp. 397-413."
    ),
    "Hollot2001": (
        "C. V. Hollot, V. Misra, D. Towsley, W. Gong, A Control Theoretic Analysis of RED, Proc. IEEE INFOCOM 2001, "
        "pp. 1510-1519."
    ),
    "Hollot2002": (
        "C. V. Hollot, V. Misra, D. Towsley, W. Gong, Analysis and Design of Controllers for AQM Routers Supporting "
        "TCP Flows, IEEE Transactions on Automatic Control 47 (2002), pp. 945-959."
    ),
    "Keilson1966": (
        "J. Keilson, The Ergodic Queue Length Distribution for Queueing Systems with Finite Capacity, Journal of the "
        "Royal Statistical Society B 28 (1966), pp. 190-201."
    ),
    "Kleinrock1975": "L. Kleinrock, Queueing Systems, Volume 1: Theory, Wiley 1975.",
    "Misra2000": (
        "V. Misra, W. Gong, D. Towsley, Fluid-based Analysis of a Network of AQM Routers Supporting TCP Flows with an "
        "Application to RED, Proc. ACM SIGCOMM 2000, pp. 151-160."
    ),
    "RainaWischik2005": (
        "G. Raina, D. Wischik, Buffer Sizes for Large Multiplexers: TCP Queueing Theory and Instability Analysis, "
        "Proc. NGI 2005, pp. 173-180."
    ),
    "RFC8033": (
        "R. Pan, P. Natarajan, F. Baker, G. White, Proportional Integral Controller Enhanced (PIE), RFC 8033, 2017."
    ),
    "Spang2021": (
        "B. Spang, S. Arslan, N. McKeown, Updating the Theory of Buffer Sizing, Performance Evaluation 151 (2021), "
        "article 102232."
    ),
    "Zhang2005": (
        "Z. Zhang, G. Hasegawa, M. Murata, Performance Analysis and Improvement of HighSpeed TCP with TailDrop/RED "
        "Routers, IEICE Transactions on Communications E88-B (2005), pp. 2495-2507."
    ),
}


def cite(key: str) -> str:
    """Return the publication of a key.

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


def short(key: str) -> str:
    """Format the key of a citation for tables.

    Examples
    --------
    >>> short("HassayounRos2008"), short("RFC5166")
    ('Hassayoun and Ros 2008', 'RFC 5166')
    """
    number = re.sub(r"\D", "", key)
    return " ".join([*" and ".join(re.findall("[A-Z]+(?![a-z])|[A-Z][a-z]+", key)).split(), number])
