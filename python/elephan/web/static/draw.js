// Pictures: draws a figure of the report (axes, series and marks as JSON) as SVG, without a library or inline styles.
"use strict";
(() => {
  const NS = "http://www.w3.org/2000/svg";
  const LETTER = 6.4; // Approximate width of a letter at 12 px.
  const SHARE = 1.01; // A scale of shares is logarithmic in 1.01 - u, so that 1 has a place on it.
  const SHARES = [0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99, 1];
  const NEAR = 1e-9; // Rounding of a tick is not a reason to leave it out.

  // An SVG element: `document.createElement` would make an element of HTML, which is not drawn.
  function svg(tag, attributes, ...children) {
    const made = document.createElementNS(NS, tag);
    for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
    made.append(...children);
    return made;
  }

  // A number as a tick or tile shows it: at most four digits, and a power of ten where zeros would be counted.
  function short(value) {
    const size = Math.abs(value);
    if (value !== 0 && (size >= 1e5 || size < 1e-3)) {
      const power = Math.floor(Math.log10(size) + NEAR);
      const head = +(value / 10 ** power).toPrecision(3);
      const raised = String(power).replace(/./g, (c) => (c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[+c]));
      return head === 1 ? `10${raised}` : `${head}·10${raised}`;
    }
    return (+value.toPrecision(4)).toLocaleString("en", { maximumFractionDigits: 4 });
  }

  // Ticks at multiples of 1, 2 or 5 times a power of ten, which are easy to read between.
  function linearTicks(low, high, most) {
    const raw = (high - low) / Math.max(1, most);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
    const first = Math.ceil(low / step - NEAR), last = Math.floor(high / step + NEAR);
    return Array.from({ length: last - first + 1 }, (_, i) => +((first + i) * step).toPrecision(10));
  }

  // Ticks at 1, 2 and 5 of each decade, or at decades only if there is no room for more.
  function logTicks(low, high, most) {
    const found = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++) {
      for (const m of [1, 2, 5]) found.push(+(m * 10 ** p).toPrecision(6));
    }
    const inside = found.filter((t) => t >= low * 0.999 && t <= high * 1.001);
    if (inside.length <= most) return inside;
    const decades = inside.filter((t) => Math.abs(Math.log10(t) % 1) < NEAR);
    const every = Math.ceil(decades.length / most);
    return decades.length >= 2 ? decades.filter((_, i) => i % every === 0) : inside.filter((_, i) => i % 2 === 0);
  }

  // A scale: `at` maps a value to 0..1, `back` is its inverse where a pointer needs it, and `ticks` have their `text`.
  function scale(axis, values, most) {
    const known = values.filter((v) => v !== null && Number.isFinite(v));
    if (axis.scale === "names") {
      const count = (axis.names || []).length || 1;
      return { at: (v) => (v + 0.5) / count, ticks: [...Array(count).keys()], text: (i) => axis.names[i] };
    }
    if (axis.scale === "log") return logScale(axis, known.filter((v) => v > 0), most);
    let low = axis.low ?? Math.min(...known), high = axis.high ?? Math.max(...known);
    if (!Number.isFinite(low) || !Number.isFinite(high)) [low, high] = [0, 1];
    if (axis.scale === "share") return shareScale(Math.max(0, low), Math.min(1, Math.max(high, low + 0.01)));
    if (axis.high === undefined) high += 0.06 * (high - low);
    if (axis.low === undefined && low > 0 && low < 0.3 * high) low = 0;
    if (high <= low) [low, high] = [low - Math.abs(low || 1) * 0.5, low + Math.abs(low || 1) * 0.5];
    const [at, back] = [(v) => (v - low) / (high - low), (p) => low + p * (high - low)];
    return { low, high, at, back, ticks: linearTicks(low, high, most), text: short };
  }

  // A logarithmic scale; without a positive value it still needs an extent to be drawn.
  function logScale(axis, positive, most) {
    let low = axis.low > 0 ? axis.low : Math.min(...positive) / 1.2;
    let high = axis.high > 0 ? axis.high : Math.max(...positive) * 1.2;
    if (!(low > 0) || !(high > low)) [low, high] = Number.isFinite(low) && low > 0 ? [low / 2, low * 2] : [0.1, 1];
    const span = Math.log(high / low);
    const [at, back] = [(v) => Math.log(v / low) / span, (p) => low * Math.exp(p * span)];
    return { low, high, at, back, ticks: logTicks(low, high, most), text: short };
  }

  // A scale of utilization, where 99 % and 99.9 % have to be told apart.
  function shareScale(low, high) {
    const depth = (u) => -Math.log(SHARE - Math.min(u, 1));
    const at = (u) => (depth(u) - depth(low)) / (depth(high) - depth(low));
    const ticks = SHARES.filter((t) => t >= low - NEAR && t <= high + NEAR);
    return { low, high, at, ticks, text: (t) => `${+(100 * t).toPrecision(4)} %` };
  }

  // The path of a line; null lifts the pen, so that missing values are gaps.
  function path(points) {
    let text = "", pen = "M";
    for (const point of points) {
      if (point) text += `${pen}${point[0].toFixed(1)} ${point[1].toFixed(1)}`;
      pen = point ? "L" : "M";
    }
    return text;
  }

  // The points of a staircase: a value holds until the next one.
  function stepped(points) {
    return points.flatMap((point, i) => {
      const next = points[i + 1];
      return point && next ? [point, [next[0], point[1]]] : [point];
    });
  }

  // Give each label of a mark the first row in which it has room; labels without room are in the tooltip only.
  function placed(labels, left, right) {
    const rows = [[], [], []];
    for (const label of labels) {
      const width = label.text.length * LETTER + 8;
      const from = Math.max(left, Math.min(label.x - width / 2, right - width));
      label.row = rows.findIndex((row) => row.every((span) => from > span[1] || from + width < span[0]));
      if (label.row >= 0) rows[label.row].push([from, from + width]);
      label.at = from + width / 2;
    }
    return labels.filter((label) => label.row >= 0);
  }

  const titled = (axis) => (axis.unit ? `${axis.label} [${axis.unit}]` : axis.label);
  const isUpright = (mark) => mark.axis !== "y";

  // The area of a picture: its edges, its scales, and where a value lies in pixels.
  function frame(width, height, figure) {
    const marks = figure.marks || [];
    const hasLabels = marks.some((m) => m.label && isUpright(m) && m.role !== "shade");
    const top = 24 + (hasLabels ? 48 : 0), bottom = height - 40, left = 58, right = width - 14;
    const all = (key) => figure.series.flatMap((s) => s[key] || []);
    const wanted = marks.filter((m) => !isUpright(m) && m.at !== undefined).map((m) => m.at);
    const x = scale(figure.x, all("x"), Math.max(3, (right - left) / 80));
    const heights = [...all("y"), ...all("low"), ...all("high"), ...wanted];
    const y = scale(figure.y, heights, Math.max(3, (bottom - top) / 42));
    // A value far outside would be a number that SVG cannot draw; it lies a little outside the clipped area.
    const near = (share) => Math.max(-0.02, Math.min(1.02, share));
    const px = (v) => left + near(x.at(v)) * (right - left);
    const py = (v) => bottom - near(y.at(v)) * (bottom - top);
    return { top, bottom, left, right, x, y, px, py };
  }

  // Grid, ticks and titles of both axes; a tick that would touch the one before is left out.
  function axes(out, figure, { top, bottom, left, right, x, y, px, py }) {
    let last = Infinity;
    for (const t of [...y.ticks].reverse()) {
      if (Math.abs(py(t) - last) < 15) continue;
      last = py(t);
      out.append(svg("line", { x1: left, x2: right, y1: last, y2: last, class: "grid" }));
      out.append(svg("text", { x: left - 7, y: last + 4, class: "tick end" }, y.text(t)));
    }
    last = -Infinity;
    for (const t of x.ticks) {
      if (px(t) - last < x.text(t).length * LETTER + 12) continue;
      last = px(t);
      out.append(svg("line", { x1: last, x2: last, y1: bottom, y2: bottom + 4, class: "axis" }));
      out.append(svg("text", { x: last, y: bottom + 17, class: "tick mid" }, x.text(t)));
    }
    out.append(svg("text", { x: 6, y: 14, class: "title" }, titled(figure.y)));
    out.append(svg("text", { x: right, y: bottom + 34, class: "title end" }, titled(figure.x)));
    out.append(svg("line", { x1: left, x2: right, y1: bottom, y2: bottom, class: "axis" }));
  }

  // Marks: bands and lines go into the clipped area, their labels above or beside it.
  function marks(out, inner, figure, { top, bottom, left, right, x, y, px, py }) {
    const labels = [];
    for (const mark of figure.marks || []) {
      const upright = isUpright(mark), own = upright ? x : y;
      if (mark.low !== undefined || mark.role === "shade") {
        const from = mark.low ?? own.low, to = mark.high ?? own.high;
        const rect = upright
          ? { x: px(from), width: Math.max(1, px(to) - px(from)), y: top, height: bottom - top }
          : { x: left, width: right - left, y: py(to), height: Math.max(1, py(from) - py(to)) };
        const words = svg("title", {}, mark.label || "95 % interval");
        inner.append(svg("rect", { ...rect, class: `band ${mark.role}` }, words));
      }
      if (mark.at === undefined || own.at(mark.at) < 0 || own.at(mark.at) > 1) continue;
      const look = `${mark.role}${mark.colour ? ` c-${mark.colour}` : ""}`;
      const ends = upright
        ? { x1: px(mark.at), x2: px(mark.at), y1: top, y2: bottom }
        : { x1: left, x2: right, y1: py(mark.at), y2: py(mark.at) };
      const words = svg("title", {}, `${mark.label || ""} ${short(mark.at)}`);
      inner.append(svg("line", { ...ends, class: `mark ${look}` }, words));
      if (mark.label && upright) labels.push({ x: px(mark.at), text: mark.label, role: mark.role });
      else if (mark.label) {
        out.append(svg("text", { x: right - 4, y: py(mark.at) - 5, class: `label end ${look}` }, mark.label));
      }
    }
    // The answer is placed first, so that it has a label in any case.
    labels.sort((one, other) => (other.role === "answer") - (one.role === "answer") || one.x - other.x);
    for (const { at, row, role, text } of placed(labels, left, right)) {
      out.append(svg("text", { x: at, y: 34 + 14 * row, class: `label mid ${role}` }, text));
    }
  }

  // A series as a line with its band, as points with their intervals, or both.
  function line(inner, series, points, look, { py }) {
    const end = (key, i) => (series[key] && series[key][i] !== null ? py(series[key][i]) : null);
    if (series.low && series.kind === "line") {
      const edge = (key) => points.map((p, i) => p && end(key, i) !== null && [p[0], end(key, i)]).filter(Boolean);
      inner.append(svg("path", { d: `${path([...edge("high"), ...edge("low").reverse()])}Z`, class: `area ${look}` }));
    }
    if (series.kind !== "points") {
      const d = path(series.kind === "step" ? stepped(points) : points);
      inner.append(svg("path", { d, class: `line ${look}` }));
    }
    if (series.kind !== "points" && series.kind !== "both") return;
    points.forEach((point, i) => {
      if (!point) return;
      const [cx, cy] = point, [y1, y2] = [end("low", i), end("high", i)];
      if (y1 !== null && y2 !== null) inner.append(svg("line", { x1: cx, x2: cx, y1, y2, class: `whisker ${look}` }));
      inner.append(svg("circle", { cx, cy, r: 3.2, class: `dot ${look}` }));
    });
  }

  // Draw a figure into a box, which it fills; `cursor` is the value of a slider on the horizontal axis.
  function draw(box, figure, cursor = null) {
    const width = Math.max(260, box.clientWidth || 640);
    const height = Math.round(Math.min(figure.height || 300, 320) * (width < 500 ? 0.8 : 0.9)) + 30;
    const about = { role: "img", "aria-label": figure.alt || figure.title, class: "plot" };
    const out = svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, ...about });
    const area = frame(width, height, figure);
    const { top, bottom, left, right, x, px, py } = area;
    // Several pictures of one name may be on a page, and ids are of the whole page.
    const clip = `clip-${figure.name}-${Math.random().toString(36).slice(2, 8)}`;
    const inside = svg("rect", { x: left, y: top - 2, width: right - left, height: bottom - top + 4 });
    out.append(svg("clipPath", { id: clip }, inside));
    const inner = svg("g", { "clip-path": `url(#${clip})` });
    axes(out, figure, area);
    out.append(inner); // Before the labels of the marks, which lines must not cross.
    marks(out, inner, figure, area);
    for (const series of figure.series) {
      const isShown = (v, u) => v !== null && u !== null && (figure.y.scale !== "log" || u > 0);
      const points = (series.x || []).map((v, i) => (isShown(v, series.y[i]) ? [px(v), py(series.y[i])] : null));
      const look = `c-${series.colour || "blue"}${series.faint ? " faint" : ""}${series.dashed ? " dashed" : ""}`;
      line(inner, series, points, look, area);
    }
    if (cursor && x.back && x.at(cursor) >= 0 && x.at(cursor) <= 1) {
      out.append(svg("line", { x1: px(cursor), x2: px(cursor), y1: top, y2: bottom, class: "cursor" }));
    }
    if (x.back) pointing(out, figure, area);
    box.replaceChildren(out);
  }

  // Index of the point of a series that is nearest to a place; -1 if it has none.
  function nearest(series, place, px) {
    let best = -1;
    (series.x || []).forEach((v, i) => {
      if (v === null || series.y[i] === null) return;
      if (best < 0 || Math.abs(px(v) - place) < Math.abs(px(series.x[best]) - place)) best = i;
    });
    return best;
  }

  // Show the value of each series at the pointer: a curve is read without a ruler.
  function pointing(out, figure, { x, px, left, right, top, bottom }) {
    const hair = svg("line", { y1: top, y2: bottom, class: "hair", visibility: "hidden" });
    const words = svg("text", { y: top + 12, class: "said", visibility: "hidden" });
    const show = (visibility) => [hair, words].forEach((each) => each.setAttribute("visibility", visibility));
    out.append(hair, words);
    out.addEventListener("pointerleave", () => show("hidden"));
    out.addEventListener("pointermove", (event) => {
      const place = event.clientX - out.getBoundingClientRect().left;
      if (place < left || place > right) return;
      const found = new Map();
      for (const series of figure.series) {
        const best = nearest(series, place, px);
        if (best >= 0 && !found.has(series.name)) found.set(series.name, series.y[best]);
      }
      if (!found.size) return;
      const here = `${figure.x.label} ${short(+x.back((place - left) / (right - left)).toPrecision(3))}`;
      const values = [...found].slice(0, 4).map(([name, v]) => `${name.slice(0, 24)} ${short(+v.toPrecision(4))}`);
      const isRight = place > (left + right) / 2;
      for (const end of ["x1", "x2"]) hair.setAttribute(end, place);
      words.textContent = [here, ...values].join("  ·  ");
      words.setAttribute("class", isRight ? "said end" : "said");
      words.setAttribute("x", isRight ? place - 6 : place + 6);
      show("visible");
    });
  }

  window.elephanDraw = { draw, svg, short };
})();
