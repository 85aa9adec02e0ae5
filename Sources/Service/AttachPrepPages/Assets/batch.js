"use strict";

// The progress of a batch, above its jobs.

const batchCard = { box: null, data: null, asked: 0 };

/** The place of the card, which is empty unless the jobs are those of one batch. */
function batchBox() {
  Object.assign(batchCard, { box: make("div", { class: "batch" }), data: null });
  return batchCard.box;
}

async function refreshBatch() {
  const [{ batch }, { box }, asked] = [whereWeAre(), batchCard, ++batchCard.asked];
  if (!box) return;
  if (!batch) return fill(box);
  try {
    const data = await getJSON(`/v1/batches/${encodeURIComponent(batch)}`);
    if (batchCard.asked === asked && batchCard.box === box) drawBatch(data);
  } catch (problem) {
    if (problem.status !== 401 && batchCard.box === box) fill(box);
  }
}

function drawBatch(batch) {
  const text = JSON.stringify(batch);
  if (batchCard.data === text && batchCard.box.childNodes.length) return;
  batchCard.data = text;
  const ended = batch.jobs - batch.states.queued - batch.states.running;
  const share = (100 * ended) / batch.jobs;
  fill(batchCard.box, make("h2", {}, "Batch ", make("code", {}, batch.id)),
    make("progress", { class: "load", max: batch.jobs, value: ended, "aria-label": "Jobs that have ended" }),
    make("p", {}, make("strong", {}, grouped.format(ended)), ` of ${jobsText(batch.jobs)} ended, `
      + `${Math.floor(share)} %${batch.done ? ": done" : ""}`),
    make("p", { class: "batch-states" }, stateNames.filter((state) => batch.states[state]).map((state) =>
      [link({ view: "jobs", batch: batch.id, state }, { "data-focus": `batch ${state}` },
        make("span", { class: `badge ${stateStyles[state]}` }, `${grouped.format(batch.states[state])} ${state}`)),
      " "])));
}
