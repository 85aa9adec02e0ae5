"""What APNs checks in a request, with its statuses and reasons, for token-based authentication.

https://developer.apple.com/documentation/usernotifications/sending-notification-requests-to-apns
https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns
"""

import base64
import json
import re
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_public_key

PAYLOAD_BYTES = 4_096
COLLAPSE_ID_BYTES = 64
# Apple: a token is valid for an hour, and is not to be renewed more often than every 20 minutes.
TOKEN_SECONDS = 60 * 60
TOKEN_RENEWAL_SECONDS = 20 * 60
# For senders whose clock is ahead.
CLOCK_SECONDS = 60

PUSH_TYPES = {"alert", "background", "location", "voip", "complication", "fileprovider", "mdm", "liveactivity",
              "pushtotalk", "widgets", "controls"}
# Apple says that device tokens have no fixed length; these are 32 to 100 bytes.
DEVICE = re.compile(r"[0-9a-fA-F]{64,200}")
PATH = re.compile(r"/3/device/([^/?]*)")
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Rejection(Exception):
    """A status and a reason of Apple's table."""

    def __init__(self, status, reason):
        super().__init__(f"{status} {reason}")
        self.status, self.reason = status, reason


def decoded(part):
    return base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))


class Provider:
    """The team, key and topic that a request must be from."""

    def __init__(self, public_key, team_id, key_id, topic):
        self.key = load_pem_public_key(public_key)
        self.team_id, self.key_id, self.topic = team_id, key_id, topic

    def check_token(self, authorization, now):
        """The time at which a valid JWT was issued."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise Rejection(403, "MissingProviderToken")
        try:
            header, claims, signature = token.split(".")
            head, body = json.loads(decoded(header)), json.loads(decoded(claims))
            raw = decoded(signature)
            # JWS signatures are two numbers of 32 bytes, not DER.
            if head["alg"] != "ES256" or len(raw) != 64:
                raise ValueError("not ES256")
            numbers = (int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big"))
            self.key.verify(
                utils.encode_dss_signature(*numbers), f"{header}.{claims}".encode(), ec.ECDSA(SHA256()))
            if head["kid"] != self.key_id or body["iss"] != self.team_id:
                raise ValueError("another key or team")
            # Some libraries write a string.
            issued = int(body["iat"])
        except (ValueError, KeyError, TypeError, InvalidSignature) as error:
            raise Rejection(403, "InvalidProviderToken") from error
        if issued > now + CLOCK_SECONDS:
            raise Rejection(403, "InvalidProviderToken")
        if issued < now - TOKEN_SECONDS:
            raise Rejection(403, "ExpiredProviderToken")
        return issued

    def check(self, headers, body, tokens):
        """Throws what APNs would answer instead of 200.

        headers: pairs; tokens: the TokenHistory of the connection.
        """
        fields = {}
        for name, value in headers:
            if name in fields and name.startswith("apns-"):
                raise Rejection(400, "DuplicateHeaders")
            fields[name] = value
        if fields[":method"] != "POST":
            raise Rejection(405, "MethodNotAllowed")
        path = PATH.fullmatch(fields[":path"])
        if not path:
            raise Rejection(404, "BadPath")
        tokens.check(fields.get("authorization"), self, time.time())
        if not path[1]:
            raise Rejection(400, "MissingDeviceToken")
        if not DEVICE.fullmatch(path[1]) or len(path[1]) % 2:
            raise Rejection(400, "BadDeviceToken")
        self.check_fields(fields)
        if not body:
            raise Rejection(400, "PayloadEmpty")
        if len(body) > PAYLOAD_BYTES:
            raise Rejection(413, "PayloadTooLarge")

    def check_fields(self, fields):
        if not fields.get("apns-topic"):
            raise Rejection(400, "MissingTopic")
        if fields["apns-topic"] != self.topic:
            raise Rejection(400, "TopicDisallowed")
        if fields.get("apns-push-type") not in PUSH_TYPES:
            raise Rejection(400, "InvalidPushType")
        if fields.get("apns-priority", "10") not in ("1", "5", "10"):
            raise Rejection(400, "BadPriority")
        if not re.fullmatch(r"[0-9]{1,11}", fields.get("apns-expiration", "0")):
            raise Rejection(400, "BadExpirationDate")
        if len(fields.get("apns-collapse-id", "").encode()) > COLLAPSE_ID_BYTES:
            raise Rejection(400, "BadCollapseId")
        if "apns-id" in fields and not UUID.fullmatch(fields["apns-id"]):
            raise Rejection(400, "BadMessageId")


class TokenHistory:
    """The provider tokens of one connection: a sender has to reuse its token."""

    def __init__(self):
        self.known, self.since = set(), None

    def check(self, authorization, provider, now):
        provider.check_token(authorization, now)
        # Requests that were signed before a renewal may arrive after it.
        if authorization in self.known:
            return
        if self.since and now - self.since < TOKEN_RENEWAL_SECONDS:
            raise Rejection(429, "TooManyProviderTokenUpdates")
        self.known.add(authorization)
        self.since = now

    def allow_renewal(self):
        """The next token may be new: one was declared expired."""
        self.since = None
