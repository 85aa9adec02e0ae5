"use strict";

// What is done with all jobs of a state, or with all that are found.

/** The same bar while the same jobs are meant. */
function standingBulkBar(here) {
  const key = [here.state, here.search, here.error].join("\n");
  if (jobTable.bulk?.key !== key) jobTable.bulk = { key, bar: bulkBar(here) };
  return jobTable.bulk.bar;
}

function bulkBar(here) {
  if (!retryableStates.includes(here.state)) return null;
  const order = { states: [here.state], ...(here.search && { search: here.search }),
    ...(here.error && { error: here.error }) };
  const act = (word, sentence, path, said) => make("button", {
    class: word === "Remove" ? "button danger" : "button", type: "button", "data-focus": `bulk ${word}`,
    onclick: () => confirmed(`${word} ${bulkWords(here)}?`, sentence, word, async () => {
      tell(said((await ask("POST", path, { body: order })).said));
      refreshJobs();
    }) }, `${word} all`);
  return make("div", { class: "bulk", role: "group", "aria-label": "All of them at once" },
    act("Retry", "They are queued again, with their attempts counted anew.", "/v1/jobs/retry",
      ({ retried }) => `${grouped.format(retried)} jobs are queued again.`),
    act("Remove", "They are gone for good, with their logs and the files that nobody else needs.", "/v1/jobs/purge",
      ({ purged }) => `${grouped.format(purged)} jobs were removed.`));
}

/** Which jobs are meant: all of a state, with their number where it is known, or those that are found. */
function bulkWords({ state, search, error }) {
  const number = overview.said?.jobs?.[state];
  if (search || error) return `all ${state} jobs that are found`;
  return number === undefined ? `all ${state} jobs` : `all ${grouped.format(number)} ${state} jobs`;
}
