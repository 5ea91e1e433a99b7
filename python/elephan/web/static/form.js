// "All keys": a form made of the JSON Schema, with the parser's messages beside the fields.
"use strict";
(() => {
  const { el } = window.elephanView;

  const DECISIVE = ["law", "discipline", "kind", "profile"]; // Keys that decide which table it is.

  // What a part of the schema allows: its description, words, and of the tables that it may be the one of the value.
  function meaning(schema, part, value) {
    const found = { help: part.description || "", words: [], table: null, tables: [], list: null, kind: part.type };
    (function walk(each) {
      if (each.$ref) walk({ ...schema.$defs[each.$ref.split("/").pop()], description: undefined });
      if (each.enum) found.words.push(...each.enum);
      if (each.const !== undefined) found.words.push(each.const);
      if (each.properties) found.tables.push(each);
      if (each.type === "array" && each.items) found.list = found.list || each.items;
      if (!found.kind && each.type) found.kind = each.type;
      for (const one of each.anyOf || each.oneOf || []) walk(one);
    })(part);
    const chosen = DECISIVE.find((key) => value && typeof value === "object" && key in value);
    const words = (table, key) => meaning(schema, table.properties[key] || {}).words;
    found.table = found.tables.find((table) => chosen && words(table, chosen).includes(value[chosen])) || found.tables[0] || null;
    if (found.table && chosen && found.tables.length > 1) {
      // The name of what is chosen may be that of any table.
      const names = [...new Set(found.tables.flatMap((table) => words(table, chosen)))];
      found.table = { ...found.table, properties: { ...found.table.properties, [chosen]: { description: found.table.properties[chosen]?.description || "", enum: names } } };
    }
    return found;
  }

  const shown = (value) => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value));

  // Numbers, booleans, lists and tables are written as JSON, everything else is text.
  function read(text) {
    const trimmed = text.trim();
    if (trimmed === "") return undefined;
    if (/^(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|[[{].*)$/s.test(trimmed)) {
      try { return JSON.parse(trimmed); } catch { return trimmed; }
    }
    return trimmed;
  }

  let count = 0;

  function leaf(name, about, value, path, set) {
    const id = `field-${count++}`;
    const list = about.words.length > 1 && typeof value !== "object" ? el("datalist", { id: `${id}-words` }, about.words.slice(0, 80).map((word) => el("option", { value: String(word) }))) : null;
    const input = el("input", { id, value: shown(value), list: list ? `${id}-words` : undefined, "aria-describedby": `${id}-help`, placeholder: default_(about.help), spellcheck: "false", autocomplete: "off", onchange: (event) => set(read(event.target.value)) });
    const table = about.table && (value === undefined || typeof value !== "object") ? el("button", { type: "button",
      onclick: () => set({}) }, "as a table") : null;
    return el("div", { class: "field", "data-path": path }, el("label", { for: id }, name), el("div", { class: "row" }, input, table),
      el("p", { class: "help", id: `${id}-help` }, about.help), list, el("p", { class: "wrong", hidden: true }));
  }

  function default_(help) { return (help.match(/Default: ("?)(.*?)\1\.$/) || [])[2] || ""; }

  // A table: keys that are there, then the others folded.
  function fields(schema, part, value, path, change) {
    const there = [], others = [];
    for (const [key, each] of Object.entries(part.properties)) {
      const now = value[key];
      const about = meaning(schema, each, now);
      const place = path ? `${path}.${key}` : key;
      const set = (next) => { if (next === undefined) delete value[key]; else value[key] = next; change(); };
      if (Array.isArray(now) && about.list && now.every((item) => item && typeof item === "object" && !Array.isArray(item))) {
        const item = meaning(schema, about.list);
        now.forEach((row, i) => there.push(el("fieldset", { "data-path": `${place}[${i}]` },
          el("legend", {}, `${key} ${i + 1}${row.name ? `: ${row.name}` : ""}`), fields(schema, item.table, row, `${place}[${i}]`, change),
          now.length > 1 ? el("p", {}, el("button", { type: "button",
            onclick: () => { now.splice(i, 1); change(); } }, `Remove ${key} ${i + 1}`)) : null)));
        there.push(el("p", {}, el("button", { type: "button", onclick: () => { now.push({ ...structuredClone(now[now.length - 1]), name: `${key}${now.length + 1}` }); change(); } }, `Add to ${key}`)));
      } else if (now && typeof now === "object" && !Array.isArray(now) && about.table) {
        there.push(el("fieldset", { "data-path": place }, el("legend", {}, key), fields(schema, about.table, now, place, change), el("p", {},
          el("button", { type: "button", onclick: () => set(undefined) }, `Remove ${key}`)), el("p", { class: "wrong", hidden: true })));
      } else {
        (now === undefined ? others : there).push(leaf(key, about, now, place, set));
      }
    }
    for (const key of Object.keys(value).filter((each) => !(each in part.properties))) {
      there.push(leaf(key, { help: "", words: [] }, value[key], path ? `${path}.${key}` : key, (next) => { if (next === undefined) delete value[key]; else value[key] = next; change(); }));
    }
    return el("div", {}, there, others.length ? el("details", {}, el("summary", {}, `${others.length} more keys`), others) : null);
  }

  // Put a message beside the field of its place, or of the nearest part of it.
  function complain(box, place, message) {
    for (const field of box.querySelectorAll(".bad")) { field.classList.remove("bad"); const old = field.querySelector(":scope > .wrong"); if (old) old.hidden = true; }
    for (let part = place; part; part = part.replace(/(\.[^.[]+|\[[^\]]*\]|^[^.[]+)$/, "")) {
      const field = [...box.querySelectorAll("[data-path]")].find((each) => each.dataset.path === part);
      const words = field?.querySelector(":scope > .wrong");
      if (words) {
        field.classList.add("bad"); words.hidden = false; words.textContent = message;
        for (let up = field.parentElement; up; up = up.parentElement) if (up.tagName === "DETAILS") up.open = true;
        return true;
      }
    }
    return false;
  }

  window.elephanForm = { fields, complain };
})();
