"use strict";

// Bulk actions: on the jobs selected in the table, or on all jobs of a state.

/** The IDs of the selected jobs, which are always visible in the table. */
const selectedJobs = new Set();

const jobActions = {
  Retry: { applies: ({ state }) => retryableStates.includes(state), run: retryJobs },
  Cancel: {
    applies: ({ state }) => ["queued", "running"].includes(state), run: cancelJobs, isFinal: true,
    sentence: "Queued jobs are cancelled at once, running jobs when their worker next checks. Secrets are deleted: a "
      + "job whose request had headers or a signed URL cannot be retried.",
  },
  Remove: {
    applies: ({ state }) => !["queued", "running"].includes(state), run: removeJobs, isFinal: true,
    sentence: "Deletes the jobs, their logs and the files that no other job uses. This cannot be undone.",
  },
};

Object.assign(jobActions, { Faster: {
  applies: ({ state, request }) => state === "queued" && request.priority !== "high",
  run: (order) => moveJobs(order, "high"), word: "To lane high", all: "All to lane high",
  sentence: "Queued jobs are started before those of the other lanes.",
} });

const jobsText = (count) => `${grouped.format(count)} ${count === 1 ? "job" : "jobs"}`;

async function retryJobs(order) {
  const { retried, left } = (await callAPI("POST", "/v1/jobs/retry", { body: order })).data;
  showToast(`${jobsText(retried)} queued again.`
    + (left ? ` ${jobsText(left)} left: the queue is full, or their secrets have been deleted.` : ""), left > 0);
}

async function removeJobs(order) {
  const { purged } = (await callAPI("POST", "/v1/jobs/purge", { body: order })).data;
  showToast(`${jobsText(purged)} removed.`);
}

async function cancelJobs(order) {
  const { cancelled } = (await callAPI("POST", "/v1/jobs/cancel", { body: order })).data;
  showToast(`${jobsText(cancelled)} cancelled.`);
}

async function moveJobs(order, priority) {
  const { changed } = (await callAPI("POST", "/v1/jobs/priority", { body: { ...order, priority } })).data;
  showToast(`${jobsText(changed)} moved to lane ${priority}.`);
}

// MARK: Selected jobs

/** The checkbox of a job. */
function selectionBox(job) {
  const name = [nameOf(job.request.source), job.request.id].filter(Boolean).join(", ");
  return make("label", { class: "select" }, make("input", { type: "checkbox", "aria-label": `Select ${name}`,
    "data-focus": `${job.id} select`, "data-job": job.id, onchange: ({ target }) => {
      if (target.checked) selectedJobs.add(job.id);
      else selectedJobs.delete(job.id);
      showSelection();
    } }));
}

function selectAllBox() {
  return make("label", { class: "select all" }, make("input", { type: "checkbox", "data-focus": "select all",
    onchange: ({ target }) => {
      for (const { job } of jobTable.rows.values()) {
        if (target.checked) selectedJobs.add(job.id);
        else selectedJobs.delete(job.id);
      }
      showSelection();
    } }), make("span", { class: "select-words" }, "Select all on this page"));
}

/** Updates checkboxes and bar, and deselects jobs that the table no longer shows. */
function showSelection() {
  for (const id of selectedJobs) if (!jobTable.rows.has(id)) selectedJobs.delete(id);
  for (const box of jobTable.box.querySelectorAll("[data-job]")) {
    box.checked = selectedJobs.has(box.dataset.job);
    box.closest(".row").classList.toggle("selected", box.checked);
  }
  const all = jobTable.box.querySelector(".select.all input");
  if (all) {
    all.checked = selectedJobs.size > 0 && selectedJobs.size === jobTable.rows.size;
    all.indeterminate = selectedJobs.size > 0 && !all.checked;
  }
  showBulkBar();
}

// MARK: The bar

/** The action bar; the same element while the filters are unchanged, so that it does not change under the pointer. */
function existingBulkBar(here) {
  const key = jobFilterKeys.filter((name) => name !== "cursor").map((name) => here[name]).join("\n");
  if (jobTable.bulk?.key === key) return jobTable.bulk.bar;
  const count = make("span", { class: "bulk-count", role: "status" });
  const buttons = Object.entries(jobActions).map(([word, action]) => make("button", {
    class: word === "Remove" ? "button danger" : "button", type: "button", "data-action": word,
    "data-focus": `selected ${word}`, onclick: () => actOnSelection(word, action) }, action.word ?? word));
  const bar = make("div", { class: "bulk", role: "group", "aria-label": "Actions on jobs" }, count,
    mayOperate() && [buttons, allActions(here)]);
  jobTable.bulk = { key, bar, count };
  return bar;
}

