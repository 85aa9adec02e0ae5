#!/usr/bin/env python3
"""Opens a sealed file of attachprep, for other receivers than RichPush. Needs the package `cryptography`.

    open_sealed.py SECRET attachment|thumbnail|crop FILE [TARGET]

SECRET is the text of `sealed.secret` in the payload. Prints one line of JSON: the bytes, the type and the name of the
content. Writes the content to TARGET only after the last chunk was verified. The format is described in
docs/reference/sealed.md, of which this is an implementation of its own.
"""
import base64
import json
import struct
import sys

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

VERSION, CHUNK_BITS, TAG = 1, 16, 16
CHUNK = 1 << CHUNK_BITS
ROLES = {"attachment": 1, "thumbnail": 2, "crop": 3}


def padded(length):
    step = max(4096, 1 << max(0, length.bit_length() - 4))
    return -(-length // step) * step


def open_sealed(secret, role, data):
    """Returns content, type and name; raises ValueError for a file that is not exactly what was sealed."""
    if len(data) <= 34 + TAG:
        raise ValueError("the file is too short")
    if data[0] != VERSION or data[1] != CHUNK_BITS:
        raise ValueError("another version or chunk size")
    salt, body = data[2:34], data[34:]
    chunks = -(-len(body) // (CHUNK + TAG))
    length = len(body) - chunks * TAG
    if length <= (chunks - 1) * CHUNK or padded(length) != length:
        raise ValueError("no sealed file has this length")
    suffix = bytes([VERSION, ROLES[role]])
    key = HKDF(SHA256(), 32, salt, b"attachprep sealed media" + suffix).derive(secret)
    authenticated = suffix + struct.pack(">IQ", CHUNK, length)
    plaintext = bytearray()
    for index in range(chunks):
        sealed = body[index * (CHUNK + TAG):(index + 1) * (CHUNK + TAG)]
        nonce = bytes(7) + struct.pack(">IB", index, index == chunks - 1)
        try:
            plaintext += AESGCM(key).decrypt(nonce, sealed, authenticated)
        except InvalidTag:
            raise ValueError(f"chunk {index} is not authentic") from None
    (size,) = struct.unpack_from(">Q", plaintext)
    fields, position = [], 8
    for _ in range(2):
        end = position + 1 + plaintext[position]
        fields.append(plaintext[position + 1:end].decode())
        position = end
    content, padding = plaintext[position:position + size], plaintext[position + size:]
    if size == 0 or len(content) != size or any(padding) or padded(position + size) != length:
        raise ValueError("the record contradicts the file")
    return bytes(content), *fields


def main(secret, role, path, target=None):
    with open(path, "rb") as file:
        data = file.read()
    content, kind, name = open_sealed(base64.urlsafe_b64decode(secret + "="), role, data)
    if target:
        with open(target, "wb") as file:
            file.write(content)
    print(json.dumps({"bytes": len(content), "type": kind, "name": name}))


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5) or sys.argv[2] not in ROLES:
        sys.exit(__doc__)
    try:
        main(*sys.argv[1:])
    except ValueError as error:
        sys.exit(f"open_sealed.py: {error}")
