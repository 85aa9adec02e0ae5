"""Jobs for a warm worker: selection, number and results."""

import itertools
import math
import random

from measure import machine, processor, sample
from measure.quiet import quiet
from worker.load import carry_out, forget
from worker.service import Service

BUDGET_SECONDS = 30
# Jobs for each caller before the worker's disk is cleared and the lock is released.
BATCH = 20
# Samples for files that the network cannot transfer within the budget: the result is known in advance.
HOPELESS_SAMPLES = 3


def measure(network, cases, count, origin, state, numbers):
    """Light cases first; encoding cases run separately, because others would wait for them."""
    light, heavy = ([case for case in cases if case.heavy == is_heavy] for is_heavy in [False, True])
    samples, runs = [], []
    with Service(state, *origin.options, "--concurrency", "64", "--per-host", "64") as service:
        # Warm-up: starts media processes, loads libraries, fills the page cache.
        take(service, jobs(light, 1, origin, network, numbers), network.in_flight, network)
        for some, callers in [(light, network.in_flight), (heavy, network.heavy_in_flight)]:
            if not some:
                continue
            facts, clock = machine.facts(), processor.Clock()
            samples += take(service, jobs(some, count, origin, network, numbers), callers, network, clock)
            runs.append({**facts, "network": network.name, "heavy": some is heavy, "inFlight": callers,
                         "hasNameServer": origin.has_names, **clock.summary(facts["cores"])})
    return samples, runs


def jobs(cases, count, origin, network, numbers):
    """Each case and its request `count` times, interleaved, so that other load affects all cases alike."""
    sent = [(case, {"source": origin.address(network, case.file, number), "budget": BUDGET_SECONDS, **case.options})
            for case in cases for number in itertools.islice(numbers, worthwhile(case, count, network))]
    random.Random(7).shuffle(sent)
    return sent


def worthwhile(case, count, network):
    """The number of samples of a case."""
    own = math.ceil(count / case.one_in)
    return min(own, HOPELESS_SAMPLES) if network.seconds(case.bytes) > BUDGET_SECONDS else own


def take(service, sent, callers, network, clock=None):
    """The samples of jobs; clears the worker's disk. Time does not count while others hold the lock."""
    samples = []
    for start in range(0, len(sent), BATCH * callers):
        batch = sent[start:start + BATCH * callers]
        with quiet():
            before = processor.reading()
            done = carry_out(service, [request for _, request in batch], callers)
            if clock:
                clock.add(before, processor.reading())
        samples += [sample.sample(case, network.name, manifest, seconds)
                    for (case, _), (manifest, seconds) in zip(batch, done)]
        forget(service)
    return samples
