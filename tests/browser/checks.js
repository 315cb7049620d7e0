// What detectors.py asks of a page, inside the page. Each function returns what is wrong, in words.

function visible(element) {
  return element.checkVisibility({opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true});
}

function words(element) {
  return "<" + element.tagName.toLowerCase() + "> " + JSON.stringify((element.textContent || "").trim().slice(0, 40));
}

function openDetails() {
  for (const details of document.querySelectorAll("details")) details.open = true;
}

// ---- colour

function colour(text) {
  const parts = /^rgba?\(([^)]*)\)$/.exec(text);
  if (!parts) throw new Error("not a colour that this check knows: " + text);
  const [r, g, b, a = 1] = parts[1].split(/[\s,\/]+/).map(Number);
  return {r, g, b, a};
}

function over(top, under) {
  const mix = (t, u) => t * top.a + u * (1 - top.a);
  return {r: mix(top.r, under.r), g: mix(top.g, under.g), b: mix(top.b, under.b), a: 1};
}

function faded(c, opacity) { return {...c, a: c.a * opacity}; }

function opacityOf(element) {
  let product = 1;
  for (let e = element; e; e = e.parentElement) product *= Number(getComputedStyle(e).opacity);
  return product;
}

// What is painted below an element's text: the backgrounds of its ancestors, the outermost first.
function ground(element) {
  const layers = [];
  for (let e = element; e; e = e.parentElement) layers.unshift(colour(getComputedStyle(e).backgroundColor));
  return layers.reduce((below, layer) => over(layer, below), {r: 255, g: 255, b: 255, a: 1});
}

// In a drawing also the shapes painted before the text, at its middle.
function groundOfLabel(label) {
  const svg = label.ownerSVGElement, box = label.getBoundingClientRect();
  const x = box.left + box.width / 2, y = box.top + box.height / 2;
  let below = ground(svg);
  for (const shape of svg.querySelectorAll("rect, circle, path, polygon")) {
    if (!(shape.compareDocumentPosition(label) & Node.DOCUMENT_POSITION_FOLLOWING)) continue;
    const style = getComputedStyle(shape), at = shape.getBoundingClientRect();
    if (style.fill === "none" || x < at.left || x > at.right || y < at.top || y > at.bottom) continue;
    if (shape.tagName === "path" && !shape.isPointInFill(new DOMPoint(x, y).matrixTransform(shape.getScreenCTM().inverse()))) continue;
    below = over(faded(colour(style.fill), Number(style.fillOpacity) * Number(style.opacity)), below);
  }
  return below;
}

function luminance({r, g, b}) {
  const linear = v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
  return 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
}

function contrast(a, b) {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

function shownTexts() {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const text = walk.currentNode.data.trim(), element = walk.currentNode.parentElement;
    if (text && !element.closest("script, style, title, desc") && visible(element)) found.push({text, element});
  }
  return found;
}

function lowContrast(limit) {
  const found = new Map();
  const judge = (text, ink, below, where) => {
    const ratio = contrast(over(ink, below), below);
    if (ratio < limit && !found.has(where)) found.set(where, where + " " + ratio.toFixed(2) + ": " + JSON.stringify(text.slice(0, 40)));
  };
  for (const {text, element} of shownTexts()) {
    const style = getComputedStyle(element), drawn = element instanceof SVGElement;
    const ink = faded(colour(drawn ? style.fill : style.color), opacityOf(element));
    judge(text, ink, drawn ? groundOfLabel(element) : ground(element), element.tagName + "." + element.getAttribute("class"));
  }
  for (const element of document.body.querySelectorAll("*")) {
    for (const part of ["::before", "::after"]) {
      const style = getComputedStyle(element, part);
      if (/^"[^"]*\w/.test(style.content) && visible(element)) judge(style.content, colour(style.color), ground(element), element.tagName + part);
    }
  }
  return [...found.values()];
}

// ---- layout

function clips(element) { return ["hidden", "clip"].includes(getComputedStyle(element).overflowX); }
function scrolls(element) { return ["auto", "scroll"].includes(getComputedStyle(element).overflowX); }

