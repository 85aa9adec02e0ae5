"use strict";

// Sign-in with a token, which is exchanged for a session cookie, and sign-out.

function signIn() {
  if (document.querySelector(".sign-in")) return;
  events.end();
  clearTimeout(overview.timer);
  const token = make("input", { type: "password", id: "token", name: "token", autocomplete: "current-password",
    required: true });
  const note = make("p", { class: "verdict lost", role: "alert" });
  showTitle("Sign in");
  const form = make("form", { class: "card sign-in", onsubmit: async (event) => {
    event.preventDefault();
    note.textContent = "";
    try {
      await callAPI("POST", "/v1/session", { body: { token: token.value } });
      parts.session = await getJSON("/v1/session");
      if (!parts.session.authorized) throw new Error("The browser rejected the session cookie; use https.");
      token.value = "";
      begin();
    } catch (problem) {
      note.textContent = problem.message;
      token.select();
    }
  } }, make("h1", {}, "attachprep"), environmentBadge(), field("Token", token), note,
  make("button", { class: "button primary", type: "submit" }, "Sign in"));
  document.body.replaceChildren(make("main", { class: "signed-out" }, form));
  token.focus();
}

async function signOut() {
  try {
    await callAPI("DELETE", "/v1/session");
    signIn();
  } catch (problem) {
    showToast(problem.message, true);
  }
}
