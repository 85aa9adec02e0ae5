"use strict";

// The jobs that ended in each hour of a week, on the overview.

const jobHistory = { box: null, data: null, timer: 0, hour: null };

/** The place of the chart; the same element while the overview is redrawn. */
function historyBox() {
  if (!jobHistory.box?.isConnected) {
    jobHistory.box = make("section", { class: "card gauge history", "aria-labelledby": "history-title" },
      make("h2", { id: "history-title" }, "Jobs of a week, by hour"));
    refreshHistory();
  }
  return jobHistory.box;
}

async function refreshHistory() {
  clearTimeout(jobHistory.timer);
  jobHistory.timer = setTimeout(refreshHistory, 60_000);
  if (document.hidden || whereWeAre().view !== "overview") return;
  try {
    const { hours } = await getJSON("/v1/history");
    whenReleased(() => drawHistory(hours));
  } catch {
    // The overview reports that the service is not reachable.
  }
}

function drawHistory(hours) {
  const data = JSON.stringify(hours);
  if (jobHistory.data === data && jobHistory.box.childNodes.length > 1) return;
  jobHistory.data = data;
  const most = niceMaximum(Math.max(1, ...hours.map(({ succeeded, failed }) => succeeded + failed)));
  const [done, lost] = ["succeeded", "failed"].map((key) => hours.reduce((sum, hour) => sum + hour[key], 0));
  const detail = make("p", { class: "history-detail", role: "status" });
  const marker = make("rect", { class: "marker", y: 0, width: 3, height: 100, visibility: "hidden" });
  const show = (index) => {
    jobHistory.hour = Math.min(hours.length - 1, Math.max(0, index));
    marker.setAttribute("x", jobHistory.hour * 3);
    marker.setAttribute("visibility", "visible");
    detail.textContent = hourText(hours[jobHistory.hour]);
  };
  const chart = make("svg", { class: "chart", viewBox: `0 0 ${hours.length * 3} 100`, preserveAspectRatio: "none",
    role: "img", tabindex: 0, "aria-label": `${grouped.format(done)} jobs succeeded and ${grouped.format(lost)} failed `
      + "in a week; arrow keys show each hour",
    onpointermove: ({ clientX, currentTarget }) => {
      const { left, width } = currentTarget.getBoundingClientRect();
      show(Math.floor(((clientX - left) / width) * hours.length));
    },
    onkeydown: (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: 24, ArrowDown: -24 }[event.key];
      if (!step) return;
      event.preventDefault();
      show((jobHistory.hour ?? hours.length) + step);
    } }, marker, [0, 50].map((y) => make("line", { class: "grid", x1: 0, x2: hours.length * 3, y1: y, y2: y })),
  hours.flatMap((hour, index) => historyBars(hour, index, most)));
  const scale = make("div", { class: "history-scale", "aria-hidden": "true" },
    [most, most / 2, 0].map((number) => make("span", {}, grouped.format(number))));
  const days = hours.map(({ start }, index) => ({ date: new Date(start), index }))
    .filter(({ date }) => date.getHours() === 0);
  const foot = make("div", { class: "history-days", "aria-hidden": "true" }, days.map(({ date, index }) => {
    const label = make("span", {}, date.toLocaleDateString("en-US", { weekday: "short" }));
    label.style.setProperty("--left", `${(100 * index) / hours.length}%`);
    return label;
  }));
  jobHistory.box.replaceChildren(make("h2", { id: "history-title" }, "Jobs of a week, by hour"),
    make("p", {}, chartKey("good"), make("strong", {}, grouped.format(done)), " succeeded ",
      lost > 0 && [chartKey("bad"), make("strong", {}, grouped.format(lost)), " failed"]),
    make("div", { class: "history-plot" }, scale, chart), foot, detail);
  if (jobHistory.hour !== null) show(jobHistory.hour);
}

function historyBars({ succeeded, failed }, index, most) {
  const bar = (name, from, number) => number > 0 && make("rect", { class: name, x: index * 3, width: 2.4,
    y: 100 - (100 * (from + number)) / most, height: (100 * number) / most });
  return [bar("good", 0, succeeded), bar("bad", succeeded, failed)];
}

/** 1, 2 or 5 times a power of ten, and even from 2 on, so that the middle of the scale is a whole number. */
function niceMaximum(number) {
  const power = 10 ** Math.floor(Math.log10(number));
  return Math.max(2, [1, 2, 4, 6, 10].map((step) => step * power).find((step) => step >= number));
}

function hourText({ start, succeeded, failed, medianSeconds, p95Seconds }) {
  const date = new Date(start);
  const time = date.toLocaleString("en-US", { weekday: "short", hour: "2-digit", minute: "2-digit", hour12: false });
  const words = `${time}: ${grouped.format(succeeded)} succeeded, ${grouped.format(failed)} failed`;
  return medianSeconds === null ? words
    : `${words}, half within ${secondsText(medianSeconds)}, 95 % within ${secondsText(p95Seconds)}`;
}
