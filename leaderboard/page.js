// The leaderboard: everything is computed here from the means in the page's data, for the chosen filters.
const board = JSON.parse(document.getElementById("data").textContent);
const ALL = "all", MISSING = 65535, ROPE = 0.01, DRAWS = 2000, AVERAGED = [5, 10, 20, 40];
const codes = new Uint16Array(Uint8Array.from(atob(board.values), (letter) => letter.charCodeAt(0)).buffer);
const at = (name) => document.getElementById(`board-${name}`);
const chosen = { method: null, dataset: null };

function valueOfCell(d, m, l, q, k) {
  const code = codes[(((d * board.methods.length + m) * board.learners.length + l) * board.measures.length + q) * board.sizes.length + k];
  return code === MISSING ? NaN : board.ranges[q][0] + code * board.ranges[q][1];
}

const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
const median = (numbers) => numbers.length ? [...numbers].sort((a, b) => a - b)[Math.floor(numbers.length / 2)] : NaN;
const geometric = (numbers) => numbers.length ? Math.exp(mean(numbers.map((number) => Math.log(Math.max(number, 1e-4))))) : NaN;

// Ranks from 1, ties averaged; an undefined value is a failure and comes last.
function ranksOf(values, lower) {
  const order = values.map((value, place) => ({ place, key: Number.isNaN(value) ? Infinity : lower ? value : -value }));
  order.sort((a, b) => a.key - b.key);
  const ranks = new Array(values.length);
  for (let first = 0; first < order.length;) {
    let last = first;
    while (last + 1 < order.length && order[last + 1].key === order[first].key) last += 1;
    for (let place = first; place <= last; place += 1) ranks[order[place].place] = (first + last) / 2 + 1;
    first = last + 1;
  }
  return ranks;
}

function measureOf(data) {
  const wanted = board.measures.indexOf(at("measure").value);
  return data.measures.includes(wanted) ? wanted : data.measures[0];
}

function asked(data) {
  const part = at("part").value, kind = at("kind").value;
  const isKind = !kind || data.tags.includes(kind) || (kind === "labels" && data.measures.length > 1);
  return (!part || data.tags.includes(part)) && isKind;
}

// The chosen learner, or those with at least half as many results as the one with most: a learner of few selectors would leave
// the others without a rank.
function usedLearners() {
  const one = board.learners.indexOf(at("learner").value);
  if (one >= 0) return [one];
  const counts = board.learners.map((_, l) => {
    const ran = board.datasets.map((data, d) => asked(data) ? board.methods.filter((_, m) => board.splits[d][m][l] || board.failed[d][m][l]).length : 0);
    return ran.reduce((sum, number) => sum + number, 0);
  });
  return counts.flatMap((count, l) => 2 * count >= Math.max(...counts) ? [l] : []);
}

