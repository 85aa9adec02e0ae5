#!/usr/bin/env python3
"""Tests of the judge's comparisons, without a decoder: Benchmarks/damage_bench/test_judge.py"""

import unittest

import listening
import numpy
import pictures
import structure_gif
from decode import Pictures, Samples
from judge import SAME, SLIGHT, VISIBLE, graded

RATE = 8000


def audio(values):
    return Samples(values.reshape(-1, 1), [])


def movie(pixels, times=None):
    return Pictures(numpy.arange(len(pixels)) / 10 if times is None else times, pixels, [])


class ListeningTests(unittest.TestCase):
    def setUp(self):
        self.values = numpy.random.default_rng(1).integers(-9000, 9000, 4 * RATE).astype(numpy.int16)

    def grade(self, values):
        return graded(listening.compare(audio(self.values), audio(values), RATE))

    def test_equal_audio_is_the_same(self):
        self.assertEqual(self.grade(self.values), SAME)

    def test_a_little_in_front_only_moves_what_is_audible(self):
        self.assertEqual(self.grade(numpy.concatenate([numpy.zeros(300, numpy.int16), self.values])), SAME)

    def test_a_lost_frame_is_lost_once_and_not_all_that_follows(self):
        found = listening.compare(audio(self.values), audio(numpy.delete(self.values, slice(9000, 9400))), RATE)
        self.assertLess(found["different"], 0.1)
        self.assertGreater(found["different"], 0)

    def test_a_missing_end_is_audible(self):
        self.assertEqual(self.grade(self.values[:-RATE]), VISIBLE)

    def test_one_wrong_sample_is_slight(self):
        values = self.values.copy()
        values[5000] += 1
        self.assertEqual(self.grade(values), SLIGHT)


class PictureTests(unittest.TestCase):
    def setUp(self):
        self.pixels = numpy.random.default_rng(2).integers(0, 255, (20, 90, 160, 3)).astype(numpy.uint8)

    def grade(self, pixels, times=None):
        return graded(pictures.compare(movie(self.pixels), movie(pixels, times)))

    def test_equal_pictures_are_the_same(self):
        self.assertEqual(self.grade(self.pixels), SAME)

    def test_a_missing_end_is_visible(self):
        self.assertEqual(self.grade(self.pixels[:15]), VISIBLE)

    def test_no_picture_at_all_is_visible(self):
        self.assertEqual(self.grade(self.pixels[:0]), VISIBLE)

    def test_a_destroyed_corner_is_visible(self):
        pixels = self.pixels.copy()
        pixels[3:6, :16, :16] = 0
        self.assertEqual(self.grade(pixels), VISIBLE)

    def test_one_wrong_pixel_is_slight(self):
        pixels = self.pixels.copy()
        pixels[3:6, 20, 20] ^= 128
        self.assertEqual(self.grade(pixels), SLIGHT)

    def test_a_picture_that_is_shown_too_long_hides_the_next(self):
        keep = numpy.delete(numpy.arange(20), slice(5, 7))
        self.assertEqual(self.grade(self.pixels[keep], keep / 10), VISIBLE)


class GIFTests(unittest.TestCase):
    HEAD = b"GIF89a" + bytes([4, 0, 1, 0, 0x80, 0, 0, *range(6)])

    def test_codes_must_make_the_pixels_of_the_frame(self):
        # Codes of three bits: 4 clears, 1, 6 is 1 1, 1, 5 ends.
        value, held = 0, 0
        for code in [4, 1, 6, 1, 5]:
            value, held = value | code << held, held + 3
        content = value.to_bytes(2, "little")
        self.assertIsNone(structure_gif.codes(content, 2, 4))
        self.assertEqual(structure_gif.codes(content, 2, 5), "pixels")
        self.assertEqual(structure_gif.codes(content[:1], 2, 4), "no end code")

    def test_a_file_without_its_end_is_cut(self):
        self.assertEqual(structure_gif.failures(self.HEAD), {"cut"})


if __name__ == "__main__":
    unittest.main()
