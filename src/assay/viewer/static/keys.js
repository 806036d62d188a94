// The keyboard: steps between samples and pages, search, and a list of the keys.

import { h } from "./dom.js";

const KEYS = [
  ["← →", "previous and next sample, or page of samples"],
  ["u", "up: from a sample to its list, from a list to its dataset"],
  ["/", "search, or the first filter"],
  ["h", "the first page"],
  ["t", "light, dark, or as the machine has it"],
  ["?", "this list"],
];

const click = (...ids) =>
  ids
    .map((id) => document.getElementById(id))
    .find(Boolean)
    ?.click();

/** Listen to the keys; `turn` changes the theme. */
export function listen(turn) {
  const rows = KEYS.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)]);
  const close = h("button", { type: "button", onclick: () => help.close() }, "Close");
  const help = h(
    "dialog",
    { "aria-labelledby": "keys-title" },
    h("h2", { id: "keys-title" }, "Keys"),
    h("dl", {}, rows),
    close,
  );
  document.body.append(help);
  document.getElementById("keys").addEventListener("click", () => help.showModal());
  const actions = {
    ArrowLeft: () => click("step-Previous", "page-Previous"),
    ArrowRight: () => click("step-Next", "page-Next"),
    u: up,
    "/": () => (document.getElementById("search") ?? document.querySelector("main select"))?.focus(),
    h: () => (location.hash = "#/"),
    t: turn,
    "?": () => help.showModal(),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest?.("select, input, textarea, .scroll, dialog");
    if (typing || event.altKey || event.ctrlKey || event.metaKey || !(event.key in actions)) return;
    event.preventDefault();
    actions[event.key]();
  });
}

function up() {
  const links = document.querySelectorAll(".crumbs a");
  links[links.length - 1]?.click();
}
