"""The rows of the table, in its order."""

from . import batch_cpu, batch_memory, batch_rate, frame, help, one_jpeg, passed, phone_pictures, queue_rate, refusal
from . import remux, tools

ROWS = {
    "batch-cpu": batch_cpu,
    "batch-rate": batch_rate,
    "batch-memory": batch_memory,
    "one-jpeg": one_jpeg,
    "passed": passed,
    "frame": frame,
    "phone-pictures": phone_pictures,
    "remux": remux,
    "refusal": refusal,
    "help": help,
    "queue": queue_rate,
    "tools": tools,
}
