"use strict";

// What the page asks the service. Who may ask is known by a cookie that no script can read.

class ServiceProblem extends Error {
  constructor(status, problem) {
    super(problem.detail ?? problem.title ?? `The service answered ${status}.`);
    this.status = status;
    this.code = problem.code ?? null;
  }
}

/** Asks, and reads the answer's JSON. Throws a ServiceProblem with the service's own sentence. */
async function ask(method, path, { body = null, type = "application/json", headers = {} } = {}) {
  let answer;
  try {
    answer = await fetch(path, {
      method, credentials: "same-origin", cache: "no-store",
      headers: { Accept: "application/json", ...(body === null ? {} : { "Content-Type": type }), ...headers },
      body: body === null || body instanceof Blob ? body : JSON.stringify(body),
    });
  } catch {
    throw new ServiceProblem(0, { detail: "The service does not answer." });
  }
  const said = answer.status === 204 ? {} : await answer.json().catch(() => ({}));
  if (answer.ok) return { said, status: answer.status, location: answer.headers.get("Location") };
  if (answer.status === 401 && !path.startsWith("/v1/session")) document.dispatchEvent(new CustomEvent("signedout"));
  throw new ServiceProblem(answer.status, said);
}

const look = async (path) => (await ask("GET", path)).said;

/**
 * A result's file below this service, wherever phones fetch it from; else the address that it has. Only a service that
 * serves its files has them; its folders are named with 128 random bits.
 */
function localAddress(address) {
  if (!address) return null;
  const place = address.match(/\/media\/[0-9a-f]{32}\/[A-Za-z0-9._-]+$/);
  return place && !publishesElsewhere() ? place[0] : safeAddress(address);
}

function publishesElsewhere() {
  return (overview.said?.publish.target ?? "").startsWith("s3:");
}

/** A job's result as the drawing wants it. */
function drawnItem(manifest, text) {
  return {
    manifest, text: { ...attachprepFacts.sample, ...text },
    media: { attachment: localAddress(manifest.attachment?.url), thumbnail: localAddress(manifest.thumbnail?.url) },
  };
}

/**
 * What happens to jobs, as it happens: `counts` and `job` events; who listens is told of each,
   and of `open` and `lost`.
 * Only while the page is looked at: a browser has six connections to a host, and other tabs need them.
 */
const events = {
  source: null, timer: 0,
  begin() {
    this.end();
    const source = this.source = new EventSource("/v1/events");
    const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
    for (const name of ["counts", "job"]) {
      source.addEventListener(name, ({ data }) => tell(name, JSON.parse(data)));
    }
    source.addEventListener("open", () => tell("live", true));
    source.addEventListener("error", () => {
      tell("live", false);
      // A browser asks again by itself, but not after an answer that is no stream.
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
