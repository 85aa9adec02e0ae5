"""The networks of the product's table (`NetworkProfile`) for origins, and unshaped loopback."""

import dataclasses

UNSHAPED = "unshaped"


@dataclasses.dataclass(frozen=True)
class Network:
    """Rate, round trip and number of concurrent downloads.

    Each download has a separate link. With more in flight, this machine instead of the links would be the bottleneck.
    """

    name: str
    kilobits: int
    milliseconds: int
    in_flight: int
    # Concurrent jobs that encode for a second or longer.
    heavy_in_flight: int

    def seconds(self, count):
        """The minimum time for this number of bytes."""
        return count * 8 / self.kilobits / 1000 if self.kilobits else 0


NETWORKS = {network.name: network for network in [
    Network("3g", 1_600, 150, 16, 3),
    Network("lte", 12_000, 70, 6, 2),
    Network("wifi", 40_000, 20, 3, 1),
    Network(UNSHAPED, 0, 0, 1, 1),
]}


def bits_per_second(name):
    """The rate of a network in the table, or of KBIT,MILLISECONDS."""
    network = NETWORKS.get(name)
    return network.kilobits * 1000 if network else float(name.split(",")[0]) * 1000
