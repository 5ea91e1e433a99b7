"""Window laws, each implemented from its publication alone; standard library only."""

from .bic import Bic
from .cubic import Cubic
from .event import Event
from .fast import Fast
from .ghstcp import Ghstcp
from .highspeed import Highspeed
from .htcp import Htcp
from .nr_hstcp import NrHstcp
from .scalable import Scalable
from .sender import Sender
from .vegas import Vegas

LAWS: dict[str, type[Sender]] = {
    "highspeed": Highspeed,
    "ghstcp": Ghstcp,
    "nr-hstcp": NrHstcp,
    "scalable": Scalable,
    "htcp": Htcp,
    "bic": Bic,
    "cubic": Cubic,
    "fast": Fast,
    "vegas": Vegas,
}

__all__ = [
    "LAWS",
    "Bic",
    "Cubic",
    "Event",
    "Fast",
    "Ghstcp",
    "Highspeed",
    "Htcp",
    "NrHstcp",
    "Scalable",
    "Sender",
    "Vegas",
]
