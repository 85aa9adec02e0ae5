"""The networks of DESIGN, as an origin may have them, and the one that is none."""

import dataclasses

UNSHAPED = "unshaped"


@dataclasses.dataclass(frozen=True)
class Network:
    """How fast and how far away, and how many of its origins are asked at a time.

    Each download has a link of its own. More in flight would make this machine, not the links, the slowest part.
    """

    name: str
    kilobits: int
    milliseconds: int
    in_flight: int
    # Of jobs that encode for a second or longer.
    heavy_in_flight: int

    def seconds(self, count):
        """That so many bytes take at least."""
        return count * 8 / self.kilobits / 1000 if self.kilobits else 0


NETWORKS = {network.name: network for network in [
    Network("3g", 1_600, 150, 16, 3),
    Network("lte", 12_000, 70, 6, 2),
    Network("wifi", 40_000, 20, 3, 1),
    Network(UNSHAPED, 0, 0, 1, 1),
]}


def bits_per_second(name):
    """Of a network of the table, or of KBIT,MILLISECONDS."""
    network = NETWORKS.get(name)
    return network.kilobits * 1000 if network else float(name.split(",")[0]) * 1000
