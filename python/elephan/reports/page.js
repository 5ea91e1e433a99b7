// The page's own behaviour: themes, pictures, tables that sort and filter, copying. Loads nothing.
"use strict";
const elephan = (() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const root = document.documentElement;
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const say = (words) => { document.getElementById("said").textContent = words; };
  const prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  let drawn = null;

  // A theme is what the address says (#dark, #light), or what the reader chose, or what the system has.
  const chosen = () => {
    const said = location.hash.slice(1);
    if (said in data.themes) return said;
    try { return localStorage.getItem("elephan-theme"); } catch { return null; }
  };
  const theme = () => root.dataset.theme || (prefersDark.matches ? "dark" : "light");

  function setTheme(name) {
    if (name in data.themes) root.dataset.theme = name;
    const button = document.getElementById("theme");
    const other = theme() === "dark" ? "light" : "dark";
    button.textContent = other === "dark" ? "Dark" : "Light";
    button.setAttribute("aria-label", `Switch to the ${other} theme`);
    button.hidden = false;
    restyle();
  }

  const PAINTED = ["line_color", "fill_color", "text_color"];

  function restyle() {
    if (!drawn) return;
    const colours = data.themes[theme()];
    const set = (model, values) => {
      for (const name of Object.keys(values)) if (!(name in model.properties)) delete values[name];
      model.setv(values);
    };
    for (const model of drawn.all_models ?? drawn._all_models.values()) {
      for (const tag of model.tags ?? []) {
        if (typeof tag !== "string") continue;
        const name = tag.startsWith("colour:") ? tag.slice(7) : null;
        if (name in colours) {
          const values = {};
          for (const property of PAINTED) {
            if (property in model.properties && isPainted(model[property])) values[property] = colours[name];
          }
          model.setv(values);
        } else if (tag === "axis") {
          set(model, { axis_label_text_color: colours.ink, major_label_text_color: colours.muted,
                       axis_line_color: colours.control, major_tick_line_color: colours.control });
        } else if (tag === "behind") {
          set(model, { background_fill_color: colours.card });
        } else if (tag === "grid") {
          set(model, { grid_line_color: colours.grid });
        }
      }
    }
  }

  const isPainted = (value) => value !== null && !(typeof value === "object" && value.value === null);

  // What is shown where a reader points is the library's own; the names in it are pale blue unless they are restyled.
  new MutationObserver((records) => {
    for (const added of records.flatMap((record) => [...record.addedNodes])) {
      if (!added.shadowRoot || !added.classList.contains("bk-Tooltip")) continue;
      const style = document.createElement("style");
      style.textContent = ".bk-tooltip-row-label { color: var(--muted) !important; }";
      added.shadowRoot.append(style);
    }
  }).observe(document.body, { childList: true });

  async function draw() {
    if (!data.figures || !window.Bokeh) return;
    Bokeh.set_log_level("error");
    const names = data.figures.roots, page = "page";
    await Bokeh.embed.embed_items({ [page]: data.figures.doc }, [{ docid: page, roots: names, root_ids: Object.keys(names) }]);
    drawn = Bokeh.documents.at(-1);
    restyle();
    for (const model of drawn.roots()) control(document.getElementById(names[model.id]).closest(".picture"), model);
    root.dataset.drawn = String(Object.keys(names).length);
  }

  function control(picture, model) {
    const controls = picture.querySelector(".controls");
    controls.hidden = false;
    const tools = Object.fromEntries(model.toolbar.tools.map((tool) => [tool.type, tool]));
    const drags = all("[data-drag]", controls);
    const drag = (name) => {
      for (const button of drags) {
        const on = button.dataset.drag === name;
        tools[button.dataset.drag].active = on;
        button.setAttribute("aria-pressed", String(on));
      }
    };
    drags.forEach((button) => button.addEventListener("click", () => {
      drag(button.getAttribute("aria-pressed") === "true" ? null : button.dataset.drag);
    }));
    // Where fingers scroll the page a picture must not catch them.
    drag(window.matchMedia("(pointer: coarse)").matches ? null : "BoxZoomTool");
    const wheel = controls.querySelector("[data-wheel]");
    wheel.addEventListener("click", () => {
      tools.WheelZoomTool.active = !tools.WheelZoomTool.active;
      wheel.setAttribute("aria-pressed", String(tools.WheelZoomTool.active));
    });
    all("[data-zoom]", controls).forEach((button) => button.addEventListener("click", () => {
      zoom(model.x_range, model.x_scale.type === "LogScale", Number(button.dataset.zoom));
      zoom(model.y_range, model.y_scale.type === "LogScale", Number(button.dataset.zoom));
    }));
    controls.querySelector("[data-reset]").addEventListener("click", () => {
      model.x_range.reset();
      model.y_range.reset();
    });
    all("[data-entry]", controls).forEach((button) => button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      const tag = `entry:${button.dataset.entry}`;
      for (const renderer of model.renderers) if ((renderer.tags ?? []).includes(tag)) renderer.visible = on;
    }));
  }

  function zoom(range, logarithmic, factor) {
    const to = logarithmic ? Math.log : (v) => v;
    const back = logarithmic ? Math.exp : (v) => v;
    const low = to(range.start), high = to(range.end), middle = (low + high) / 2, half = factor * (high - low) / 2;
    range.setv({ start: back(middle - half), end: back(middle + half) });
  }

  function sort(button) {
    const head = button.closest("th"), place = head.cellIndex, body = head.closest("table").tBodies[0];
    const way = head.getAttribute("aria-sort") === "ascending" ? "descending" : "ascending";
    const sign = way === "ascending" ? 1 : -1;
    const value = (row) => {
      const cell = row.cells[place];
      return cell.dataset.v === undefined ? cell.textContent.trim() : Number(cell.dataset.v);
    };
    const nothing = (v) => v === "–" || v === "" || Number.isNaN(v);
    const rows = [...body.rows].map((row) => [value(row), row]);
    rows.sort(([a], [b]) => {
      if (nothing(a) || nothing(b)) return nothing(a) - nothing(b);
      if (typeof a === "number" && typeof b === "number") return sign * (a - b);
      return sign * String(a).localeCompare(String(b), "en", { numeric: true });
    });
    body.append(...rows.map(([, row]) => row));
    all("th", head.closest("tr")).forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", way);
    say(`Sorted by ${button.textContent}, ${way}`);
  }

  function filter(box) {
    box.hidden = false;
    const rows = all("tr[data-keys]", box.parentElement);
    const selects = all("select", box), search = box.querySelector("input");
    const apply = () => {
      const words = search.value.toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const keys = row.dataset.keys.split("\u001f");
        row.hidden = !(selects.every((s) => !s.value || keys[s.dataset.place] === s.value)
          && row.textContent.toLowerCase().includes(words));
        shown += !row.hidden;
      }
      all(".scroll", box.parentElement).forEach((part) => { part.hidden = !part.querySelector("tbody tr:not([hidden])"); });
      box.querySelector("output").textContent = `${shown} of ${rows.length}`;
    };
    selects.forEach((select) => select.addEventListener("change", apply));
    search.addEventListener("input", apply);
    apply();
  }

  async function copy(button) {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      const selection = getSelection();
      selection.selectAllChildren(code);
      document.execCommand("copy");
      selection.removeAllRanges();
    }
    button.textContent = "Copied";
    say("Copied");
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }

  function save(button) {
    const text = button.parentElement.querySelector("code").textContent;
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
    link.download = button.dataset.name;
    link.click();
    URL.revokeObjectURL(link.href);
  }

  document.getElementById("theme").addEventListener("click", () => {
    const name = theme() === "dark" ? "light" : "dark";
    try { localStorage.setItem("elephan-theme", name); } catch { /* a page from a mail may have no memory */ }
    setTheme(name);
  });
  prefersDark.addEventListener("change", () => setTheme(null));
  window.addEventListener("hashchange", () => setTheme(location.hash.slice(1)));
  all(".sort").forEach((button) => button.addEventListener("click", () => sort(button)));
  all(".filters").forEach(filter);
  all(".copy").forEach((button) => button.addEventListener("click", () => copy(button)));
  all(".save").forEach((button) => { button.hidden = false; button.addEventListener("click", () => save(button)); });
  setTheme(chosen());
  const ready = draw();
  return { ready, all, say, theme, colours: () => data.themes[theme()], document: () => drawn };
})();
