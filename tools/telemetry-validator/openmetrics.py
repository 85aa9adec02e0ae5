"""Reads a page of OpenMetrics from standard input and prints a line for each exemplar: name, le and labels."""

import sys

from prometheus_client.openmetrics.parser import text_string_to_metric_families

for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        if sample.exemplar:
            labels = " ".join(f"{key}={value}" for key, value in sorted(sample.exemplar.labels.items()))
            print(sample.name, sample.labels.get("le"), labels, sample.exemplar.value)
