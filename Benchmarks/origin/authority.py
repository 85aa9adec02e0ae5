"""A certificate authority for one run, and a certificate for the names of its origins."""

import os
import subprocess

# Elliptic curves, as CDNs use: an RSA signature would take the origin longer than a phone's whole handshake.
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]


class Authority:
    """PEM files in a folder: `trusted` for the worker, `certificate` and `key` for the server."""

    def __init__(self, folder, domain):
        self.trusted = os.path.join(folder, "authority.pem")
        self.certificate = os.path.join(folder, "origin.pem")
        self.key = os.path.join(folder, "origin.key")
        authority_key = os.path.join(folder, "authority.key")
        run("-x509", *KEY, "-subj", "/CN=Authority of a benchmark", "-keyout", authority_key, "-out", self.trusted)
        run("-x509", *KEY, "-subj", f"/CN={domain}", "-addext", f"subjectAltName=DNS:{domain},DNS:*.{domain}",
            "-addext", "basicConstraints=CA:FALSE", "-CA", self.trusted, "-CAkey", authority_key,
            "-keyout", self.key, "-out", self.certificate)


def run(*words):
    subprocess.run(["openssl", "req", *words], check=True, stderr=subprocess.DEVNULL)
