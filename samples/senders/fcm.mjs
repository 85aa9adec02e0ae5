#!/usr/bin/env node
// Sends a campaign to FCM, with media prepared by attachprep for iOS, Android and browsers. Needs Node 18:
//
//     export FCM_PROJECT=example-app FCM_ACCESS_TOKEN=$(gcloud auth print-access-token)
//     ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... ./fcm.mjs campaign.jsonl devices.txt
//
// Each line of campaign.jsonl is {"name": "spring", "payload": {"message": {…}}}; devices.txt has one registration
// token a line. See README.md for the output.

import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

const attachprep = process.env.ATTACHPREP_URL ?? 'http://127.0.0.1:8080'
const fcm = process.env.FCM_URL ?? 'https://fcm.googleapis.com'
const attempts = 5

/** The status and the JSON of the answer; repeats what may succeed later. */
async function post(url, body, token) {
  const headers = { 'Content-Type': 'application/json' }
  if (token) headers.Authorization = `Bearer ${token}`
  for (let attempt = 0; ; attempt++) {
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    if (![429, 500, 503].includes(answer.status) || attempt + 1 === attempts) {
      return { status: answer.status, body: await answer.json().catch(() => ({})) }
    }
    await sleep(1000 * Math.max(2 ** attempt, Number(answer.headers.get('Retry-After')) || 0))
  }
}

/** The message to send: each system's media is at its own key. Without media, as it was. */
async function prepare(name, payload, recipients) {
  const request = { rendition: 'display', targets: ['ios', 'android', 'web'] }
  const { status, body } = await post(
    `${attachprep}/v1/payloads`, { payload, campaign: name, recipients, request }, process.env.ATTACHPREP_TOKEN)
  if (status === 422 && body.code === 'payload.no_media') return payload
  if (status !== 200) throw new Error(`attachprep: ${status}: ${JSON.stringify(body)}`)
  for (const warning of body.warnings) console.error(`${name}: ${warning.code}: ${warning.message}`)
  return body.payload
}

/** Sends one message: "sent", "removed" or "failed". */
async function send(name, { topic, condition, ...message }, device) {
  const { status, body } = await post(
    `${fcm}/v1/projects/${process.env.FCM_PROJECT}/messages:send`, { message: { ...message, token: device } },
    process.env.FCM_ACCESS_TOKEN)
  if (status === 200) return 'sent'
  // 404 UNREGISTERED: the token will never work again.
  if (status === 404) {
    console.log(`remove ${device} UNREGISTERED`)
    return 'removed'
  }
  console.error(`${name}: ${device}: ${status} ${body.error?.status ?? ''}`)
  return 'failed'
}

const [campaign, devices] = process.argv.slice(2)
const tokens = readFileSync(devices, 'utf8').split(/\s+/).filter(Boolean)
for (const line of readFileSync(campaign, 'utf8').split('\n').filter((line) => line.trim())) {
  const { name, payload } = JSON.parse(line)
  const { message } = await prepare(name, payload, tokens.length)
  const results = await Promise.all(tokens.map((token) => send(name, message, token)))
  const counts = ['sent', 'removed', 'failed'].map((kind) => `${kind} ${results.filter((one) => one === kind).length}`)
  console.log(`${name}: ${counts.join(', ')}`)
  if (results.includes('failed')) process.exitCode = 1
}
