"use strict";

// Requests to the service, authenticated by an HttpOnly session cookie.

/** The path of the page, which a proxy may have put below another one; the API is below it, too. */
const basePath = location.pathname.replace(/[^/]*$/, "");

/** The address of a path of the service, such as /v1/jobs. */
const serviceURL = (path) => basePath + path.slice(1);

class ServiceProblem extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `The service responded with status ${status}.`);
    this.status = status;
    this.code = problem.code ?? null;
  }
}

/** Sends a request and parses the JSON response. Throws a ServiceProblem with the service's message. */
async function callAPI(method, path, { body = null, type = "application/json", headers = {} } = {}) {
  let answer;
  try {
    answer = await fetch(serviceURL(path), {
      method, credentials: "same-origin", cache: "no-store",
      headers: { Accept: "application/json", ...(body === null ? {} : { "Content-Type": type }), ...headers },
      body: body === null || body instanceof Blob ? body : JSON.stringify(body),
    });
  } catch {
    throw new ServiceProblem(0, { detail: "The service is not reachable." });
  }
  const data = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (answer.ok) return { data, status: answer.status, location: answer.headers.get("Location") };
  if (answer.status === 401 && !path.startsWith("/v1/session")) document.dispatchEvent(new CustomEvent("signedout"));
  throw new ServiceProblem(answer.status, data);
}

const getJSON = async (path) => (await callAPI("GET", path)).data;

/**
 * The path of a result file on this host, independent of the public base URL; the public URL if files are published to
 * a bucket. The folder name has 128 random bits.
 */
function localAddress(address) {
  if (!address) return null;
  const place = address.match(/\/media\/[0-9a-f]{32}\/[A-Za-z0-9._-]+$/);
  return place && !publishesElsewhere() ? serviceURL(place[0]) : safeAddress(address);
}

function publishesElsewhere() {
  return (overview.data?.publish.target ?? "").startsWith("s3:");
}

/** A job's result as an item for `drawing`; sealed files cannot be shown. */
function drawnItem(manifest, text) {
  return {
    manifest, text: { ...attachprepFacts.sample, ...text },
    media: manifest.sealed ? {} : {
      attachment: localAddress(manifest.attachment?.url), thumbnail: localAddress(manifest.thumbnail?.url),
      renditions: Object.fromEntries(Object.entries(manifest.renditions ?? {})
        .map(([name, { url }]) => [name, localAddress(url)])),
    },
  };
}

/**
 * The event stream of the service: dispatches `counts`, `job` and `live` events on the document.
 * Open only while the page is visible: browsers allow six connections per host, which other tabs need.
 */
const events = {
  source: null, timer: 0,
  begin() {
    this.end();
    const source = this.source = new EventSource(serviceURL("/v1/events"));
    const dispatch = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
    for (const name of ["counts", "job"]) {
      source.addEventListener(name, ({ data }) => dispatch(name, JSON.parse(data)));
    }
    // After a reconnect, changes before these may be missing.
    source.addEventListener("reset", () => dispatch("live", true));
    source.addEventListener("open", () => dispatch("live", true));
    source.addEventListener("error", () => {
      dispatch("live", false);
      // Browsers reconnect automatically, but not after a response that is not an event stream.
      if (source.readyState === EventSource.CLOSED && this.source === source) {
        this.timer = setTimeout(() => this.begin(), 5000);
      }
    });
  },
  end() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  },
};
