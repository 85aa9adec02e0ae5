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

/** A result's file below this service, wherever phones fetch it from; else the address that it has. */
function localAddress(address) {
  if (!address) return null;
  const place = address.match(/\/media\/[A-Za-z0-9_-]+\/[A-Za-z0-9._-]+$/);
  return place ? place[0] : safeAddress(address);
}

/** A job's result as the drawing wants it. */
function drawnItem(manifest, text) {
  return {
    manifest, text: { app: "Your app", ...text },
    media: { attachment: localAddress(manifest.attachment?.url), thumbnail: localAddress(manifest.thumbnail?.url) },
  };
}

/** What happens to jobs, as it happens: `counts` and `job` events; who listens is told of each. */
const events = {
  source: null,
  begin() {
    this.end();
    this.source = new EventSource("/v1/events");
    for (const name of ["counts", "job"]) {
      this.source.addEventListener(name, ({ data }) =>
        document.dispatchEvent(new CustomEvent(name, { detail: JSON.parse(data) })));
    }
    for (const name of ["open", "error"]) {
      this.source.addEventListener(name, () => document.dispatchEvent(
        new CustomEvent("live", { detail: this.source?.readyState === EventSource.OPEN })));
    }
  },
  end() {
    this.source?.close();
    this.source = null;
  },
};
