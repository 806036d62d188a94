// Shows the page that the address names.

import { failure } from "./busy.js";
import { h } from "./dom.js";
import { leave } from "./fetched.js";
import { here } from "./router.js";
import { home } from "./home.js";
import { datasetPage } from "./dataset.js";
import { samplesPage } from "./samples.js";
import { samplePage } from "./sample.js";
import { runPage } from "./run.js";
import { mapPage } from "./map.js";
import { comparePage } from "./compare.js";
import { taskPage, tasksPage } from "./tasks.js";
import { listen } from "./keys.js";
import { themed } from "./theme.js";

const PAGES = [
  { room: "data", parts: 1, page: datasetPage },
  { room: "data", parts: 2, page: samplesPage },
  { room: "data", parts: 3, page: samplePage },
  { room: "run", parts: 2, page: runPage },
  { room: "map", parts: 3, page: mapPage },
  { room: "compare", parts: 2, page: comparePage },
  { room: "tasks", parts: 0, page: tasksPage },
  { room: "tasks", parts: 1, page: taskPage },
];
const main = document.getElementById("main");
const working = document.getElementById("working");
let turn = 0;
let shownPath = null;

function pageOf({ path, query }) {
  const [room, ...rest] = path;
  if (room === undefined) return home(query);
  const found = PAGES.find((one) => one.room === room && one.parts === rest.length);
  if (!found) throw new Error("There is no such page.");
  return found.page(...rest, query);
}

function failed(error) {
  const parts = [
    h("h1", {}, "This cannot be shown"),
    failure(error.message, show),
    h("p", {}, h("a", { href: "#/" }, "Data and runs")),
  ];
  return { title: "Not found", parts };
}

/** Build the page and put it in place; keep the keyboard where it was, or lead it to the new page's head. */
async function show() {
  const mine = ++turn;
  const address = here();
  leave();
  main.setAttribute("aria-busy", "true");
  working.hidden = false;
  const page = await Promise.resolve()
    .then(() => pageOf(address))
    .catch(failed);
  if (mine !== turn) return;
  const held = document.activeElement?.id;
  main.replaceChildren(...page.parts.flat(Infinity).filter(Boolean));
  main.removeAttribute("aria-busy");
  working.hidden = true;
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
listen(themed(document.getElementById("theme")));
window.addEventListener("hashchange", show);
show();