function showBulkBar() {
  if (!jobTable.bulk) return;
  const { bar, count } = jobTable.bulk;
  const words = selectedJobs.size ? `${jobsText(selectedJobs.size)} selected` : "No jobs selected";
  // Screen readers announce a status each time it is set.
  if (count.textContent !== words) count.textContent = words;
  bar.classList.toggle("active", selectedJobs.size > 0);
  for (const button of bar.querySelectorAll("[data-action]")) {
    const action = jobActions[button.dataset.action];
    const [number, word] = [applicable(action).length, action.word ?? button.dataset.action];
    button.disabled = number === 0;
    button.textContent = number ? `${word} ${grouped.format(number)}` : word;
    button.setAttribute("aria-label", number
      ? `${button.textContent} of ${jobsText(selectedJobs.size)} selected` : button.textContent);
  }
}

/** The IDs of the selected jobs that an action applies to. */
function applicable({ applies }) {
  return [...jobTable.rows.values()].filter(({ job }) => selectedJobs.has(job.id) && applies(job))
    .map(({ job }) => job.id);
}

function actOnSelection(word, { run, sentence, isFinal, applies }) {
  const ids = applicable({ applies });
  const act = async () => {
    await run({ ids });
    selectedJobs.clear();
    showSelection();
    // The pressed button is disabled now.
    jobTable.box.querySelector(".select.all input")?.focus({ preventScroll: true });
    refreshJobs();
  };
  if (isFinal) return confirmAction({ title: `${word} ${jobsText(ids.length)}?`, sentence, word, isFinal }, act);
  act().catch((problem) => showToast(problem.message, true));
}

// MARK: All matching jobs

/** The states of the jobs that an action on all of them applies to. */
const actionStates = { Retry: retryableStates, Cancel: ["queued", "running"],
  Remove: ["succeeded", "failed", "dead", "cancelled"], Faster: ["queued"] };

/** Actions on all jobs that match the filters, including those on other pages. */
function allActions(here) {
  // The filters that bulk requests do not have would be ignored.
  if (here.kind || here.worker) return null;
  const words = { ...(here.search && { search: here.search }),
    ...(here.error && { error: here.error }), ...(here.since && { createdAfter: spanStart(here.since) }),
    ...chosenWords(here) };
  if (!here.state && !Object.keys(words).length) return null;
  const name = (word) => jobActions[word].word ?? word;
  const act = (word, sentence) => make("button", {
    class: word === "Remove" ? "button danger" : "button", type: "button", "data-focus": `all ${word}`,
    onclick: () => confirmAction({ title: `${name(word)}${word === "Faster" ? ":" : ""} ${bulkText(here)}?`,
      sentence, word: name(word), isFinal: jobActions[word].isFinal }, async () => {
      const states = here.state ? [here.state] : actionStates[word];
      await jobActions[word].run({ ...words, states });
      refreshJobs();
    }) }, jobActions[word].all ?? `${name(word)} all`);
  const sentences = { Retry: "Queues the jobs again and resets their attempts to zero.",
    Cancel: jobActions.Cancel.sentence, Faster: jobActions.Faster.sentence, Remove: jobActions.Remove.sentence };
  return make("span", { class: "bulk-all" }, Object.entries(sentences)
    .filter(([word]) => !here.state || actionStates[word].includes(here.state))
    .map(([word, sentence]) => act(word, sentence)));
}

/** The description of the affected jobs for the confirmation dialog. */
function bulkText(here) {
  const { state } = here;
  const number = overview.data?.jobs?.[state];
  if (!state || jobFilterKeys.some((key) => !["state", "cursor"].includes(key) && here[key])) {
    return state ? `all matching ${state} jobs` : "all matching jobs";
  }
  return number === undefined ? `all ${state} jobs` : `all ${grouped.format(number)} ${state} jobs`;
}
