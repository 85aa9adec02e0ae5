#!/usr/bin/env node
// Sends a campaign to APNs, with media prepared by attachprep. Needs nothing but Node 18 or newer. (@parse/node-apn
// does the part that is in ProviderToken and Connection: new apn.Provider({token: {key, keyId, teamId}}), and
// apn.Notification with rawPayload, which sends the service's payload unchanged.)
//
//   export APNS_KEY=AuthKey_ABC123DEFG.p8 APNS_KEY_ID=ABC123DEFG APNS_TEAM_ID=DEF123GHIJ APNS_TOPIC=com.example.app
//   ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... ./send.mjs campaign.jsonl devices.txt
//
// Each line of campaign.jsonl is {"name": "spring", "payload": {…}}, where the payload can be the name of a file in the
// folder "payloads" beside it; devices.txt has one device token a line. See README.md for all variables and the output.

import { createPrivateKey, randomUUID, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, constants } from "node:http2";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const environment = process.env;
const attachprep = environment.ATTACHPREP_URL ?? "http://127.0.0.1:8080";
const apnsURL = environment.APNS_URL ?? "https://api.sandbox.push.apple.com";
const concurrency = Number(environment.APNS_CONCURRENCY ?? 100);
const backoffSeconds = Number(environment.APNS_BACKOFF ?? 1);

const attempts = 5;
const longestBackoffSeconds = 60;
const requestSeconds = 30;
const payloadBytes = 4096;
/** How long APNs keeps a notification for a phone that is off. */
const lifetimeSeconds = 24 * 60 * 60;
/** APNs accepts a provider token for 60 minutes, and a new one at most every 20 minutes. */
const tokenSeconds = 40 * 60;
/** The device token will never work again for this app: delete it. */
const gone = ["Unregistered", "ExpiredToken", "BadDeviceToken", "DeviceTokenNotForTopic"];
/** Every notification would be rejected like this one: key, team, topic or environment is wrong. */
const misconfigured = ["MissingTopic", "BadTopic", "TopicDisallowed", "BadCertificateEnvironment"];

/** Ends the program: nothing more can be sent. */
class SendError extends Error {}

const now = () => Math.floor(Date.now() / 1000);
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

/** The JWT by which APNs knows the sender. It is reused: APNs rejects senders that sign one per request. */
class ProviderToken {
  #key = createPrivateKey(readFileSync(environment.APNS_KEY));
  #value = null;
  #issued = 0;

