#!/usr/bin/env python3
"""Tests of the decisions of Benchmarks/compare: Benchmarks/comparison/test_verdict.py"""

import unittest

from verdict import Verdict, change, crossing, meets, verdict, verdicts

LESS, MORE = "less", "more"


class ChangeTests(unittest.TestCase):
    CASES = [
        (1.00, 1.00, LESS, Verdict.SAME), (1.15, 1.00, LESS, Verdict.SAME), (1.16, 1.00, LESS, Verdict.REGRESSION),
        (0.90, 1.00, LESS, Verdict.SAME), (0.80, 1.00, LESS, Verdict.BETTER), (1.30, 1.50, MORE, Verdict.REGRESSION),
        (1.31, 1.50, MORE, Verdict.SAME), (1.50, 1.50, MORE, Verdict.SAME), (2.00, 1.50, MORE, Verdict.BETTER),
        (1.00, None, LESS, Verdict.NEW), (0, 0, LESS, Verdict.SAME), (1, 0, LESS, Verdict.REGRESSION),
    ]

    def test_more_than_fifteen_in_a_hundred_worse_is_a_regression(self):
        for value, recorded, better, expected in self.CASES:
            with self.subTest(value=value, recorded=recorded, better=better):
                self.assertEqual(change(value, recorded, better), expected)


class CrossingTests(unittest.TestCase):
    THRESHOLD = {"measure": "seconds", "better": LESS, "limit": 0.03}

    def test_what_is_no_ratio_is_compared_with_its_limit_alone(self):
        for value, recorded, expected in [(0.029, 0.010, Verdict.SAME), (0.031, 0.030, Verdict.REGRESSION),
                                          (0.020, 0.040, Verdict.BETTER), (0.050, 0.040, Verdict.SAME),
                                          (0.020, None, Verdict.NEW)]:
            with self.subTest(value=value, recorded=recorded):
                self.assertEqual(crossing(value, recorded, self.THRESHOLD), expected)


class LimitTests(unittest.TestCase):
    def test_a_limit_is_met_at_the_limit_itself(self):
        for value, limit, better, expected in [(1.1, 1.1, LESS, True), (1.11, 1.1, LESS, False),
                                               (1.3, 1.3, MORE, True), (1.29, 1.3, MORE, False)]:
            with self.subTest(value=value, limit=limit):
                self.assertEqual(meets(value, {"limit": limit, "better": better}), expected)


class VerdictTests(unittest.TestCase):
    THRESHOLDS = {"a": {"measure": "ratio", "better": LESS, "limit": 1.1, "recorded": 1.0},
                  "b": {"measure": "ratio", "better": MORE, "limit": 5, "recorded": 6}}

    def test_a_regression_within_the_limit_is_one_all_the_same(self):
        found = verdict({"row": "b", "value": 5.1}, self.THRESHOLDS["b"])
        self.assertEqual((found.kind, found.is_met), (Verdict.REGRESSION, True))

    def test_a_peer_that_is_not_here_is_named_and_is_no_regression(self):
        found = verdicts([{"row": "a", "value": 1.2}, {"row": "b", "notHere": "thumbor"}], self.THRESHOLDS)
        self.assertEqual([each.kind for each in found], [Verdict.REGRESSION, Verdict.ABSENT])


if __name__ == "__main__":
    unittest.main()
