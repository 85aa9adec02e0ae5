"""Reads the bits of a NAL unit without its emulation prevention bytes."""


class BitReader:
    def __init__(self, data, length=64):
        """Reads the first bytes only."""
        data = bytes(data[:length]).replace(b"\0\0\3", b"\0\0")
        self.value, self.left = int.from_bytes(data, "big"), 8 * len(data)

    def read(self, count):
        self.left -= count
        if self.left < 0:
            raise EOFError
        return self.value >> self.left & (1 << count) - 1

    def golomb(self):
        zeros = 0
        while not self.read(1):
            zeros += 1
            if zeros > 31:
                raise EOFError
        return (1 << zeros) - 1 + self.read(zeros)

    def signed_golomb(self):
        value = self.golomb()
        return (value + 1) // 2 if value % 2 else -(value // 2)
