"""Scripts of packetdrill, run against a sender in virtual time.

>>> from elephan.conform.packetdrill import conform_scripts
>>> conform_scripts(["tests/data/packetdrill/initial-window.pkt"]).summary["agrees"]
1
"""

from elephan.conform.packetdrill.drive import Difference, JudgedScript, judge_script
from elephan.conform.packetdrill.scripts import TcpConformance, conform_scripts

__all__ = ["Difference", "JudgedScript", "TcpConformance", "conform_scripts", "judge_script"]
