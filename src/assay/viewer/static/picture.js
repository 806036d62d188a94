// A picture with its masks, parts, boxes and depth laid over it, each shown or hidden by a checkbox.

import { h, svg } from "./dom.js";

const SMALL = 300; // a picture with fewer pixels is enlarged with sharp edges
const LAYERS = { depth: "Depth", instances: "Masks", parts: "Parts", boxes: "Boxes", names: "Names" };
const visible = new Set(["boxes"]);

/** Return a picture; `pictures` has the address of each layer, `things` the boxes. */
export function picture({ layout, pictures, things, text, title }) {
  const layers = Object.keys(LAYERS).filter((name) => pictures[name]);
  const images = layers.map((name) => h("img", { class: `layer ${name}`, src: pictures[name], alt: "" }));
  if (things.length) images.push(...boxes(layout, things));
  const base = pictures.image
    ? h("img", { class: "base", src: pictures.image, alt: title, width: layout.width, height: layout.height })
    : h("p", { class: "snippet" }, text ?? "This dataset has no pictures.");
  const stack = h("div", { class: `stack${layout.width < SMALL ? " sharp" : ""}` }, base, images);
  refresh(stack);
  return h("figure", {}, h("figcaption", {}, title), stack);
}

/** Return the checkboxes that show or hide the layers of all pictures on the page. */
export function toggles(pictures, things) {
  const there = Object.keys(LAYERS).filter(
    (name) => pictures[name] || (["boxes", "names"].includes(name) && things.length),
  );
  const made = there.map((name) => {
    const change = (event) => {
      event.target.checked ? visible.add(name) : visible.delete(name);
      document.querySelectorAll(".stack").forEach(refresh);
    };
    const box = h("input", { type: "checkbox", id: `show-${name}`, checked: visible.has(name), onchange: change });
    return h("label", { for: `show-${name}` }, box, ` ${LAYERS[name]}`);
  });
  return there.length
    ? h("div", { class: "toggles", role: "group", "aria-label": "Show over the picture" }, made)
    : null;
}

function refresh(stack) {
  for (const name of Object.keys(LAYERS)) {
    stack.querySelectorAll(`.${name}`).forEach((layer) => layer.classList.toggle("hidden", !visible.has(name)));
  }
}

function boxes(layout, things) {
  const size = layout.width / 32;
  const seen = things.filter((thing) => thing.right > thing.left);
  const frames = seen.map(({ left, top, right, bottom }) =>
    svg("rect", { x: left, y: top, width: right - left, height: bottom - top }),
  );
  const names = seen.map(({ left, top, name }) =>
    svg("text", { x: left + size / 6, y: Math.max(top - size / 5, size * 0.9), "font-size": size }, name),
  );
  const over = (kind, parts) => {
    const props = { class: `layer ${kind}`, viewBox: `0 0 ${layout.width} ${layout.height}`, "aria-hidden": "true" };
    return svg("svg", props, parts);
  };
  return [over("boxes", frames), over("names", names)];
}
