"""The position of a value on an axis from 0 to its end, in percent of the width."""

import math

STEPS = [1, 2, 2.5, 5, 10]


class Scale:
    def __init__(self, end):
        self.end = end

    def at(self, value):
        """The position, at most the end."""
        return f"{min(100, max(0, value) / self.end * 100):.3f}%"

    def length(self, start, end):
        return f"{(min(end, self.end) - min(start, self.end)) / self.end * 100:.3f}%"

    def holds(self, value):
        return value <= self.end

    def ticks(self, count=5):
        """Round tick values from 0, about `count` of them."""
        rough = self.end / count
        power = 10 ** math.floor(math.log10(rough))
        step = next(power * step for step in STEPS if power * step >= rough * 0.999)
        return [step * index for index in range(int(self.end / step * 1.0001) + 1)]
