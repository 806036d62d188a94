// Shows the page that the address names.

import { h } from "./dom.js";
import { here } from "./router.js";
import { home } from "./home.js";
import { samplesPage } from "./samples.js";
import { samplePage } from "./sample.js";
import { comparePage } from "./compare.js";
import { taskPage, tasksPage } from "./tasks.js";

const main = document.getElementById("main");
let turn = 0;
let shownPath = null;

function pageOf({ path, query }) {
  const [room, ...rest] = path;
  if (room === undefined) return home();
  if (room === "data" && rest.length === 2) return samplesPage(...rest, query);
  if (room === "data" && rest.length === 3) return samplePage(...rest, query);
  if (room === "compare" && rest.length === 2) return comparePage(...rest, query);
  if (room === "tasks") return rest.length ? taskPage(rest[0]) : tasksPage();
  throw new Error("There is no such page.");
}

function failed(error) {
  return { title: "Not found", parts: [h("h1", {}, "This cannot be shown"), h("p", { role: "alert" }, error.message)] };
}

/** Build the page and put it in place; keep the keyboard where it was, or lead it to the new page's head. */
async function show() {
  const mine = ++turn;
  const address = here();
  main.setAttribute("aria-busy", "true");
  const page = await Promise.resolve()
    .then(() => pageOf(address))
    .catch(failed);
  if (mine !== turn) return;
  const held = document.activeElement?.id;
  main.replaceChildren(...page.parts.flat().filter(Boolean));
  main.removeAttribute("aria-busy");
  main.dataset.shown = location.hash;
  document.title = `${page.title} – Assay`;
  markCurrent(address.path[0] ?? "");
  const path = address.path.join("/");
  const again = held && held !== "main" ? document.getElementById(held) : null;
  if (path === shownPath && again) again.focus();
  else if (shownPath !== null && path !== shownPath) {
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
  }
  shownPath = path;
}

function markCurrent(room) {
  for (const link of document.querySelectorAll("header nav a")) {
    const own = link.getAttribute("href") === (room === "tasks" ? "#/tasks" : "#/");
    if (own) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
window.addEventListener("hashchange", show);
show();
