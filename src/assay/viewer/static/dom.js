// Builds elements. A text is always shown as text: nothing on this page parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** Return an element with properties (`on...` for listeners, `data-`/`aria-` and others as attributes) and children. */
export function h(name, props = {}, ...children) {
  return filled(document.createElement(name), props, children);
}

/** Return an SVG element. */
export function svg(name, props = {}, ...children) {
  return filled(document.createElementNS(SVG, name), props, children);
}

function filled(element, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Return the way to a page: links and texts, from the outermost to this one. */
export function crumbs(...steps) {
  const parts = steps.filter(Boolean).map((step) => h("li", {}, step));
  return h("nav", { class: "crumbs", "aria-label": "Where this is" }, h("ol", {}, parts));
}

/** Return a section with a heading, which a link can lead to; null without content. */
export function section(id, heading, ...parts) {
  const content = parts.flat(Infinity).filter(Boolean);
  return content.length ? h("section", { id }, h("h2", {}, heading), content) : null;
}

/** Return a table with a caption, column heads, and rows whose first cell is the row's head; null without rows. */
export function table(caption, heads, rows, props = {}) {
  if (!rows.length) return null;
  const head = h(
    "tr",
    {},
    heads.map((text) => h("th", { scope: "col" }, text)),
  );
  const body = rows.map((cells) => row(cells));
  const made = h("table", props, h("caption", {}, caption), h("thead", {}, head), h("tbody", {}, body));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": caption }, made);
}

function row(cells) {
  const [first, ...rest] = cells.map((cell) =>
    cell instanceof Node || typeof cell !== "object" ? [cell] : (cell ?? [""]),
  );
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, first),
    rest.map((cell) => h("td", {}, cell)),
  );
}

/** Return a labelled select; options are `{value, text, group}`, and `choose` is called with the chosen value. */
export function select(label, id, options, chosen, choose) {
  const made = options.map((one) => h("option", { value: one.value, selected: one.value === chosen }, one.text));
  const groups = new Map();
  options.forEach((one, place) => groups.set(one.group ?? "", [...(groups.get(one.group ?? "") ?? []), made[place]]));
  const parts = [...groups].map(([group, held]) => (group ? h("optgroup", { label: group }, held) : held));
  const box = h("select", { id, onchange: (event) => choose(event.target.value) }, parts);
  return h("div", { class: "field" }, h("label", { for: id }, label), box);
}