// Ranks and scores for the filters; the situations of a data set are its learners and numbers of features with results.
function compute() {
  const size = at("size").value, learners = usedLearners();
  const wanted = size ? [Number(size)] : AVERAGED, random = Math.max(0, board.methods.indexOf("random"));
  let rows = [];
  board.datasets.forEach((data, d) => {
    if (!asked(data)) return;
    const q = measureOf(data), situations = [];
    learners.forEach((l) => {
      board.sizes.forEach((count, k) => {
        if (wanted.includes(count) && count < data.features && !Number.isNaN(valueOfCell(d, random, l, q, k))) situations.push([l, k]);
      });
    });
    if (situations.length) rows.push({ d, q, data, situations });
  });
  const stateOf = ({ d, q, situations }, m) => { // 0: results, 1: failed, 2: not run
    const known = situations.map(([l, k]) => Number.isNaN(valueOfCell(d, m, l, q, k)) ? (board.failed[d][m][l] ? 1 : 2) : 0);
    return Math.max(...known);
  };
  if (at("common").value) rows = rows.filter((row) => board.methods.every((_, m) => stateOf(row, m) < 2));
  const states = board.methods.map((_, m) => rows.map((row) => stateOf(row, m)));
  const ranked = board.methods.map((_, m) => m).filter((m) => rows.length && board.methods[m] !== ALL && !states[m].includes(2));
  for (const row of rows) {
    const lower = board.lower[row.q];
    const all = row.situations.map(([l, k]) => ranksOf(ranked.map((m) => valueOfCell(row.d, m, l, row.q, k)), lower));
    row.rank = new Map(ranked.map((m, place) => [m, mean(all.map((ranks) => ranks[place]))]));
    row.score = board.methods.map((_, m) => mean(row.situations.map(([l, k]) => valueOfCell(row.d, m, l, row.q, k))));
    row.best = Math.min(...row.rank.values());
  }
  const methods = board.methods.map((name, m) => {
    const isRanked = ranked.includes(m), used = rows.filter((_, place) => states[m][place] === 0);
    const spent = (table) => used.map(({ d }) => table[d][m]).filter((number) => number !== null);
    return {
      name, m, rank: isRanked ? mean(rows.map((row) => row.rank.get(m))) : NaN,
      first: isRanked ? rows.filter((row) => row.rank.get(m) === row.best).length : NaN,
      score: used.length === rows.length ? mean(rows.map((row) => row.score[m])) : NaN,
      failed: states[m].filter((state) => state === 1).length, run: states[m].filter((state) => state < 2).length,
      seconds: geometric(spent(board.cpu)), memory: median(spent(board.memory)),
    };
  });
  methods.sort((a, b) => (Number.isNaN(a.rank) - Number.isNaN(b.rank)) || a.rank - b.rank || a.m - b.m);
  const critical = ranked.length > 1 ? board.critical[ranked.length] * Math.sqrt(6 / rows.length) : NaN;
  return { rows, methods, learners, ranked: methods.filter(({ rank }) => !Number.isNaN(rank)), critical };
}

