"""Renders the Helm chart and the kustomize base, and validates every object by its schema.

    tools/helm/check                       prints one line for each rendering; 1 and the reasons when one is invalid
    tools/helm/check --render NAME         prints the objects of one rendering of the chart as JSON

Objects of Kubernetes are validated by the schemas of its API, custom resources by models made of their definitions. The
pods of the chart with default values are those of the base.
"""

import argparse
import contextlib
import copy
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import helm_python
import kubernetes_validate
import yaml
from cloudcoil.models.keda.v1alpha1 import ScaledObject
from cloudcoil.models.prometheus_operator.v1 import PodMonitor, ServiceMonitor

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy/helm/attachprep"
BASE = ROOT / "deploy/kubernetes"
KUBERNETES = "1.37"
CUSTOM = {model.__name__: model for model in (ScaledObject, PodMonitor, ServiceMonitor)}

SECRETS = {
    "tokens": ["a-token-of-thirty-two-characters"],
    "webhookSecrets": ["whsec_" + "A" * 43 + "="],
    "queueKeys": ["k1:" + "A" * 43 + "="],
    "databasePassword": "secret",
}
# What people set, each with another kind of autoscaling.
RENDERINGS = {
    "default": {"secrets": SECRETS},
    "everything": {
        "image": {"repository": "ghcr.io/you/attachprep", "tag": "1.2.3"},
        "imagePullSecrets": [{"name": "pull"}],
        "queue": {"url": "postgres://me@a,b/push?sslmode=verify-full", "schema": "push_2"},
        "bucket": {
            "target": "s3://media/push", "region": "eu-west-1", "endpoint": "http://minio:9000", "pathStyle": True,
            "baseURL": "https://cdn.example/push",
        },
        "secrets": {"existing": "push-secrets"},
        "settings": {"max-queue": 2000000, "https-only": True, "log-level": "debug"},
        "serviceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::1:role/a"}},
        "service": {
            "nodeSelector": {"kubernetes.io/os": "linux"}, "podAnnotations": {"a": "b"},
            "tolerations": [{"key": "media", "operator": "Exists"}],
            "env": [{"name": "OTEL_EXPORTER_OTLP_ENDPOINT", "value": "http://collector:4318"}],
        },
        "ingress": {
            "enabled": True, "className": "nginx", "host": "push.example", "tlsSecret": "tls",
            "paths": ["/media/", "/v1/receipts"],
            "annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "500m"},
        },
        "autoscaling": {"kind": "keda"},
        "metrics": {
            "monitors": {
                "enabled": True, "labels": {"release": "prometheus"},
                "tokenSecret": {"name": "push-secrets", "key": "metrics-token"},
            }
        },
    },
    "hpa": {"secrets": SECRETS, "autoscaling": {"kind": "hpa", "ageSeconds": 30}, "metrics": {"annotations": False}},
}


def objects(text):
    return [document for document in yaml.safe_load_all(text) if document]


def render_chart(values, name="attachprep"):
    with helm_python.Chart.load(CHART) as chart:
        rendered = chart.render(values=values, name=name, namespace="media", is_install=True)
    return [one for path, text in sorted(rendered.items()) if path.endswith(".yaml") for one in objects(text)]


def render_base(folder):
    """The objects of a folder with a kustomization; None without kubectl, which Debian has only in an old version."""
    if not shutil.which("kubectl"):
        return None
    run = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"helm/check: kubectl kustomize {folder} failed: {run.stderr}")
    return objects(run.stdout)


def problems(found):
    """A sentence for each object that its schema does not allow."""
    for one in found:
        name = f"{one.get('kind')} {one.get('metadata', {}).get('name')}"
        try:
            if model := CUSTOM.get(one.get("kind")):
                # A model ignores unknown keys, so they are found by what it leaves out.
                known = model.model_validate(one).model_dump(mode="json", by_alias=True, exclude_unset=True)
                if json.dumps(known, sort_keys=True) != json.dumps(one, sort_keys=True):
                    yield f"{name}: a key is unknown, of {json.dumps(one)}"
            else:
                with contextlib.redirect_stdout(io.StringIO()):
                    kubernetes_validate.validate(one, KUBERNETES, strict=True)
        except Exception as error:  # Each library has its own errors; all of them are reasons.
            yield f"{name}: {error}"


def pods(found):
    """The pods of each deployment, without what a release names itself."""
    specs = {}
    for one in found:
        if one["kind"] != "Deployment":
            continue
        pod = copy.deepcopy(one["spec"]["template"]["spec"])
        for container in pod["containers"]:
            container.pop("image"), container.pop("imagePullPolicy", None)
            for source in container["envFrom"]:
                # kustomize adds a hash of the content to the name.
                source.get("configMapRef", {}).pop("name", None)
        for spread in pod["topologySpreadConstraints"]:
            spread.pop("labelSelector")
        specs[one["metadata"]["name"]] = pod
    return specs


def check():
    failures = []

    def report(name, found):
        failures.extend(f"{name}: {reason}" for reason in problems(found))
        kinds = sorted(one["kind"] for one in found)
        print(f"helm/check: {name}: {len(found)} objects: {', '.join(kinds)}")

    # The severity 3 is an error, 2 a warning; the icon that 1 asks for is a matter of catalogs.
    lint = helm_python.lint(CHART, values=RENDERINGS["default"], strict=True)
    failures += [f"lint: {one['path']}: {one['error']}" for one in lint["messages"] if one["severity"] > 1]
    charts = {name: render_chart(values) for name, values in RENDERINGS.items()}
    for name, found in charts.items():
        report(f"chart, {name}", found)
    for values, reason in [({}, "secrets.existing"), ({"secrets": SECRETS, "que": 1}, "que")]:
        try:
            with helm_python.Chart.load(CHART) as chart:
                chart.validate_schema(values)
            render_chart(values)
            failures.append(f"chart: the values {values} are accepted")
        except helm_python.HelmError as error:
            if reason not in str(error):
                failures.append(f"chart: {values}: the error does not name {reason}: {error}")
    base = render_base(BASE)
    if base is None:
        print("helm/check: no kubectl, so the kustomize base is not rendered; KubernetesTests validates its files")
    else:
        report("kustomize base", base)
        with tempfile.TemporaryDirectory() as overlay:
            up = os.path.relpath(BASE, pathlib.Path(overlay).resolve())
            lines = f"resources: [{up}]\ncomponents: [{up}/monitoring]\n"
            (pathlib.Path(overlay) / "kustomization.yaml").write_text(lines)
            report("kustomize base with monitoring", render_base(overlay))
        of_chart, of_base = pods(charts["default"]), pods(base)
        if of_chart != of_base:
            failures.append(
                "the pods of the chart differ from those of the base:\n"
                f"{json.dumps(of_chart, sort_keys=True)}\n{json.dumps(of_base, sort_keys=True)}")
    for failure in failures:
        print(f"helm/check: {failure}", file=sys.stderr)
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--render", choices=RENDERINGS)
    arguments = parser.parse_args()
    if arguments.render:
        print(json.dumps(render_chart(RENDERINGS[arguments.render])))
        return 0
    return check()


sys.exit(main())
