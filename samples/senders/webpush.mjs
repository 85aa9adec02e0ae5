#!/usr/bin/env node
// Sends a web push message to browsers, with media prepared by attachprep. Needs Node 18 and `npm install web-push`:
//
//     export VAPID_PUBLIC_KEY=BP… VAPID_PRIVATE_KEY=… VAPID_SUBJECT=mailto:push@example.com
//     ATTACHPREP_URL=http://127.0.0.1:8080 ATTACHPREP_TOKEN=... ./webpush.mjs message.json subscriptions.jsonl
//
// message.json is what the service worker shows: {"title": …, "image": …, "icon": …}; each line of subscriptions.jsonl
// is a PushSubscription as JSON.

import { readFileSync } from 'node:fs'
import webpush from 'web-push'

/** The JSON to send: media URLs are replaced by those of prepared files. */
async function prepare(payload) {
  const headers = { 'Content-Type': 'application/json' }
  if (process.env.ATTACHPREP_TOKEN) headers.Authorization = `Bearer ${process.env.ATTACHPREP_TOKEN}`
  const url = `${process.env.ATTACHPREP_URL ?? 'http://127.0.0.1:8080'}/v1/payloads`
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ payload }) })
  const result = await answer.json()
  if (!answer.ok) throw new Error(`attachprep: ${answer.status}: ${result.detail}`)
  for (const warning of result.warnings) console.error(`${warning.code}: ${warning.message}`)
  return JSON.stringify(result.payload)
}

const [message, subscriptions] = process.argv.slice(2)
const { VAPID_SUBJECT: subject, VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey } = process.env
const data = await prepare(JSON.parse(readFileSync(message, 'utf8')))
for (const line of readFileSync(subscriptions, 'utf8').split('\n').filter((line) => line.trim())) {
  const subscription = JSON.parse(line)
  try {
    const vapidDetails = { subject, publicKey, privateKey }
    await webpush.sendNotification(subscription, data, { vapidDetails, TTL: 86_400 })
  } catch (error) {
    // The browser has ended the subscription: delete it.
    if ([404, 410].includes(error.statusCode)) console.log(`remove ${subscription.endpoint}`)
    else {
      console.error(`${subscription.endpoint}: ${error.message}`)
      process.exitCode = 1
    }
  }
}
