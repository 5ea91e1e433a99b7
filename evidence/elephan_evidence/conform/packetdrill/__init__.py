"""Scripts of packetdrill, run against a sender in virtual time.

>>> from elephan_evidence.conform.packetdrill import conform_scripts
>>> conform_scripts(["tests/data/packetdrill/initial-window.pkt"]).summary["agrees"]
1
"""

from elephan_evidence.conform.packetdrill.drive import judge_script
from elephan_evidence.conform.packetdrill.judged import Difference, JudgedScript
from elephan_evidence.conform.packetdrill.scripts import TcpConformance, conform_scripts

__all__ = ["Difference", "JudgedScript", "TcpConformance", "conform_scripts", "judge_script"]