function tooWide() {
  const found = [], width = document.documentElement.clientWidth;
  if (document.scrollingElement.scrollWidth > width) found.push("the page scrolls sideways: " + document.scrollingElement.scrollWidth + " px in " + width);
  for (const element of document.body.querySelectorAll("*")) {
    if (element.ownerSVGElement || !visible(element)) continue;
    const box = element.getBoundingClientRect();
    let inside = false;
    for (let e = element.parentElement; e && e !== document.body; e = e.parentElement) inside = inside || scrolls(e) || clips(e);
    if (box.width > 1 && box.right > width + 1 && !inside) found.push(words(element) + " ends at " + Math.round(box.right) + " px of " + width);
    if (clips(element) && element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1) found.push(words(element) + " is cut off");
  }
  return found.slice(0, 10);
}

// ---- structure

function badTables() {
  const found = [];
  document.querySelectorAll("table").forEach((table, i) => {
    const where = "table " + i + ": ", heads = [...table.querySelectorAll("thead th")];
    const name = table.caption?.textContent || table.getAttribute("aria-label");
    if (!name || !name.trim()) found.push(where + "no name");
    if (heads.length === 0) found.push(where + "no column headers");
    for (const head of heads) if (head.scope !== "col" || !head.textContent.trim()) found.push(where + "a column header without scope or words");
    for (const row of table.querySelectorAll("tbody tr")) {
      if (row.cells.length !== heads.length) found.push(where + "a row of " + row.cells.length + " cells under " + heads.length + " headers");
      const head = row.querySelector("th");
      if (!head || head.scope !== "row") found.push(where + "a row without header or its scope");
    }
  });
  return [...new Set(found)];
}

function badOutline() {
  const found = [];
  if (!document.documentElement.lang) found.push("no language");
  if (!document.title.trim()) found.push("no title");
  if (document.querySelectorAll("main").length !== 1) found.push("not one <main>");
  let before = 0;
  for (const head of document.querySelectorAll("h1, h2, h3, h4, h5, h6")) {
    const level = Number(head.tagName[1]);
    if (level > before + 1) found.push(words(head) + " after a heading of level " + before);
    before = level;
  }
  if (document.querySelectorAll("h1").length !== 1) found.push("not one <h1>");
  const ids = [...document.querySelectorAll("[id]")].map(e => e.id);
  for (const id of new Set(ids.filter((id, i) => ids.indexOf(id) !== i))) found.push("two elements with the id " + id);
  for (const link of document.querySelectorAll("a[href^='#']"))
    if (!document.getElementById(link.hash.slice(1))) found.push(words(link) + " leads nowhere");
  return found;
}

function unnamedGraphics() {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    if (svg.closest("[aria-hidden=true]")) continue;
    const named = (svg.getAttribute("aria-labelledby") || "").split(/\s+/).map(id => document.getElementById(id)?.textContent || "").join("");
    if (svg.getAttribute("role") !== "img") found.push("a graphic without role=img: " + svg.outerHTML.slice(0, 60));
    else if (!(svg.getAttribute("aria-label") || named).trim()) found.push("a graphic without name: " + svg.outerHTML.slice(0, 60));
  }
  return found;
}

// Tags, names of attributes and classes: what text from outside must not be able to change.
function skeleton() {
  return [...document.querySelectorAll(":not(wbr)")].map(e =>
    e.tagName + " " + [...e.attributes].map(a => a.name).sort().join(" ") + " " + (e.getAttribute("class") || ""));
}

function readableText(except = "button") {
  return shownTexts().filter(({element}) => !element.closest(except)).map(({text}) => text).join("\n");
}

function codeTexts() {
  return [...document.querySelectorAll("code")].filter(visible).map(e => e.textContent).join("\n");
}

function hiddenInDetails() {
  return [...document.querySelectorAll("details > :not(summary)")].filter(e => !visible(e)).map(words);
}

// ---- keyboard

function controls() {
  window.controlList = [...document.querySelectorAll("a[href], button, summary, input, select, textarea, [tabindex]:not([tabindex='-1'])")]
    .filter(e => visible(e) && !e.disabled);
  return window.controlList.map(words);
}

// Where the focus is, and what is wrong with how it is shown.
function focused() {
  const element = document.activeElement;
  if (!element || element === document.body) return null;
  const style = getComputedStyle(element), box = element.getBoundingClientRect(), problems = [];
  const outlined = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2;
  if (!outlined || contrast(over(colour(style.outlineColor), ground(element.parentElement)), ground(element.parentElement)) < 3)
    problems.push(words(element) + " does not show its focus");
  if (box.bottom < 0 || box.top > innerHeight || box.right < 0 || box.left > innerWidth) problems.push(words(element) + " is focused off screen");
  return {index: window.controlList.indexOf(element), words: words(element), problems};
}
