"""The rows of the table, in its order."""

from . import batch_cpu, batch_memory, batch_rate, frame, help, one_jpeg, passed, phone_pictures, queue_rate
from . import mix_instructions, mix_kinds, mix_latency, mix_memory, mix_rate, own_files, rejection, remux, tools

ROWS = {
    "batch-cpu": batch_cpu,
    "batch-rate": batch_rate,
    "batch-memory": batch_memory,
    "mix-rate": mix_rate,
    "mix-memory": mix_memory,
    "mix-kinds": mix_kinds,
    "mix-latency": mix_latency,
    "mix-instructions": mix_instructions,
    "own-files": own_files,
    "one-jpeg": one_jpeg,
    "passed": passed,
    "frame": frame,
    "phone-pictures": phone_pictures,
    "remux": remux,
    "refusal": rejection,
    "help": help,
    "queue": queue_rate,
    "tools": tools,
}
