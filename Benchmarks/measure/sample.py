"""The result of one job."""


def sample(case, network, manifest, answer_seconds):
    """From a manifest, and the time from its request to its arrival."""
    error = manifest["error"]
    return {"case": case.name, "network": network, "outcome": manifest["outcome"],
            "code": error["code"] if error else None, "delivered": (manifest["attachment"] or {}).get("bytes"),
            "timings": manifest["timings"], "answer": round(answer_seconds * 1000, 2)}
