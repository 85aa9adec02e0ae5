"use strict";

// The progress of a batch or of a campaign, above its jobs.

const batchCard = { box: null, data: null, asked: 0 };

/** The place of the card, which is empty unless the jobs are those of one batch or campaign. */
function batchBox() {
  Object.assign(batchCard, { box: make("div", { class: "batch" }), data: null });
  return batchCard.box;
}

async function refreshBatch() {
  const [{ batch, tag }, { box }, asked] = [whereWeAre(), batchCard, ++batchCard.asked];
  if (!box) return;
  const path = batch ? `/v1/batches/${encodeURIComponent(batch)}`
    : campaignOf(tag) ? `/v1/campaigns/${campaignOf(tag)}` : null;
  if (!path) return fill(box);
  try {
    const data = await getJSON(path);
    if (batchCard.asked === asked && batchCard.box === box) (batch ? drawBatch : drawCampaign)(data);
  } catch (problem) {
    if (problem.status !== 401 && batchCard.box === box) fill(box);
  }
}

function drawBatch(batch) {
  drawCard(batch, [make("h2", {}, "Batch ", make("code", {}, batch.id)), jobsProgress(batch, { batch: batch.id })]);
}

/** A campaign: the jobs with its tag, and the arrivals that phones reported. */
function drawCampaign(campaign) {
  const { name, jobs, dispatches, arrivals, recipients, arrivalRate } = campaign;
  drawCard(campaign, [make("h2", {}, "Campaign ", make("code", {}, name)),
    jobs.jobs > 0 && jobsProgress(jobs, { tag: `campaign=${name}` }),
    dispatches > 0 && make("p", {}, make("strong", {}, grouped.format(arrivals)),
      ` of ${grouped.format(recipients)} notifications arrived, ${shareText(arrivalRate)}`)]);
}

function drawCard(data, content) {
  const text = JSON.stringify(data);
  if (batchCard.data === text && batchCard.box.childNodes.length) return;
  batchCard.data = text;
  fill(batchCard.box, content);
}

/** How many of some jobs have ended, with links to those of each state. */
function jobsProgress({ jobs, states, done }, filter) {
  const ended = jobs - states.queued - states.running;
  return [make("progress", { class: "load", max: jobs, value: ended, "aria-label": "Jobs that have ended" }),
    make("p", {}, make("strong", {}, grouped.format(ended)), ` of ${jobsText(jobs)} ended, `
      + `${Math.floor((100 * ended) / jobs)} %${done ? ": done" : ""}`),
    make("p", { class: "batch-states" }, stateNames.filter((state) => states[state]).map((state) =>
      [link({ view: "jobs", ...filter, state }, { "data-focus": `batch ${state}` },
        make("span", { class: `badge ${stateStyles[state]}` }, `${grouped.format(states[state])} ${state}`)),
      " "]))];
}
