// Parts of the page: elements, answers, pictures, tables, code to copy.
"use strict";
(() => {
  const { draw } = window.elephanDraw;

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

  function say(text) { document.getElementById("said").textContent = text; }

  // Pictures, kept by name so that a stream of them is drawn in place.
  class Figures {
    constructor(box) { this.box = box; this.known = new Map(); this.cursor = null; }

    show(figures) {
      const names = new Set(figures.map((figure) => figure.name));
      for (const [name, held] of this.known) if (!names.has(name)) { held.node.remove(); this.known.delete(name); }
      figures.forEach((figure, i) => {
        let held = this.known.get(figure.name);
        if (!held) {
          const plot = el("div", { class: "draw" });
          const node = el("figure", {}, el("h3", {}, figure.title), plot, el("ul", { class: "legend" }));
          held = { node, plot };
          this.known.set(figure.name, held);
          this.box.insertBefore(node, this.box.children[i] || null);
        }
        held.figure = figure;
        held.node.classList.toggle("wide", i === 0 && figures.length % 2 === 1);
        legend(held.node.querySelector(".legend"), figure);
      });
      this.again();
    }

    again() { for (const held of this.known.values()) draw(held.plot, held.figure, { cursor: held.figure.x.label === "buffer" ? this.cursor : null }); }

    mark(buffer) { this.cursor = buffer; this.again(); }
  }

  function legend(list, figure) {
    const seen = new Set(), rows = [];
    for (const series of figure.series) {
      if (seen.has(series.name)) continue;
      seen.add(series.name);
      rows.push(el("li", { class: `c-${series.colour || "blue"}${series.faint ? " faint" : ""}${series.dashed ? " dashed" : ""}` }, series.name));
    }
    for (const mark of (figure.marks || []).filter((m) => m.role === "shade")) rows.push(el("li", { class: "shade" }, mark.label));
    list.replaceChildren(...(rows.length > 1 || rows.some((row) => row.className.includes("shade")) ? rows : []));
  }

  function tiles(list) {
    return el("dl", { class: "tiles" }, list.map((tile) => el("div", {}, el("dt", {}, tile.label),
      el("dd", {}, tile.value, tile.detail ? el("span", { class: "detail" }, tile.detail) : null))));
  }

  function table(data) {
    const cls = (i) => (data.numeric[i] ? "n" : undefined);
    return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": data.title },
      el("table", {}, el("caption", {}, data.title),
        el("thead", {}, el("tr", {}, data.heads.map((head, i) => el("th", { scope: "col", class: cls(i) }, head || el("span", { class: "unseen" }, "remark"))))),
        el("tbody", {}, data.rows.map((row) => el("tr", {}, row.map((text, i) => el("td", { class: cls(i) }, text)))))),
      data.note ? el("p", { class: "note pad" }, data.note) : null);
  }

  function answer(page, extra) {
    return el("section", { class: `answer ${page.tone}`, "aria-label": "Answer" },
      el("p", { class: "headline" }, page.headline), el("p", {}, page.sentence),
      page.notes.map((note) => el("p", { class: "note" }, note)),
      tiles(page.tiles), extra || null,
      page.warnings.length ? el("ul", { class: "warnings" }, page.warnings.map((w) => el("li", {}, `${w.where ? `${w.where}: ` : ""}${w.message || ""}`))) : null,
      page.commands.map((command) => el("div", {}, el("p", { class: "note gap" }, command.says), code(command.line))));
  }

  async function copy(text, button) {
    try { await navigator.clipboard.writeText(text); } catch {
      const box = el("textarea", { value: text });
      document.body.append(box); box.select(); document.execCommand("copy"); box.remove();
    }
    button.textContent = "Copied"; say("Copied");
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  function code(text) {
    return el("div", { class: "code" }, el("pre", { tabindex: "0" }, text), el("button", { type: "button",
      onclick: (event) => copy(text, event.target) }, "Copy"));
  }

  // The scenario file, the command and the Python lines, as tabs.
  function lines(sent) {
    const parts = [...Object.entries(sent.files), ["Command", sent.command], ["Python", sent.python]].map(([name, text]) => [name.endsWith(".toml") ? `File ${name}` : name, text, name]);
    const shown = el("div", { role: "tabpanel", id: "lines", "aria-live": "off" });
    const buttons = parts.map(([name, text, file], i) => el("button", { type: "button", role: "tab", "aria-selected": i === 0 ? "true" : "false", "aria-controls": "lines", tabindex: i ? "-1" : "0",
      onclick: () => choose(i), onkeydown: (event) => { const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]; if (step) { choose((i + step + parts.length) % parts.length); } } }, name));
    function choose(k) {
      buttons.forEach((button, i) => { button.setAttribute("aria-selected", i === k ? "true" : "false"); button.tabIndex = i === k ? 0 : -1; });
      const [, text, file] = parts[k];
      shown.replaceChildren(code(text), file.endsWith(".toml") ? el("p", { class: "note gap" },
        el("a", { href: URL.createObjectURL(new Blob([text], { type: "application/toml" })), download: file }, `Save ${file}`)) : "");
      if (document.activeElement?.getAttribute("role") === "tab") buttons[k].focus();
    }
    choose(0);
    return el("section", { class: "panel", "aria-label": "The same without this page" }, el("h2", {}, "The same without this page"),
      el("div", { class: "tabs", role: "tablist" }, buttons), shown);
  }

  // Everything of a page but its answer: first pictures and tables open, the rest folded.
  function rest(page, figures) {
    const open = new Set(["Flows", "Results", "What to deploy", "Metrics"]);
    const found = [];
    const main = page.sections.find((section) => section.figures.length);
    if (main) figures.show(main.figures);
    const tables = page.sections.filter((section) => open.has(section.title)).flatMap((section) => section.tables);
    found.push(...tables.map(table));
    for (const section of page.sections) {
      const pictures = section === main ? [] : section.figures;
      const more = open.has(section.title) ? [] : section.tables;
      if (!pictures.length && !more.length) continue;
      const box = el("div", { class: "figures" });
      const held = new Figures(box);
      const fold = el("details", {}, el("summary", {}, section.title), section.lead.map((text) => el("p", { class: "note" }, text)), pictures.length ? box : null, more.map(table));
      fold.addEventListener("toggle", () => { if (fold.open && pictures.length) held.show(pictures); });
      found.push(fold);
    }
    return found;
  }

  const GLYPHS = {
    curve: [["line", "M2 34C10 32 12 10 24 8S42 6 46 6"], ["accent", "M20 2V36"]],
    limit: [["line", "M2 8H24C34 8 38 20 46 34"], ["accent", "M2 14H46"]],
    run: [["line", "M2 34L14 8V22L28 6V20L46 4"], ["accent", "M2 36H46"]],
    compare: [["line", "M2 30L12 12V22L24 8V18L34 6L46 12"], ["accent", "M2 34L16 28L30 30L46 26"]],
  };
  function glyph(view) {
    const { svg } = window.elephanDraw;
    return svg("svg", { viewBox: "0 0 48 38", "aria-hidden": "true", class: "glyph" }, ...GLYPHS[view].map(([kind, d]) => svg("path", { d, class: kind })));
  }

  window.elephanView = { el, say, Figures, tiles, table, answer, code, lines, rest, glyph };
})();