  current() {
    if (!this.#value || now() - this.#issued > tokenSeconds) {
      this.#issued = now();
      const header = encoded({ alg: "ES256", kid: environment.APNS_KEY_ID });
      const content = `${header}.${encoded({ iss: environment.APNS_TEAM_ID, iat: this.#issued })}`;
      // JWS wants the two numbers of the signature, not DER.
      const signature = sign("sha256", Buffer.from(content), { key: this.#key, dsaEncoding: "ieee-p1363" });
      this.#value = `${content}.${signature.toString("base64url")}`;
    }
    return this.#value;
  }

  /** Signs a new token the next time, unless another request has already done so. */
  discard(rejected) {
    if (rejected === this.#value) this.#value = null;
  }
}

/** One connection for all notifications, opened again when it ends: Apple treats many short ones as an attack. */
class Connection {
  #session = null;

  #open() {
    if (this.#session) return this.#session;
    const session = connect(apnsURL);
    const forget = () => {
      if (this.#session === session) this.#session = null;
    };
    // Requests in progress report their own errors.
    session.on("error", forget).on("close", forget);
    session.on("goaway", () => {
      forget();
      session.close();
    });
    this.#session = session;
    return session;
  }

  post(path, headers, body) {
    return new Promise((resolve, reject) => {
      const stream = this.#open().request({ ":method": "POST", ":path": path, ...headers });
      let answered = {};
      let text = "";
      stream.setEncoding("utf8").setTimeout(1000 * requestSeconds, () => stream.close(constants.NGHTTP2_CANCEL));
      stream.on("response", (received) => (answered = received)).on("data", (part) => (text += part));
      stream.on("error", reject);
      stream.on("close", () => {
        if (answered[":status"]) resolve({ status: answered[":status"], headers: answered, text });
        else reject(new Error("the stream ended without a response"));
      });
      stream.end(body);
    });
  }

  close() {
    this.#session?.close();
  }
}

/** Exponential back-off with jitter, or longer if the server says so. */
function pause(attempt, retryAfter) {
  const backoff = Math.min(backoffSeconds * 2 ** attempt, longestBackoffSeconds) * (0.5 + Math.random() / 2);
  return sleep(1000 * Math.max(backoff, /^[0-9]+$/.test(retryAfter ?? "") ? Number(retryAfter) : 0));
}

/** The payload to send: media URLs are replaced by those of prepared files. Null if it cannot be sent. */
async function prepare(name, payload, recipients) {
  const headers = { "Content-Type": "application/json" };
  if (environment.ATTACHPREP_TOKEN) headers.Authorization = `Bearer ${environment.ATTACHPREP_TOKEN}`;
  const body = JSON.stringify({ payload, request: { rendition: "display" }, campaign: name, recipients });
  let problem;
  for (let attempt = 0; attempt < attempts; attempt++) {
    let retryAfter;
    try {
      const signal = AbortSignal.timeout(60_000);
      const answer = await fetch(`${attachprep}/v1/payloads`, { method: "POST", headers, body, signal });
      if (answer.status === 200) {
        const result = await answer.json();
        for (const warning of result.warnings) console.error(`${name}: ${warning.code}: ${warning.message}`);
        return Buffer.from(JSON.stringify(result.payload));
      }
      problem = await answer.text();
      if (answer.status === 422 && valueOf(problem, "code") === "payload.no_media") {
        return Buffer.from(JSON.stringify(payload));
      }
      retryAfter = answer.headers.get("retry-after");
      if (answer.status === 401) throw new SendError("attachprep answered 401: set ATTACHPREP_TOKEN");
      if (![429, 503].includes(answer.status)) break;
    } catch (error) {
      if (error instanceof SendError) throw error;
      problem = error.cause?.message ?? error.message;
    }
    await pause(attempt, retryAfter);
  }
  console.error(`${name}: not sent: ${problem}`);
  return null;
}

/** A member of a JSON object; "" if the text is something else. */
function valueOf(text, name) {
  try {
    return JSON.parse(text)[name] ?? "";
  } catch {
    return "";
  }
}

/** Sends one notification: "sent", "removed" or "failed". */
async function deliver(apns, token, name, payload, device) {
  const headers = {
    "apns-topic": environment.APNS_TOPIC,
    "apns-push-type": "alert",
    "apns-priority": "10",
    "apns-expiration": String(now() + lifetimeSeconds),
    // A second notification with the same id replaces the first on the phone, so repeating is harmless.
    "apns-collapse-id": name,
    "apns-id": randomUUID(),
  };
  let status = 0;
  let reason = "";
  for (let attempt = 0; attempt < attempts; attempt++) {
    const signed = token.current();
    let retryAfter;
    try {
      const authorization = `bearer ${signed}`;
      const answer = await apns.post(`/3/device/${device}`, { ...headers, authorization }, payload);
      status = answer.status;
      reason = valueOf(answer.text, "reason");
      retryAfter = answer.headers["retry-after"];
    } catch (error) {
      // The connection ended; the next request opens another one.
      status = 0;
      reason = error.message;
    }
    if (status === 200) return "sent";
    if (gone.includes(reason)) {
      console.log(`remove ${device} ${reason}`);
      return "removed";
    }
    if (reason === "ExpiredProviderToken") {
      token.discard(signed);
      continue;
    }
    if (status === 403 || misconfigured.includes(reason)) {
      throw new SendError(`APNs answered ${status} ${reason}: check APNS_KEY, _KEY_ID, _TEAM_ID, _TOPIC and _URL`);
    }
    if (status > 0 && status < 500 && status !== 429) break;
    if (attempt < attempts - 1) await pause(attempt, retryAfter);
  }
  console.error(`${name}: ${device}: ${status} ${reason}`);
  return "failed";
}

/** Sends one message to all devices, at most `concurrency` at a time; returns the outcome of each device. */
async function send(apns, token, name, payload, devices) {
  const outcomes = new Map();
  const remaining = devices.values();
  const work = async (limit = Infinity) => {
    for (let done = 0; done < limit; done++) {
      const { value: device, done: ended } = remaining.next();
      if (ended) return;
      outcomes.set(device, await deliver(apns, token, name, payload, device));
    }
  };
  // APNs allows one request at a time until it has accepted a token, and this one shows whether the key is right.
  await work(1);
  await Promise.all(Array.from({ length: concurrency }, () => work()));
  return outcomes;
}

/** The messages with their payloads, and the device tokens. */
function read(campaign, list) {
  const messages = readFileSync(campaign, "utf8").split("\n").filter((line) => line.trim()).map((line) => {
    const message = JSON.parse(line);
    if (typeof message.payload !== "string") return message;
    const file = join(dirname(campaign), "payloads", message.payload);
    return { ...message, payload: JSON.parse(readFileSync(file, "utf8")) };
  });
  const devices = [...new Set(readFileSync(list, "utf8").split(/\s+/).filter(Boolean))];
  const wrong = devices.find((device) => !/^[0-9a-fA-F]+$/.test(device));
  if (wrong) throw new SendError(`${list}: ${wrong} is not a device token in hexadecimal`);
  return { messages, devices };
}

async function main(campaign, list) {
  let { messages, devices } = read(campaign, list);
  const token = new ProviderToken();
  const apns = new Connection();
  let failed = 0;
  try {
    for (const { name, payload: original } of messages) {
      const payload = await prepare(name, original, Math.max(devices.length, 1));
      const fits = payload && payload.length <= payloadBytes;
      if (payload && !fits) console.error(`${name}: not sent: ${payload.length} bytes, more than ${payloadBytes}`);
      const outcomes = fits ? await send(apns, token, name, payload, devices) : new Map();
      const count = (outcome) => devices.filter((device) => outcomes.get(device) === outcome).length;
      const missing = devices.length - count("sent") - count("removed");
      failed += missing;
      console.log(`${name}: sent ${count("sent")}, removed ${count("removed")}, failed ${missing}`);
      devices = devices.filter((device) => outcomes.get(device) !== "removed");
    }
  } finally {
    apns.close();
  }
  return failed ? 1 : 0;
}

const [campaign, list] = process.argv.slice(2);
if (!list) {
  console.error("usage: send.mjs CAMPAIGN DEVICES; see the head of this file");
  process.exit(1);
}
try {
  process.exitCode = await main(campaign, list);
} catch (error) {
  if (!(error instanceof SendError)) throw error;
  console.error(error.message);
  process.exit(1);
}
