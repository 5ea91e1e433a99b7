// The picture that the reader chooses: fills the empty pictures of a sweep with any quantity against any axis.
"use strict";
elephan.ready.then(() => {
  const parts = JSON.parse(document.getElementById("explorers").textContent);
  document.querySelectorAll("section.explorer").forEach((section, i) => explore(section, parts[i]));

  function explore(section, data) {
    const choices = section.querySelector(".choices");
    const counts = data.axes.map((axis) => axis.values.length);
    const metric = choose("Show", data.quantities.map((q) => q.title));
    const against = choose("against", data.axes.map((axis) => axis.name));
    const fixed = data.axes.map((axis) => choose(axis.name, ["all", ...axis.values]));
    against.value = String(counts.indexOf(Math.max(...counts)));
    choices.hidden = false;
    choices.addEventListener("change", (event) => {
      if (event.target === against) few();
      show();
    });
    few();
    show();

    function choose(label, options) {
      const box = document.createElement("label"), select = document.createElement("select");
      box.append(`${label} `, select);
      options.forEach((text, value) => select.append(new Option(text, String(value))));
      choices.append(box);
      return select;
    }

    // As many lines as can be told apart: of the axis with most values only the first, until they are.
    function few() {
      fixed.forEach((select) => { select.value = "0"; });
      const others = () => counts.map((n, k) => (k === Number(against.value) || fixed[k].value !== "0" ? 1 : n));
      const lines = () => others().reduce((a, b) => a * b, 1);
      for (let left = counts.length; left && lines() > data.slots; left--) {
        const most = others();
        fixed[most.indexOf(Math.max(...most))].value = "1";
      }
    }

    function show() {
      const axis = Number(against.value), quantity = data.quantities[metric.value];
      fixed.forEach((select, k) => { select.parentElement.hidden = k === axis; });
      const lines = new Map();
      data.at.forEach((place, run) => {
        const wanted = place.every((at, k) => k === axis || fixed[k].value === "0" || at === Number(fixed[k].value) - 1);
        if (!wanted || quantity.mean[run] === null) return;
        const name = place.map((at, k) => (k === axis ? null : `${data.axes[k].short} ${data.axes[k].values[at]}`))
          .filter((part, k) => part !== null && fixed[k].value === "0").join(", ") || quantity.title;
        if (!lines.has(name)) lines.set(name, []);
        const half = quantity.half[run] ?? 0;
        lines.get(name).push([data.axes[axis].numbers[place[axis]], quantity.mean[run], half]);
      });
      data.axes.forEach((other, k) => { document.getElementById(`picture-${other.figure}`).hidden = k !== axis; });
      fill(data.axes[axis], quantity, [...lines.entries()]);
    }

    function fill(axis, quantity, lines) {
      const picture = document.getElementById(`picture-${axis.figure}`);
      const model = elephan.document().roots().find((root) => root.name === axis.figure);
      const buttons = [...picture.querySelectorAll("[data-entry]")];
      const shown = lines.slice(0, data.slots);
      buttons.forEach((button, k) => {
        button.parentElement.hidden = k >= shown.length;
        button.setAttribute("aria-pressed", "true");
        if (k < shown.length) button.querySelector(".name").textContent = shown[k][0];
      });
      let low = Infinity, high = -Infinity;
      const empty = { x: [], y: [], low: [], high: [] };
      for (const renderer of model.renderers) {
        const tag = (renderer.tags ?? []).find((t) => typeof t === "string" && t.startsWith("entry:"));
        if (tag === undefined) continue;
        const line = shown[Number(tag.slice(6))];
        const rows = line ? [...line[1]].sort((a, b) => a[0] - b[0]) : [];
        const found = line ? {
          x: rows.map((r) => r[0]), y: rows.map((r) => r[1]),
          low: rows.map((r) => Math.max(r[1] - r[2], Math.min(0, r[1]))), high: rows.map((r) => r[1] + r[2]),
        } : { ...empty };
        for (const [place, of] of [["px", "x"]]) if (place in renderer.data_source.data) found[place] = found[of];
        renderer.data_source.data = found;
        renderer.name = line ? line[0] : "";
        renderer.visible = true;
        low = Math.min(low, ...found.low);
        high = Math.max(high, ...found.high);
      }
      if (low > high) [low, high] = [0, 1];
      const room = 0.06 * (high - low) || 0.06 * Math.abs(high) || 1;
      const ends = { start: low >= 0 && low < 0.6 * high ? 0 : low - room, end: high + room };
      model.y_range.setv({ ...ends, reset_start: ends.start, reset_end: ends.end });
      const capital = quantity.title.charAt(0).toUpperCase() + quantity.title.slice(1);
      const title = quantity.unit ? `${capital} [${quantity.unit}]` : capital;
      model.left[0].axis_label = title;
      for (const tool of model.toolbar.tools) {
        if (tool.type === "HoverTool") tool.tooltips = tool.tooltips.map((row, k) =>
          (k === 2 ? [quantity.title, `@y{%.4g} ${quantity.unit.replace(/[@{}$]/g, "")}`] : row));
      }
      describe(picture, axis, quantity, title, shown, lines.length);
    }

    function describe(picture, axis, quantity, title, shown, total) {
      const round = (v) => Number(v.toPrecision(3)).toLocaleString("en");
      const said = shown.map(([name, rows]) => {
        const values = rows.map((r) => r[1]);
        return `${name}: between ${round(Math.min(...values))} and ${round(Math.max(...values))}`;
      });
      const more = total > shown.length ? ` The first ${shown.length} of ${total} lines are shown; choose fewer above.` : "";
      const words = `${title} against ${axis.name}. ${said.join(". ")}.${more}`;
      picture.querySelector("h3").textContent = `${title} against ${axis.name}`;
      picture.querySelector(".plot").setAttribute("aria-label", words);
      picture.querySelector(".words").textContent = words;
    }
  }
});