// Bayesian signed-rank comparison (Benavoli et al. 2017): weights of the differences from a Dirichlet distribution.
function randomNumbers(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function posterior(differences) {
  const z = [...differences, 0].map((value, place) => ({ value, prior: place === differences.length }));
  z.sort((a, b) => a.value - b.value);
  const n = z.length, next = randomNumbers(1), wins = [0, 0, 0];
  const above = z.map(({ value }) => z.findIndex((other) => other.value + value > 2 * ROPE)).map((place) => place < 0 ? n : place);
  const below = z.map(({ value }) => z.filter((other) => other.value + value < -2 * ROPE).length);
  const sums = new Float64Array(n + 1);
  for (let draw = 0; draw < DRAWS; draw += 1) {
    for (let i = 0; i < n; i += 1) {
      const exponential = -Math.log(1 - next());
      // The pseudo-difference has weight 1/2: half the square of a normal number.
      sums[i + 1] = sums[i] + (z[i].prior ? exponential * Math.cos(2 * Math.PI * next()) ** 2 : exponential);
    }
    let better = 0, worse = 0;
    for (let i = 0; i < n; i += 1) {
      const weight = sums[i + 1] - sums[i];
      better += weight * (sums[n] - sums[above[i]]);
      worse += weight * sums[below[i]];
    }
    const total = sums[n] ** 2, parts = [better / total, 1 - (better + worse) / total, worse / total];
    wins[parts.indexOf(Math.max(...parts))] += 1 / DRAWS;
  }
  return wins;
}

// Drawing.
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

function shape(name, attributes = {}, text = "", hint = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.append(text);
  if (hint) made.append(shape("title", {}, hint));
  return made;
}

function figure(place, width, height, shapes, title) {
  const drawing = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": title, style: `width: ${width}px; min-width: ${0.8 * width}px` });
  drawing.append(...shapes);
  at(place).replaceChildren(element("figure", {}, drawing, element("figcaption", {}, title)));
}

const shown = (number, digits) => Number.isNaN(number) ? "-" : number.toFixed(digits);
const seconds = (number) => Number.isNaN(number) ? "-" : number < 0.1 ? `${(1000 * number).toFixed(0)} ms` : `${number.toFixed(1)} s`;
const label = (x, y, text, more = {}) => shape("text", { x, y, "font-size": 11, fill: "var(--ink)", ...more }, text);
const line = (x1, y1, x2, y2, more = {}) => shape("line", { x1, y1, x2, y2, stroke: "var(--line)", ...more });

function drawTable({ rows, methods, learners, critical }) {
  const one = new Set(rows.map(({ q }) => q)).size === 1;
  const heads = ["#", "selector", "average rank", "first on", ...(one ? ["mean"] : []), "failed on", "time", "memory, MB", "data sets"];
  const body = methods.map((method, place) => {
    const cells = [
      [Number.isNaN(method.rank) ? (method.name === ALL ? "reference" : "-") : String(place + 1), Number.isNaN(method.rank) ? NaN : place + 1], method.name, [shown(method.rank, 2), method.rank],
      [shown(method.first, 0), method.first], ...(one ? [[shown(method.score, 4), method.score]] : []), [String(method.failed), method.failed],
      [seconds(method.seconds), method.seconds], [shown(method.memory, 0), method.memory], [`${method.run} of ${rows.length}`, method.run],
    ].map((cell) => {
      if (Array.isArray(cell)) return element("td", { class: "number", "data-value": cell[1] }, cell[0]);
      const button = element("button", { type: "button", class: "pick" }, cell);
      button.addEventListener("click", () => pick(cell));
      return element("th", { scope: "row" }, button);
    });
    return element("tr", method.rank - methods[0].rank <= critical ? { class: "near" } : {}, ...cells);
  });
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col", ...(text === "selector" ? {} : { class: "number" }) }, text)));
  const words = `${rows.length} data sets; critical difference ${shown(critical, 2)} (Nemenyi, 5 %); learners: ${learners.map((l) => board.learners[l]).join(", ")}. Shaded selectors are not significantly worse than the first.`;
  const table = element("table", { class: "sortable" }, element("caption", {}, words), element("thead", {}, head), element("tbody", {}, ...body));
  at("table").replaceChildren(table);
  makeSortable(table);
}

function drawRanks({ ranked, critical }) {
  const width = 640, left = 170, height = 18 * ranked.length + 40, most = Math.max(2, ranked.length);
  const x = (rank) => left + ((rank - 1) / (most - 1)) * (width - left - 20), best = ranked.length ? ranked[0].rank : 1;
  const end = Math.min(most, best + (Number.isNaN(critical) ? 0 : critical));
  const shapes = [shape("rect", { x: x(best), y: 4, width: Math.max(0, x(end) - x(best)), height: height - 32, fill: "var(--beyond)" })];
  for (let rank = 1; rank <= most; rank += most > 20 ? 5 : 1) {
    shapes.push(line(x(rank), 4, x(rank), height - 28), label(x(rank), height - 12, String(rank), { "text-anchor": "middle" }));
  }
  ranked.forEach(({ name, rank }, place) => {
    const y = 16 + 18 * place;
    shapes.push(label(left - 8, y + 4, name, { "text-anchor": "end" }));
    shapes.push(shape("circle", { cx: x(rank), cy: y, r: 5, fill: name === chosen.method ? "var(--color-1)" : "var(--color-0)" }, "", `${name}: ${rank.toFixed(2)}`));
  });
  figure("ranks-figure", width, height, shapes, "Average ranks. Selectors in the shaded band are within the critical difference of the first.");
}

function drawBayes({ rows, ranked }) {
  const mine = board.methods.indexOf(chosen.method), reference = board.methods.indexOf(ALL);
  const others = [...ranked, ...(reference < 0 ? [] : [{ name: ALL, m: reference }])].filter(({ m }) => m !== mine);
  const width = 640, left = 170, shapes = [], colors = ["var(--color-0)", "var(--line)", "var(--color-1)"];
  const words = ["better", "practically equivalent", "worse"];
  others.forEach(({ name, m }, place) => {
    const pairs = rows.filter((row) => !Number.isNaN(row.score[mine]) && !Number.isNaN(row.score[m]));
    const parts = posterior(pairs.map((row) => (board.lower[row.q] ? -1 : 1) * (row.score[mine] - row.score[m])));
    let start = left;
    shapes.push(label(left - 8, 20 + 18 * place, name, { "text-anchor": "end" }));
    parts.forEach((part, kind) => {
      const long = part * (width - left - 20), hint = `${chosen.method} is ${words[kind]} than ${name}: ${part.toFixed(3)} (${pairs.length} data sets)`;
      shapes.push(shape("rect", { x: start, y: 8 + 18 * place, width: long, height: 15, fill: colors[kind] }, "", hint.replace("equivalent than", "equivalent to")));
      start += long;
    });
  });
  figure("bayes", width, 18 * others.length + 16, shapes, `Posterior probability that ${chosen.method} is better than (blue), practically equivalent to (gray, within ${ROPE}) and worse than (orange) each other selector, by a Bayesian signed-rank test over the data sets.`);
}

function drawScatter({ ranked }) {
  const points = ranked.filter((method) => method.seconds > 0), width = 680, height = 400;
  if (!points.length) return at("scatter").replaceChildren("No times.");
  const low = Math.floor(Math.log10(Math.min(...points.map((point) => point.seconds)))), high = Math.ceil(Math.log10(Math.max(...points.map((point) => point.seconds))));
  const x = (time) => 50 + ((Math.log10(time) - low) / Math.max(1, high - low)) * (width - 150);
  const ranks = points.map(({ rank }) => rank), top = Math.min(...ranks), bottom = Math.max(...ranks);
  const y = (rank) => 20 + ((rank - top) / Math.max(1, bottom - top)) * (height - 70), shapes = [], named = [];
  for (let power = low; power <= high; power += 1) {
    shapes.push(line(x(10 ** power), 10, x(10 ** power), height - 40), label(x(10 ** power), height - 22, power < 0 ? `${10 ** (power + 3)} ms` : `${10 ** power} s`, { "text-anchor": "middle" }));
  }
  shapes.push(label(50, height - 6, "CPU time of a selection, geometric mean"), label(8, 14, "rank"), label(8, y(top) + 14, top.toFixed(1)), label(8, y(bottom), bottom.toFixed(1)));
  for (const { name, rank, seconds: time } of points) {
    const isFront = points.every((other) => other.rank >= rank || other.seconds > time), isMine = name === chosen.method;
    const dot = shape("circle", { cx: x(time), cy: y(rank), r: 5, fill: isMine ? "var(--color-1)" : isFront ? "var(--color-0)" : "var(--muted)", class: "point" }, "", `${name}: rank ${rank.toFixed(2)}, ${seconds(time)}`);
    dot.addEventListener("click", () => pick(name));
    shapes.push(dot);
    if (isFront || isMine) named.push({ name, x: x(time) + 8, y: y(rank) + 4 });
  }
  named.sort((a, b) => a.y - b.y).forEach((text, place) => { // no label covers the one above it
    for (const other of named.slice(0, place)) if (Math.abs(other.x - text.x) < 110 && text.y < other.y + 11) text.y = other.y + 11;
    shapes.push(label(text.x, text.y, text.name, { "paint-order": "stroke", stroke: "var(--paper)", "stroke-width": 3 }));
  });
  figure("scatter", width, height, shapes, "Average rank against time. Named selectors are those than which none is both faster and better ranked.");
}

function drawHeat({ rows, methods }) {
  const listed = methods.filter(({ run }) => run > 0), cell = 15, left = 150, top = 140, shapes = [];
  listed.forEach(({ name }, column) => {
    const x = left + cell * column + 11;
    shapes.push(label(x, top - 6, name, { transform: `rotate(-60 ${x} ${top - 6})` }));
  });
  rows.forEach((row, place) => {
    const y = top + cell * place, lower = board.lower[row.q];
    shapes.push(label(left - 8, y + 12, row.data.name, { "text-anchor": "end" }));
    const ranks = ranksOf(listed.map(({ m }) => row.score[m]), lower);
    listed.forEach(({ name, m }, column) => {
      const has = !Number.isNaN(row.score[m]), failed = !has && row.situations.some(([l]) => board.failed[row.d][m][l]);
      const share = Math.round(100 * (1 - (ranks[column] - 1) / Math.max(1, listed.length - 1)));
      const hint = `${row.data.name}, ${name}: ${has ? `${board.measures[row.q]} ${row.score[m].toFixed(4)}` : failed ? "failed" : "not run"}`;
      const box = shape("rect", { x: left + cell * column, y, width: cell - 1, height: cell - 1, class: "point", fill: has ? `color-mix(in srgb, var(--color-0) ${share}%, var(--paper))` : "var(--paper)", stroke: "var(--line)", "stroke-width": 0.3 }, "", hint);
      box.addEventListener("click", () => { at("curve-data").value = row.data.name; chosen.dataset = row.data.name; pick(name); at("curve").scrollIntoView(); });
      shapes.push(box);
      if (failed) shapes.push(label(left + cell * column + 3, y + 11, "×", { fill: "var(--warn)", "pointer-events": "none" }));
    });
  });
  figure("heat", left + cell * listed.length + 90, top + cell * rows.length + 10, shapes, "Data sets and selectors: the darker, the better on the data set; ×: failed; white: worst, or not run. A click draws the curves of the data set.");
}

function drawCurve({ ranked }) {
  const d = board.datasets.findIndex(({ name }) => name === chosen.dataset), data = board.datasets[d], q = measureOf(data);
  const used = usedLearners().filter((l) => board.splits[d].some((splits) => splits[l] > 0));
  const width = 680, height = 380, named = [...new Set([chosen.method, ...ranked.slice(0, 3).map(({ name }) => name), "random", ALL])].filter((name) => board.methods.includes(name));
  const curveOf = (m) => board.sizes.map((size, k) => {
    const values = used.map((l) => valueOfCell(d, m, l, q, k)).filter((value) => !Number.isNaN(value));
    return [size, values.length && values.length === used.length ? mean(values) : NaN];
  }).filter(([size, value]) => !Number.isNaN(value) && (size <= data.features));
  const curves = board.methods.map((name, m) => ({ name, points: curveOf(m) })).filter(({ points }) => points.length);
  const values = curves.flatMap(({ points }) => points.map(([, value]) => value));
  if (!values.length) return at("curve").replaceChildren("No results for this learner.");
  const low = Math.min(...values), high = Math.max(...values), largest = Math.max(...board.sizes);
  const x = (size) => 60 + (Math.log(size) / Math.log(largest)) * (width - 230), y = (value) => height - 50 - ((value - low) / (high - low || 1)) * (height - 70);
  const shapes = board.sizes.flatMap((size) => [line(x(size), 14, x(size), height - 46), label(x(size), height - 30, String(size), { "text-anchor": "middle" })]);
  shapes.push(label(x(1), height - 10, "number of features"), label(4, y(high) + 4, high.toFixed(3)), label(4, y(low) + 4, low.toFixed(3)));
  const path = (points, more) => shape("polyline", { points: points.map(([size, value]) => `${x(size)},${y(value)}`).join(" "), fill: "none", ...more });
  for (const { name, points } of curves) if (!named.includes(name)) shapes.push(path(points, { stroke: "var(--line)" }));
  const ends = named.flatMap((name, place) => {
    const curve = curves.find((one) => one.name === name);
    if (!curve) return [];
    shapes.push(path(curve.points, { stroke: `var(--color-${place % 6})`, "stroke-width": 2.5, ...(name === ALL || name === "random" ? { "stroke-dasharray": "5 4" } : {}) }));
    return [{ name, place, y: y(curve.points.at(-1)[1]) }];
  }).sort((a, b) => a.y - b.y);
  ends.forEach((end, place) => {
    if (place && end.y < ends[place - 1].y + 13) end.y = ends[place - 1].y + 13;
    shapes.push(label(width - 160, end.y + 4, end.name, { fill: `var(--color-${end.place % 6})`, "font-weight": 600 }));
  });
  figure("curve", width, height, shapes, `${data.name}: ${board.measures[q].replaceAll("_", " ")} (${board.lower[q] ? "lower" : "higher"} is better) against the number of features, ${used.map((l) => board.learners[l]).join(", ")}. ${data.rows.toLocaleString("en")} rows, ${data.features.toLocaleString("en")} features, ${data.labels} labels. Gray: other selectors.`);
}

function pick(name) {
  chosen.method = name;
  at("compared").value = name;
  draw();
}

function draw() {
  const result = compute();
  if (!board.methods.includes(chosen.method)) chosen.method = result.ranked.length ? result.ranked[0].name : board.methods[0];
  at("compared").value = chosen.method;
  for (const part of [drawTable, drawRanks, drawBayes, drawScatter, drawHeat, drawCurve]) part(result);
  markScrollable();
}

at("compared").append(...board.methods.map((name) => element("option", {}, name)));
at("curve-data").append(...board.datasets.map(({ name }) => element("option", {}, name)));
chosen.dataset = board.datasets[0].name;
for (const name of ["part", "kind", "learner", "measure", "size", "common"]) at(name).addEventListener("change", draw);
at("compared").addEventListener("change", () => pick(at("compared").value));
at("curve-data").addEventListener("change", () => { chosen.dataset = at("curve-data").value; draw(); });
draw();
