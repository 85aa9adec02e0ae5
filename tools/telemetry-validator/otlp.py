"""Reads an OTLP export request in JSON from standard input and prints the name of each span.

Fails on fields, types or enum values that OTLP does not have. OTLP writes ids in hexadecimal, where the JSON of
Protocol Buffers has base64: they are checked and converted before.
"""

import base64
import json
import sys

from google.protobuf import json_format
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

document = json.load(sys.stdin)
for resource in document["resourceSpans"]:
    for scope in resource["scopeSpans"]:
        for span in scope["spans"]:
            for key, length in (("traceId", 16), ("spanId", 8), ("parentSpanId", 8)):
                if key in span:
                    raw = bytes.fromhex(span[key])
                    assert len(raw) == length and any(raw), f"{key} {span[key]}"
                    span[key] = base64.b64encode(raw).decode()
request = json_format.ParseDict(document, ExportTraceServiceRequest())
for resource in request.resource_spans:
    assert any(a.key == "service.name" for a in resource.resource.attributes), "no service.name"
    for scope in resource.scope_spans:
        for span in scope.spans:
            assert 0 < span.start_time_unix_nano <= span.end_time_unix_nano, "times"
            assert 1 <= span.kind <= 5, "kind"
            print(span.name)
