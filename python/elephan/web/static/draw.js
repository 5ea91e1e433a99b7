// Pictures: draws a figure of the report (axes, series, marks as JSON) as SVG. No library, no inline style.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const LETTER = 6.4; // Width of a letter at 12 px, roughly.
  const SHARE = 1.01; // A scale of shares is logarithmic in 1.01 - u, so that 1 is still on it.

  function svg(tag, attributes, ...children) {
    const made = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  function short(value) {
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) {
      const power = Math.floor(Math.log10(size) + 1e-9);
      const head = +(value / 10 ** power).toPrecision(3);
      const raised = String(power).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+c]));
      return head === 1 ? `10${raised}` : `${head}·10${raised}`;
    }
    return (+value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 4 });
  }

  function linearTicks(low, high, most) {
    const raw = (high - low) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
    const found = [];
    for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + step * 1e-9; t += step) found.push(+t.toPrecision(10));
    return found;
  }

  function logTicks(low, high, most) {
    const found = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++) {
      for (const m of [1, 2, 5]) found.push(+(m * 10 ** p).toPrecision(6));
    }
    const inside = found.filter((t) => t >= low * 0.999 && t <= high * 1.001);
    const decades = inside.filter((t) => Math.abs(Math.log10(t) % 1) < 1e-9);
    if (inside.length <= most) return inside;
    const every = Math.ceil(decades.length / most);
    return decades.length >= 2 ? decades.filter((_, i) => i % every === 0) : inside.filter((_, i) => i % 2 === 0);
  }

  // A scale: where a value is between 0 and 1, and the ticks.
  function scale(axis, values, most) {
    const known = values.filter((v) => v !== null && Number.isFinite(v));
    if (axis.scale === "names") {
      const count = (axis.names || []).length || 1;
      return { at: (v) => (v + 0.5) / count, ticks: [...Array(count).keys()], text: (i) => axis.names[i] };
    }
    let low = axis.low ?? Math.min(...known), high = axis.high ?? Math.max(...known);
    if (axis.scale === "log") {
      const positive = known.filter((v) => v > 0);
      low = axis.low > 0 ? axis.low : Math.min(...positive) / 1.2;
      high = axis.high > 0 ? axis.high : Math.max(...positive) * 1.2;
      if (!(low > 0) || !(high > low)) [low, high] = low > 0 ? [low / 2, low * 2] : [0.1, 1];
      const span = Math.log(high / low);
      return { low, high, at: (v) => Math.log(v / low) / span, back: (p) => low * Math.exp(p * span), ticks: logTicks(low, high, most), text: short };
    }
    if (!Number.isFinite(low) || !Number.isFinite(high)) [low, high] = [0, 1];
    if (axis.scale === "share") {
      [low, high] = [Math.max(0, low), Math.min(1, Math.max(high, low + 0.01))];
      const depth = (u) => -Math.log(SHARE - Math.min(u, 1));
      const span = depth(high) - depth(low);
      const ticks = [0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1].filter((t) => t >= low - 1e-9 && t <= high + 1e-9);
      return { low, high, at: (u) => (depth(u) - depth(low)) / span, ticks, text: (t) => `${+(100 * t).toPrecision(4)} %` };
    }
    if (axis.high === undefined) high += 0.06 * (high - low);
    if (axis.low === undefined && low > 0 && low < 0.3 * high) low = 0;
    if (high <= low) [low, high] = [low - Math.abs(low || 1) * 0.5, low + Math.abs(low || 1) * 0.5];
    return { low, high, at: (v) => (v - low) / (high - low), back: (p) => low + p * (high - low), ticks: linearTicks(low, high, most), text: short };
  }

  function path(points) {
    let text = "", pen = "M";
    for (const point of points) {
      if (point === null) { pen = "M"; continue; }
      text += `${pen}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
      pen = "L";
    }
    return text;
  }

  function stepped(points) {
    const found = [];
    points.forEach((point, i) => {
      found.push(point);
      const next = points[i + 1];
      if (point && next) found.push([next[0], point[1]]);
    });
    return found;
  }

  // Labels of marks: the first row in which each has room; those without room are in the tooltip only.
  function placed(labels, left, right) {
    const rows = [[], []];
    for (const label of labels) {
      const width = label.text.length * LETTER + 8;
      const from = Math.max(left, Math.min(label.x - width / 2, right - width));
      label.row = rows.findIndex((row) => row.every((span) => from > span[1] || from + width < span[0]));
      if (label.row >= 0) { rows[label.row].push([from, from + width]); label.at = from + width / 2; }
    }
  }

  function draw(box, figure, options = {}) {
    const width = Math.max(260, box.clientWidth || 640);
    const height = Math.round(Math.min(figure.height || 300, 320) * (width < 500 ? 0.8 : 0.9)) + 30;
    const named = figure.marks?.filter((m) => m.label && m.axis !== "y" && m.role !== "shade") || [];
    const yTitle = figure.y.unit ? `${figure.y.label} [${figure.y.unit}]` : figure.y.label;
    const xTitle = figure.x.unit ? `${figure.x.label} [${figure.x.unit}]` : figure.x.label;
    const top = 24 + (named.length ? 34 : 0), bottom = height - 40, left = 58, right = width - 14;
    const all = (key) => figure.series.flatMap((s) => s[key] || []);
    const wanted = (figure.marks || []).filter((m) => m.axis === "y" && m.at !== undefined).map((m) => m.at);
    const x = scale(figure.x, all("x"), Math.max(3, (right - left) / 80));
    const y = scale(figure.y, [...all("y"), ...all("low"), ...all("high"), ...wanted], Math.max(3, (bottom - top) / 42));
    const px = (v) => left + Math.max(-0.02, Math.min(1.02, x.at(v))) * (right - left);
    const py = (v) => bottom - Math.max(-0.02, Math.min(1.02, y.at(v))) * (bottom - top);
    const out = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": figure.alt || figure.title, class: "plot" });
    const clip = `clip-${figure.name}-${Math.random().toString(36).slice(2, 8)}`;
    out.append(svg("clipPath", { id: clip }, svg("rect", { x: left, y: top - 2, width: right - left, height: bottom - top + 4 })));
    const inner = svg("g", { "clip-path": `url(#${clip})` });

    let last = Infinity;
    for (const t of [...y.ticks].reverse()) {
      if (Math.abs(py(t) - last) < 15) continue;
      last = py(t);
      out.append(svg("line", { x1: left, x2: right, y1: py(t), y2: py(t), class: "grid" }));
      out.append(svg("text", { x: left - 7, y: py(t) + 4, class: "tick end" }, y.text(t)));
    }
    last = -Infinity;
    for (const t of x.ticks) {
      if (px(t) - last < x.text(t).length * LETTER + 12) continue;
      last = px(t);
      out.append(svg("line", { x1: px(t), x2: px(t), y1: bottom, y2: bottom + 4, class: "axis" }));
      out.append(svg("text", { x: px(t), y: bottom + 17, class: "tick mid" }, x.text(t)));
    }
    out.append(svg("text", { x: 6, y: 14, class: "title" }, yTitle));
    out.append(svg("text", { x: right, y: bottom + 34, class: "title end" }, xTitle));

    const labels = [];
    for (const mark of figure.marks || []) {
      const upright = mark.axis !== "y";
      if (mark.low !== undefined || mark.role === "shade") {
        const from = mark.low ?? x.low, to = mark.high ?? (upright ? x.high : y.high);
        const rect = upright
          ? { x: px(from), width: Math.max(1, px(to) - px(from)), y: top, height: bottom - top }
          : { x: left, width: right - left, y: py(to), height: Math.max(1, py(from) - py(to)) };
        inner.append(svg("rect", { ...rect, class: `band ${mark.role}` }, svg("title", {}, mark.label || "95 % interval")));
      }
      if (mark.at === undefined) continue;
      const hue = mark.colour ? ` c-${mark.colour}` : "";
      const ends = upright ? { x1: px(mark.at), x2: px(mark.at), y1: top, y2: bottom } : { x1: left, x2: right, y1: py(mark.at), y2: py(mark.at) };
      if (upright && (x.at(mark.at) < 0 || x.at(mark.at) > 1)) continue;
      if (!upright && (y.at(mark.at) < 0 || y.at(mark.at) > 1)) continue;
      inner.append(svg("line", { ...ends, class: `mark ${mark.role}${hue}` }, svg("title", {}, `${mark.label || ""} ${short(mark.at)}`)));
      if (mark.label && upright) labels.push({ x: px(mark.at), text: mark.label, role: mark.role });
      if (mark.label && !upright) out.append(svg("text", { x: right - 4, y: py(mark.at) - 5, class: `label end ${mark.role}${hue}` }, mark.label));
    }
    labels.sort((one, other) => (one.role === "answer" ? -1 : other.role === "answer" ? 1 : one.x - other.x));
    placed(labels, left, right);
    for (const label of labels.filter((each) => each.row >= 0)) {
      out.append(svg("text", { x: label.at, y: 34 + 14 * label.row, class: `label mid ${label.role}` }, label.text));
    }

    const bars = figure.series.filter((s) => s.kind === "bars");
    for (const series of figure.series) {
      const points = (series.x || []).map((v, i) => (v === null || series.y[i] === null || (figure.y.scale === "log" && series.y[i] <= 0) ? null : [px(v), py(series.y[i])]));
      const look = `c-${series.colour || "blue"}${series.faint ? " faint" : ""}${series.dashed ? " dashed" : ""}`;
      if (series.kind === "bars") {
        const wide = Math.max(2, ((right - left) / Math.max(1, points.length) / Math.max(1, bars.length)) * 0.7);
        const shift = (bars.indexOf(series) - (bars.length - 1) / 2) * wide;
        points.filter(Boolean).forEach(([a, b]) => inner.append(svg("rect", { x: a + shift - wide / 2, y: b, width: wide, height: Math.max(0, bottom - b), class: `bar ${look}` })));
        continue;
      }
      if (series.low && series.kind === "line") {
        const upper = points.map((p, i) => p && series.high[i] !== null && [p[0], py(series.high[i])]).filter(Boolean);
        const lower = points.map((p, i) => p && series.low[i] !== null && [p[0], py(series.low[i])]).filter(Boolean).reverse();
        inner.append(svg("path", { d: `${path([...upper, ...lower])}Z`, class: `area ${look}` }));
      }
      if (series.kind !== "points") {
        inner.append(svg("path", { d: path(series.kind === "step" ? stepped(points) : points), class: `line ${look}` }));
      }
      if (series.kind === "points" || series.kind === "both") {
        points.forEach((point, i) => {
          if (!point) return;
          if (series.low && series.low[i] !== null && series.high[i] !== null) {
            inner.append(svg("line", { x1: point[0], x2: point[0], y1: py(series.low[i]), y2: py(series.high[i]), class: `whisker ${look}` }));
          }
          inner.append(svg("circle", { cx: point[0], cy: point[1], r: 3.2, class: `dot ${look}` }));
        });
      }
    }
    out.append(inner, svg("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }));
    if (options.cursor && x.back && x.at(options.cursor) >= 0 && x.at(options.cursor) <= 1) {
      out.append(svg("line", { x1: px(options.cursor), x2: px(options.cursor), y1: top, y2: bottom, class: "cursor" }));
    }
    pointing(out, figure, { x, px, py, left, right, top, bottom });
    box.replaceChildren(out);
    return { low: x.low, high: x.high };
  }

  // The value of every series at the pointer.
  function pointing(out, figure, { x, px, left, right, top, bottom }) {
    if (!x.back) return;
    const line = svg("line", { y1: top, y2: bottom, class: "hair", visibility: "hidden" });
    const words = svg("text", { y: top + 12, class: "said", visibility: "hidden" });
    out.append(line, words);
    out.addEventListener("pointermove", (event) => {
      const place = event.clientX - out.getBoundingClientRect().left;
      if (place < left || place > right) return;
      const value = x.back((place - left) / (right - left));
      const found = new Map();
      for (const series of figure.series) {
        let best = -1;
        (series.x || []).forEach((v, i) => { if (v !== null && series.y[i] !== null && (best < 0 || Math.abs(px(v) - place) < Math.abs(px(series.x[best]) - place))) best = i; });
        if (best >= 0 && !found.has(series.name)) found.set(series.name, series.y[best]);
      }
      const [first, ...more] = [...found].slice(0, 4);
      if (!first) return;
      const text = [`${figure.x.label} ${short(+value.toPrecision(3))}`, ...[first, ...more].map(([name, v]) => `${name.slice(0, 24)} ${short(+v.toPrecision(4))}`)].join("  ·  ");
      line.setAttribute("x1", place); line.setAttribute("x2", place);
      words.textContent = text;
      words.setAttribute("class", place > (left + right) / 2 ? "said end" : "said");
      words.setAttribute("x", place > (left + right) / 2 ? place - 6 : place + 6);
      for (const each of [line, words]) each.setAttribute("visibility", "visible");
    });
    out.addEventListener("pointerleave", () => { for (const each of [line, words]) each.setAttribute("visibility", "hidden"); });
  }

  window.elephanDraw = { draw, svg, short };
})();
