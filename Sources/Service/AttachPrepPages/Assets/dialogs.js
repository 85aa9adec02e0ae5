"use strict";

// Confirmation dialogs and toast messages.

/**
 * Asks for confirmation before an action, with fields to fill in as `content`. A final action is not the primary
 * button; "Go back" has the focus.
 */
function confirmAction({ title, sentence, word, content = [], isFinal = false, isLong = false }, action) {
  const note = make("p", { class: "bad", role: "alert" });
  const dialog = make("dialog", { class: isLong ? "question long" : "question", "aria-labelledby": "question-title" },
    make("h2", { id: "question-title" }, title), make("p", {}, sentence), content, note,
    make("div", { class: "actions" },
      make("button", { class: "button", type: "button", onclick: () => dialog.close() }, "Go back"),
      make("button", { class: isFinal ? "button danger" : "button primary", type: "button",
        onclick: async ({ currentTarget }) => {
          currentTarget.disabled = true;
          currentTarget.textContent = `${word}…`;
          try {
            await action();
            dialog.close();
          } catch (problem) {
            showToast(problem.message, true);
            // What was filled in can be corrected.
            if (!content.length) return dialog.close();
            note.textContent = problem.message;
            currentTarget.disabled = false;
            currentTarget.textContent = word;
          }
        } }, word)));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

/** Shows a message for 6 s, or for 12 s if it is an error; screen readers announce it. */
function showToast(sentence, isBad = false) {
  const note = make("p", { class: isBad ? "toast bad" : "toast" }, sentence);
  document.getElementById("toasts")?.append(note);
  setTimeout(() => note.remove(), isBad ? 12_000 : 6_000);
}
