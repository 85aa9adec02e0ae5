"use strict";

// The campaigns, with links to the progress of their jobs.

const campaignTable = { box: null, asked: 0, data: null };

/** The name of the campaign whose jobs have a tag; undefined for other tags. */
const campaignOf = (tag) => tag.match(/^campaign=([A-Za-z0-9][A-Za-z0-9._-]{0,63})$/)?.[1];

/** A share in percent, rounded down, so that 100 % means all. */
const shareText = (share) => `${Math.floor(share * 1000) / 10} %`;

function campaignsView() {
  Object.assign(campaignTable, { box: make("div", { class: "results-body" }), data: null });
  refreshCampaigns();
  return make("section", { class: "card results", "aria-labelledby": "campaigns-title" },
    make("div", { class: "results-head" }, make("h1", { id: "campaigns-title", tabindex: -1 }, "Campaigns")),
    campaignTable.box);
}

async function refreshCampaigns() {
  const [here, { box }, asked] = [whereWeAre(), campaignTable, ++campaignTable.asked];
  if (here.view !== "campaigns" || !box) return;
  const words = Object.entries({ cursor: here.cursor, limit: "50" }).filter(([, value]) => value);
  const isLatest = () => campaignTable.asked === asked && campaignTable.box === box;
  try {
    const page = await getJSON(`/v1/campaigns?${new URLSearchParams(words)}`);
    whenReleased(() => isLatest() && drawCampaigns(page, here));
  } catch (problem) {
    if (problem.status !== 401 && isLatest()) {
      fill(box, make("p", { class: "notice bad", role: "alert" }, problem.message));
    }
  }
}

function drawCampaigns(page, here) {
  const data = JSON.stringify([page, here]);
  if (campaignTable.data === data) return;
  campaignTable.data = data;
  if (!page.campaigns.length) {
    return fill(campaignTable.box, make("p", { class: "notice" }, "No campaigns. A campaign is listed here when a payload "
      + "was written for it; jobs with the tag campaign=NAME belong to it."));
  }
  const names = ["Campaign", "Recipients", "Arrived", "With media", "Half within", "Last sent"];
  fill(campaignTable.box, make("div", { class: "table scrolls" }, make("table", { class: "plain stacked" },
    make("thead", {}, make("tr", {}, names.map((name) => make("th", { scope: "col" }, name)))),
    make("tbody", {}, page.campaigns.map((campaign) => make("tr", {}, [
      link({ view: "jobs", tag: `campaign=${campaign.name}` }, { "data-focus": campaign.name }, campaign.name),
      grouped.format(campaign.recipients),
      `${grouped.format(campaign.arrivals)}, ${shareText(campaign.arrivalRate)}`,
      grouped.format(campaign.outcomes.attached + campaign.outcomes.thumbnail),
      campaign.sendToAttachSeconds ? secondsText(campaign.sendToAttachSeconds.p50) : "–",
      timeElement(campaign.lastSentAt)].map((content, index) =>
      make("td", { "data-label": index ? names[index] : null }, content))))))),
  make("nav", { class: "pages", "aria-label": "Pages" },
    here.cursor && link({ ...here, cursor: "" }, { class: "button" }, "Newest"),
    page.next && link({ ...here, cursor: page.next }, { class: "button" }, "Older")));
}
