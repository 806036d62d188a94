// What is not there yet: a spinner with words, then the content, or why there is none and a way to try again.

import { h } from "./dom.js";

/** Return a spinner with words that can be read out. */
export function spinner(text) {
  return h("p", { class: "working", role: "status" }, h("span", { class: "spinner", "aria-hidden": "true" }), text);
}

/** Return a box that fills itself with the parts that `work` gives; `work` may tell how far it is. */
export function pending(text, work, props = {}) {
  const box = h("div", props);
  const start = async () => {
    box.setAttribute("aria-busy", "true");
    box.replaceChildren(spinner(`${text} …`));
    try {
      const parts = await work((step) => box.replaceChildren(spinner(`${text} … ${step}`)));
      box.replaceChildren(...[parts].flat(Infinity).filter(Boolean));
    } catch (error) {
      if (error.name === "AbortError") return;
      box.replaceChildren(failure(error.message, start));
    }
    box.removeAttribute("aria-busy");
  };
  start();
  return box;
}

/** Return why something is not there, with a button to try again. */
export function failure(text, again) {
  return h(
    "p",
    { class: "note", role: "alert" },
    text,
    " ",
    again ? h("button", { type: "button", onclick: again }, "Try again") : null,
  );
}

/** Return a button that asks for something dear, and then the box that it fills. */
export function onRequest(label, text, work, props = {}) {
  const box = h("div", props);
  const ask = () => box.replaceChildren(pending(text, work));
  box.append(h("button", { type: "button", onclick: ask }, label));
  return box;
}
