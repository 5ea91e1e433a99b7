// "All keys": a form made of the JSON Schema, with the parser's messages beside the fields.
"use strict";
(() => {
  const { el, button, blame } = window.elephanView;
  const DECISIVE = ["law", "discipline", "kind", "profile"]; // Keys that decide which table a value is.
  const JSON_LIKE = /^(-?\d+(\.\d+)?([eE][+-]?\d+)?|true|false|[[{].*)$/s;
  const LAST_PART = /(\.[^.[]+|\[[^\]]*\]|^[^.[]+)$/; // Of the path of a key.
  const MOST_WORDS = 80;
  const isTable = (value) => Boolean(value) && typeof value === "object" && !Array.isArray(value);

  const wrong = () => el("p", { class: "wrong", hidden: true });

  // What a part of the schema allows: its description, its words, and the table that describes the value. A key may
  // be a word or one of several tables; the one is chosen that the value names by a decisive key.
  function meaning(schema, part, value) {
    const found = { help: part.description || "", words: [], table: null, list: null };
    const tables = [];
    (function walk(each) {
      if (each.$ref) walk(schema.$defs[each.$ref.split("/").pop()]);
      if (each.enum) found.words.push(...each.enum);
      if (each.const !== undefined) found.words.push(each.const);
      if (each.properties) tables.push(each);
      if (each.type === "array" && each.items) found.list = found.list || each.items;
      for (const one of each.anyOf || each.oneOf || []) walk(one);
    })(part);
    const key = DECISIVE.find((each) => isTable(value) && each in value);
    const words = (table) => meaning(schema, table.properties[key] || {}).words;
    found.table = tables.find((table) => key && words(table).includes(value[key])) || tables[0] || null;
    if (found.table && key && tables.length > 1) {
      // Another name may be chosen, and then the table is that of the other name.
      const chosen = { description: found.table.properties[key]?.description || "" };
      chosen.enum = [...new Set(tables.flatMap(words))];
      found.table = { ...found.table, properties: { ...found.table.properties, [key]: chosen } };
    }
    return found;
  }

  const shown = (value) => (typeof value === "string" ? value : value === undefined ? "" : JSON.stringify(value));
  const defaultOf = (help) => (help.match(/Default: ("?)(.*?)\1\.$/) || [])[2] || "";

  // The value of a field: numbers, booleans, lists and tables are written as JSON, everything else is text.
  function read(text) {
    const trimmed = text.trim();
    if (trimmed === "") return undefined;
    try { return JSON_LIKE.test(trimmed) ? JSON.parse(trimmed) : trimmed; } catch { return trimmed; }
  }

  let count = 0; // Every field needs an id of its own, which its label names.

  // A field for one value, with its help and a place for what the parser says.
  function leaf(name, about, value, path, set) {
    const id = `field-${count++}`;
    const options = about.words.slice(0, MOST_WORDS).map((word) => el("option", { value: String(word) }));
    const list = options.length > 1 && typeof value !== "object" && el("datalist", { id: `${id}-words` }, options);
    const input = el("input", { id, value: shown(value), list: list?.id, "aria-describedby": `${id}-help`,
      placeholder: defaultOf(about.help), spellcheck: "false", autocomplete: "off",
      onchange: (event) => set(read(event.target.value)) });
    const table = about.table && typeof value !== "object" ? button("as a table", () => set({})) : null;
    return el("div", { class: "field", "data-path": path }, el("label", { for: id }, name),
      el("div", { class: "row" }, input, table),
      el("p", { class: "help", id: `${id}-help` }, about.help), list, wrong());
  }

  // A list of tables: links, flows, pools. Each has its fields, and one can be removed or copied.
  function list(schema, name, rows, item, path, change) {
    const parts = rows.map((row, i) => el("fieldset", { "data-path": `${path}[${i}]` },
      el("legend", {}, `${name} ${i + 1}${row.name ? `: ${row.name}` : ""}`),
      fields(schema, meaning(schema, item).table, row, `${path}[${i}]`, change),
      rows.length > 1 ? el("p", {}, button(`Remove ${name} ${i + 1}`, () => { rows.splice(i, 1); change(); })) : null,
      wrong()));
    const copied = () => ({ ...structuredClone(rows[rows.length - 1]), name: `${name}${rows.length + 1}` });
    return [...parts, el("p", {}, button(`Add to ${name}`, () => { rows.push(copied()); change(); }))];
  }

  // The fields of a table: keys that are there first, then the others folded.
  function fields(schema, part, value, path, change) {
    const there = [], others = [];
    const unknown = Object.keys(value).filter((key) => !(key in part.properties)).map((key) => [key, {}]);
    for (const [key, each] of [...Object.entries(part.properties), ...unknown]) {
      const now = value[key];
      const about = meaning(schema, each, now);
      const place = path ? `${path}.${key}` : key;
      const set = (next) => {
        if (next === undefined) delete value[key]; else value[key] = next;
        change();
      };
      if (Array.isArray(now) && about.list && now.length && now.every(isTable)) {
        there.push(...list(schema, key, now, about.list, place, change));
      } else if (isTable(now) && about.table) {
        there.push(el("fieldset", { "data-path": place }, el("legend", {}, key),
          fields(schema, about.table, now, place, change),
          el("p", {}, button(`Remove ${key}`, () => set(undefined))), wrong()));
      } else (now === undefined ? others : there).push(leaf(key, about, now, place, set));
    }
    const folded = others.length ? el("details", {}, el("summary", {}, `${others.length} more keys`), others) : null;
    return el("div", {}, there, folded);
  }

  // Put a message beside the field of its place, or of the nearest part of it that has one, and open what folds it.
  function complain(box, place, message) {
    for (const field of box.querySelectorAll(".bad")) blame(field, "");
    for (let part = place; part; part = part.replace(LAST_PART, "")) {
      const field = [...box.querySelectorAll("[data-path]")].find((each) => each.dataset.path === part);
      if (!field) continue;
      blame(field, message);
      for (let up = field.closest("details"); up; up = up.parentElement.closest("details")) up.open = true;
      return;
    }
  }

  window.elephanForm = { fields, complain };
})();
