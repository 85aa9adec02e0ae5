"use strict";

// Questions before what many are touched by, and sentences that go away by themselves.

/** Asks before something that many are touched by. */
function confirmed(title, sentence, word, action) {
  const dialog = make("dialog", { class: "question", "aria-labelledby": "question-title" },
    make("h2", { id: "question-title" }, title), make("p", {}, sentence),
    make("div", { class: "actions" },
      make("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Leave it"),
      make("button", { class: "button primary", type: "button", onclick: async ({ currentTarget }) => {
        currentTarget.disabled = true;
        currentTarget.textContent = `${word}…`;
        try {
          await action();
        } catch (problem) {
          tell(problem.message, true);
        }
        dialog.close();
      } }, word)));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** A sentence that goes away by itself; screen readers say it. */
function tell(sentence, isBad = false) {
  const note = make("p", { class: isBad ? "toast bad" : "toast" }, sentence);
  document.getElementById("toasts")?.append(note);
  setTimeout(() => note.remove(), isBad ? 12_000 : 6_000);
}
