"use strict";

// Pauses of the queue, on the overview: which jobs do not start, since when and why.

/** The jobs that a pause holds back, as the subject of a sentence. */
function pausedText({ target, name }) {
  return { all: "All jobs", lane: `Lane ${name}`, host: `Host ${name}` }[target] ?? name;
}

/** The request that names the jobs of a pause. */
const pauseTarget = ({ target, name }) => target === "all" ? { all: true } : { [target]: name };

function pausesCard(data) {
  if (!data.pauses) return null;
  return make("section", { class: data.pauses.length ? "card gauge pauses active" : "card gauge pauses",
    "aria-labelledby": "pauses-title" },
  make("div", { class: "pauses-head" }, make("h2", { id: "pauses-title" }, "Pauses"),
    make("p", {}, data.pauses.length ? "Waiting jobs of these do not start; running ones end as usual."
        + (data.paused ? ` ${jobsText(data.paused)} would be due.` : "")
      : "Nothing is paused."),
    mayOperate() && make("button", { class: "button", type: "button", "data-focus": "pause", onclick: askForPause },
      "Pause jobs")),
  data.pauses.length > 0 && make("ul", { class: "pause-list" }, data.pauses.map(pauseEntry)));
}

function pauseEntry(pause) {
  const { target, name, since, caller, reason } = pause;
  return make("li", {}, make("span", { class: "badge warn" }, "paused"), " ",
    make("strong", {}, pausedText(pause)), " ", timeElement(since), caller && ` by ${caller}`, reason && `: ${reason}`,
    " ", mayOperate() && make("button", { class: "button", type: "button", "data-focus": `resume ${target} ${name}`,
      onclick: async () => {
        try {
          await callAPI("POST", "/v1/jobs/resume", { body: pauseTarget(pause) });
          showToast(`${pausedText(pause)} resumed.`);
        } catch (problem) {
          showToast(problem.message, true);
        }
        refreshOverview();
      } }, "Resume", unseen(` ${pausedText(pause)}`)));
}

/** Says above the list of jobs how many of them a pause holds back. */
function drawPausedJobs() {
  const count = overview.data?.paused ?? 0;
  if (!jobTable.paused) return;
  fill(jobTable.paused, count > 0 && [make("span", { class: "badge warn" }, "paused"), ` ${jobsText(count)} would be due. `,
    link({ view: "overview" }, { "data-focus": "pauses" }, "Pauses")]);
}

/** Asks which jobs to pause, and why. */
function askForPause() {
  const host = make("input", { type: "text", maxlength: 253, placeholder: "cdn.example", autocomplete: "off",
    spellcheck: "false" });
  const hostField = field("Host", host);
  const target = make("select", { onchange: () => { hostField.hidden = target.value !== "host"; } },
    [["all", "All jobs"], ["high", "Lane high"], ["normal", "Lane normal"], ["bulk", "Lane bulk"],
      ["host", "Jobs of a host"]].map(([value, name]) => make("option", { value }, name)));
  hostField.hidden = true;
  const reason = make("input", { type: "text", maxlength: 200 });
  confirmAction({ title: "Pause jobs", word: "Pause",
    sentence: "They are still accepted, and wait until you resume them, on all machines and over restarts.",
    content: [field("What", target), hostField, field("Reason", reason)] }, async () => {
    const name = ["high", "normal", "bulk"].includes(target.value) ? { target: "lane", name: target.value }
      : { target: target.value, name: host.value.trim() };
    const { data } = await callAPI("POST", "/v1/jobs/pause",
      { body: { ...pauseTarget(name), ...(reason.value.trim() && { reason: reason.value.trim() }) } });
    showToast(`${pausedText(data)} paused.`);
    refreshOverview();
  });
}
