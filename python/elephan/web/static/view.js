// Parts of the page: elements, answers, pictures, tables, code to copy.
"use strict";
(() => {
  const { draw, svg } = window.elephanDraw;
  const COPIED_MS = 1500;

  // An element. Content is added as text nodes only, so that no text of a scenario or a message becomes HTML.
  function el(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (name === "value") made.value = value;
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
    return made;
  }

  // A button; without a type it would submit a form.
  const button = (words, onclick, more) => el("button", { type: "button", onclick, ...more }, words);
  const note = (...children) => el("p", { class: "note" }, ...children);
  const named = (kind, name, ...children) => el("section", { class: kind, "aria-label": name }, ...children);
  const located = (found) => `${found.where ? `${found.where}: ` : ""}${found.message || ""}`;
  const look = (series) =>
    `c-${series.colour || "blue"}${series.faint ? " faint" : ""}${series.dashed ? " dashed" : ""}`;

  // Tell a screen reader what has changed elsewhere on the page.
  function say(text) { document.getElementById("said").textContent = text; }

  // Put a message at the end of a control or field; an empty one takes it away.
  function blame(node, message) {
    const words = node.querySelector(":scope > .wrong");
    node.classList.toggle("bad", message !== "");
    words.hidden = message === "";
    words.textContent = message;
  }

  // Pictures by name: a stream of them is drawn in place, so that the page does not jump.
  class Figures {
    constructor(box) {
      this.box = box;
      this.known = new Map();
      this.cursor = null;
    }

    // Show these figures, in this order, instead of those before.
    show(figures) {
      const names = new Set(figures.map((figure) => figure.name));
      for (const [name, held] of [...this.known].filter(([each]) => !names.has(each))) {
        held.node.remove();
        this.known.delete(name);
      }
      figures.forEach((figure, i) => {
        const held = this.known.get(figure.name) || this.add(figure, i);
        held.figure = figure;
        held.node.classList.toggle("wide", i === 0 && figures.length % 2 === 1);
        held.legend.replaceChildren(...legend(figure));
      });
      this.again();
    }

    // Make the place of a figure.
    add(figure, i) {
      const [plot, rows] = [el("div", { class: "draw" }), el("ul", { class: "legend" })];
      const node = el("figure", {}, el("figcaption", {}, figure.title), plot, rows);
      this.known.set(figure.name, { node, plot, legend: rows });
      this.box.insertBefore(node, this.box.children[i] || null);
      return this.known.get(figure.name);
    }

    // Draw all again, when the window or the slider has changed.
    again() {
      for (const { plot, figure } of this.known.values()) {
        draw(plot, figure, figure.x.label === "buffer" ? this.cursor : null);
      }
    }

    // Mark a buffer in the pictures that have one on their horizontal axis.
    mark(buffer) {
      this.cursor = buffer;
      this.again();
    }
  }

  // Rows of a legend; none for a single line, which the title names already.
  function legend(figure) {
    const rows = new Map();
    for (const series of figure.series) {
      // Several lines may share a name, and then the first one stands for all.
      if (!rows.has(series.name)) rows.set(series.name, el("li", { class: look(series) }, series.name));
    }
    const shades = (figure.marks || []).filter((mark) => mark.role === "shade");
    for (const mark of shades) rows.set(mark.label, el("li", { class: "shade" }, mark.label));
    return rows.size > 1 || shades.length ? [...rows.values()] : [];
  }

  // Numbers with their names, large.
  function tiles(list) {
    return el("dl", { class: "tiles" }, list.map((tile) => el("div", {}, el("dt", {}, tile.label),
      el("dd", {}, tile.value, tile.detail ? el("span", { class: "detail" }, tile.detail) : null))));
  }

  // A table that scrolls in its own box; the box takes the focus, so that arrow keys can scroll it.
  function table(data) {
    const cell = (tag, content, i) =>
      el(tag, { class: `${data.numeric[i] ? "n" : ""} ${/ best$/.test(content) ? "best" : ""}`.trim() || undefined,
        scope: tag === "th" ? "col" : undefined }, content);
    const head = data.heads.map((text, i) => cell("th", text || el("span", { class: "unseen" }, "remark"), i));
    const rows = data.rows.map((row) => el("tr", {}, row.map((text, i) => cell("td", text, i))));
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": data.title },
      el("table", {}, el("caption", {}, data.title), el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows)),
      data.note ? el("p", { class: "note pad" }, data.note) : null);
  }

  // The answer of a page of the report, before its pictures.
  function answer(page) {
    const warnings = page.warnings.map((warned) => el("li", {}, located(warned)));
    return named(`answer ${page.tone}`, "Answer", el("p", { class: "headline" }, page.headline),
      el("p", {}, page.sentence), page.notes.map((text) => note(text)), tiles(page.tiles),
      warnings.length ? el("ul", { class: "warnings" }, warnings) : null,
      page.commands.map((command) => el("div", {}, el("p", { class: "note gap" }, command.says), code(command.line))));
  }

  // Lines with a button that copies them. Browsers without access to the clipboard, which need HTTPS for it, get the
  // lines selected instead.
  function code(text) {
    const pre = el("pre", { tabindex: "0" }, text);
    const told = (words) => { pressed.textContent = words; say(words); };
    const pressed = button("Copy", async () => {
      try {
        await navigator.clipboard.writeText(text);
        told("Copied");
      } catch {
        getSelection().selectAllChildren(pre);
        told("Selected");
      }
      setTimeout(() => { pressed.textContent = "Copy"; }, COPIED_MS);
    });
    return el("div", { class: "code" }, pre, pressed);
  }

  // The scenario file, the command and the Python lines as tabs, with the keys that tabs are used with.
  function lines(sent) {
    const parts = [...Object.entries(sent.files), ["Command", sent.command], ["Python", sent.python]];
    const isFile = (name) => name.endsWith(".toml");
    const shown = el("div", { role: "tabpanel", id: "lines", "aria-live": "off" });
    const onkeydown = (event) => {
      const at = tabs.indexOf(event.target), step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (step) choose((at + step + parts.length) % parts.length).focus();
    };
    const tabs = parts.map(([name], i) => button(isFile(name) ? `File ${name}` : name, () => choose(i),
      { role: "tab", "aria-controls": "lines", onkeydown }));
    function choose(k) {
      tabs.forEach((tab, i) => {
        tab.setAttribute("aria-selected", String(i === k));
        tab.tabIndex = i === k ? 0 : -1;
      });
      const [name, text] = parts[k];
      const href = isFile(name) && URL.createObjectURL(new Blob([text], { type: "application/toml" }));
      const save = href && el("p", { class: "note gap" }, el("a", { href, download: name }, `Save ${name}`));
      shown.replaceChildren(code(text), save || "");
      return tabs[k];
    }
    choose(0);
    return named("panel", "The same without this page", el("h2", {}, "The same without this page"),
      el("div", { class: "tabs", role: "tablist" }, tabs), shown);
  }

  // Everything of a page but its answer: the first pictures and the main tables are open, the rest is folded.
  function rest(page, figures) {
    const isOpen = (section) => ["Flows", "Results", "What to deploy", "Metrics"].includes(section.title);
    const main = page.sections.find((section) => section.figures.length);
    if (main) figures.show(main.figures);
    const found = page.sections.filter(isOpen).flatMap((section) => section.tables).map(table);
    for (const section of page.sections) {
      const pictures = section === main ? [] : section.figures;
      const tables = isOpen(section) ? [] : section.tables;
      if (!pictures.length && !tables.length) continue;
      const box = el("div", { class: "figures" });
      const held = new Figures(box);
      // A picture that is not shown has no width; it is drawn when its part is opened.
      const ontoggle = (event) => { if (event.target.open) held.show(pictures); };
      const lead = section.lead.map((text) => note(text));
      found.push(el("details", { ontoggle }, el("summary", {}, section.title), lead, box, tables.map(table)));
    }
    return found;
  }

  // The small picture of a card: what kind of answer it gives.
  const glyph = (view) =>
    svg("svg", { "aria-hidden": "true", class: "glyph" }, svg("use", { href: `#glyph-${view}` }));

  window.elephanView = { el, button, note, named, located, blame, say, glyph,
    Figures, tiles, table, answer, lines, rest };
})();
