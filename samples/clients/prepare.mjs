#!/usr/bin/env node
// Prepares one source with attachprep and downloads the attachment. Needs nothing but Node 18 or newer.
//
//   ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... ./prepare.mjs https://cdn.example/cat.webp [FOLDER]
//   ./prepare.mjs verify SECRET WEBHOOK-ID WEBHOOK-TIMESTAMP WEBHOOK-SIGNATURE < BODY

import { createHash, createHmac, randomUUID, timingSafeEqual } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

const url = process.env.ATTACHPREP_URL ?? "http://127.0.0.1:8080";
const token = process.env.ATTACHPREP_TOKEN;

/** Sends one request. */
function call(path, body, headers = {}) {
  return fetch(url + path, {
    method: body ? "POST" : "GET",
    body: body && JSON.stringify(body),
    headers: { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }), ...headers },
  });
}

/** Returns the manifest. Retries while the service is busy, with the same key, so that only one job is created. */
async function prepare(source) {
  const headers = { "Idempotency-Key": randomUUID(), Prefer: "wait=20" };
  for (;;) {
    const answer = await call("/v1/jobs", { source }, headers);
    const body = await answer.json();
    if (answer.status === 200) return body;
    if (answer.status === 202) return waitFor(body.id);
    if (![429, 503].includes(answer.status)) throw new Error(`attachprep answered ${answer.status}: ${body.detail}`);
    await pause(1000 * Number(answer.headers.get("Retry-After") ?? 1));
  }
}

async function waitFor(id) {
  for (;;) {
    const job = await (await call(`/v1/jobs/${id}`)).json();
    if (job.result) return job.result;
    if (job.state === "cancelled") throw new Error("the job was cancelled");
    await pause(1000);
  }
}

/** Downloads the attachment. Its URL contains 128 random bits and needs no token, so that devices can use it. */
async function download(attachment, folder) {
  const content = Buffer.from(await (await fetch(attachment.url)).arrayBuffer());
  if (createHash("sha256").update(content).digest("hex") !== attachment.sha256) {
    throw new Error("the download does not match the manifest's SHA-256");
  }
  const path = join(folder, basename(attachment.file));
  writeFileSync(path, content);
  return path;
}

/** Whether a webhook is authentic: one of its signatures is correct, and it is at most 5 minutes old. */
function isValid(secret, id, timestamp, signatures, body) {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const mine = "v1," + createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64");
  const isMine = (one) => one.length === mine.length && timingSafeEqual(Buffer.from(one), Buffer.from(mine));
  return Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300 && signatures.split(" ").some(isMine);
}

const words = process.argv.slice(2);
if (words[0] === "verify") {
  const valid = isValid(...words.slice(1, 5), readFileSync(0));
  console.log(valid ? "valid" : "not valid");
  process.exit(valid ? 0 : 1);
}
const manifest = await prepare(words[0]);
if (manifest.outcome === "rejected") {
  console.error(`rejected: ${manifest.error.code}: ${manifest.error.message}`);
  process.exit(1);
}
const path = await download(manifest.attachment, words[1] ?? ".");
console.log(`${manifest.outcome}: ${path}, ${manifest.attachment.bytes} bytes`);
