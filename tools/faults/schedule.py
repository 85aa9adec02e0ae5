"""The faults of a campaign: the same seed and number give the same list."""

import random

SERVERS = ["db-1", "db-2", "db-3"]
WORKERS = ["serve-1", "serve-2", "worker-1", "worker-2"]
# The process that stands for everybody outside: callers, origin, bucket, webhook receiver. No fault hits it alone.
OUTSIDE = "outside"

# Kind and its weight, for servers and for workers.
KINDS = {
    "kill": (20, 30),
    "stop": (14, 14),
    "slow network": (12, 12),
    "partition": (20, 20),
    "slow disk": (12, 8),
    "full disk": (8, 6),
    "power": (12, 0),
    "clock": (0, 18),
}
# What of a server is killed by `kill -9`: all of its processes, its first one, or one of the others.
VICTIMS = ["all", "postmaster", "backend"]
# A server is disturbed when the others have been left alone for some seconds, in which a standby catches up, but one
# time in twelve also while another one is.
CALM_SECONDS = (5, 9)
BESIDE_ANOTHER = 0.08
GAP_SECONDS = (0.3, 1.9)
# From the end of a fault until the next one of the same machine: time to restart.
CATCH_UP_SECONDS = 2
# One fault in so many is a power failure of all servers at once: only what was flushed to their disks survives.
ALL_EVERY = 40
# One fault in so many is a failure of the primary with a promotion of the synchronous standby. What happens to the
# primary before it is fenced, and how it becomes a standby afterwards:
PROMOTION_EVERY, PROMOTION_FIRST = 20, 10
CAUSES = ["kill", "stop", "partition", "power", "standby first", "none"]
REJOINS = ["rewind", "copy"]
PROMOTION_SECONDS = 12


def schedule(seed, count):
    """Faults in the order of their starts: at, kind, target, seconds and the values of the kind."""
    choice = random.Random(seed)
    busy = {}
    calm = 0
    faults = []
    now = 3.0
    while len(faults) < count:
        now = round(now + choice.uniform(*GAP_SECONDS), 2)
        number = len(faults) + 1
        if number % ALL_EVERY == 0 or number % PROMOTION_EVERY == PROMOTION_FIRST:
            now = max(now, *(busy.get(name, 0) for name in SERVERS))
            seconds = round(choice.uniform(0.2, 6), 2)
            fault = {"number": number, "at": now, "target": "servers", "seconds": seconds}
            if number % PROMOTION_EVERY == PROMOTION_FIRST:
                fault |= {"kind": "promotion", "cause": choice.choice(CAUSES), "rejoin": choice.choice(REJOINS)}
                seconds += PROMOTION_SECONDS
            else:
                fault |= {"kind": "power", "targets": SERVERS}
            faults.append(fault)
            busy.update(dict.fromkeys(SERVERS, now + seconds + CATCH_UP_SECONDS))
            calm = now + seconds + choice.uniform(*CALM_SECONDS)
            continue
        free = [name for name in SERVERS + WORKERS if busy.get(name, 0) <= now]
        if now < calm and choice.random() >= BESIDE_ANOTHER:
            free = [name for name in free if name not in SERVERS]
        if not free:
            continue
        target = choice.choice(free)
        fault = {"number": number, "at": now, "target": target, **detail(choice, target)}
        busy[target] = now + fault["seconds"] + CATCH_UP_SECONDS
        if target in SERVERS:
            calm = max(calm, now + fault["seconds"] + choice.uniform(*CALM_SECONDS))
        faults.append(fault)
    return faults


def detail(choice, target):
    column = 0 if target in SERVERS else 1
    kind = choice.choices(list(KINDS), [weights[column] for weights in KINDS.values()])[0]
    # One in seven of these is longer than its lease.
    is_long = target in WORKERS and kind in ["kill", "stop", "partition"] and choice.random() < 0.14
    fault = {"kind": kind, "seconds": round(choice.uniform(16, 24) if is_long else choice.uniform(0.2, 5), 2)}
    if kind == "kill" and target in SERVERS:
        fault["victim"] = choice.choice(VICTIMS)
    if kind == "partition":
        others = [name for name in SERVERS + WORKERS + [OUTSIDE] if name != target]
        if choice.random() < 0.5:
            others = choice.sample(others, choice.randint(1, 3))
        fault |= {"from": others, "direction": choice.choices(["both", "out", "in"], [3, 1, 1])[0]}
    if kind == "slow network":
        fault["kilobits"] = choice.choice([64, 256, 1000])
    if kind == "slow disk":
        fault["milliseconds"] = choice.choice([100, 300, 900])
    if kind == "clock":
        size = choice.choice([2, 30, 600, 7200])
        fault["offset"] = round(choice.uniform(-size, size), 1)
    return fault
