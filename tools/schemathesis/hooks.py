"""What JSON Schema cannot say of a request: kept out of the generated ones, so that each of them is a valid one."""

import schemathesis


@schemathesis.hook
def filter_body(context, body):
    if not isinstance(body, dict) or "source" not in body:
        return True
    # Two times that have to be in order, and a network with its time: looked at together.
    together = [("notBefore", "notAfter"), ("network", "deviceBudget"), ("rendition", "deviceBudget")]
    return not any(body.get(one) is not None and body.get(other) is not None for one, other in together)
