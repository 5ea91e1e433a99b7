"""Queue disciplines, each from its publication alone; standard library only.

Written without the publications' texts at hand, except for RED, ARED and gARED as Zhang, Hasegawa and Murata 2005 sum
them up, and the fair queues as Auge and Roberts 2006 do: from memory, checked against quotations where these could be
found. What had to be decided is said in each module under "Choices"; a difference to another implementation is first
of all a reason to open the source.
"""

from .ared import Ared
from .blue import Blue
from .codel import Codel
from .discipline import Discipline
from .drop_head import DropHead
from .drop_tail import DropTail
from .drr import Drr
from .dualpi2 import DualPi2
from .fq import Fq
from .fq_codel import FqCodel
from .gared import Gared
from .link import Link
from .packet import SECOND, Arrival, Fate, Header, Packet
from .pd_red import PdRed
from .pie import Pie
from .priority_fq import PriorityFq
from .red import Red
from .rem import Rem
from .sfq import Sfq
from .xcp import Xcp

__all__ = [
    "SECOND",
    "Ared",
    "Arrival",
    "Blue",
    "Codel",
    "Discipline",
    "DropHead",
    "DropTail",
    "Drr",
    "DualPi2",
    "Fate",
    "Fq",
    "FqCodel",
    "Gared",
    "Header",
    "Link",
    "Packet",
    "PdRed",
    "Pie",
    "PriorityFq",
    "Red",
    "Rem",
    "Sfq",
    "Xcp",
]
