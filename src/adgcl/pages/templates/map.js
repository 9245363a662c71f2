// The map: points are drawn once for each view; what is under the pointer is found in a grid.
const host = document.getElementById("map"), canvas = document.getElementById("points"), overlay = document.getElementById("overlay");
const tip = document.getElementById("tip"), N = DATA.count;
const planes = DATA.planes.map((p) => new Uint16Array(bytesOf(p.points).buffer));
const values = DATA.colourings.map((c) => (c.names ? new Uint16Array(bytesOf(c.values).buffer) : new Float32Array(bytesOf(c.values).buffer)));
const PALETTE = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e0a800", "#56b4e9", "#7a5195", "#8c6d4f", "#5f9e3a", "#b03a5b", "#3f5d8c", "#8f8f8f"];
const RAMP = [[68, 1, 84], [65, 68, 135], [42, 120, 142], [34, 168, 132], [122, 209, 81], [253, 231, 37]];
const SHADES = 48, NONE = 65535, CELLS = 96;
let plane = 0, colouring = 0, scale = 1, cx = 0.5, cy = 0.5, hovered = -1, hidden = new Set(), matches = [], grid = null;

const shade = (t) => {
  const place = Math.min(Math.max(t, 0), 1) * (RAMP.length - 1), low = Math.min(Math.floor(place), RAMP.length - 2), part = place - low;
  return `rgb(${RAMP[low].map((v, i) => Math.round(v + (RAMP[low + 1][i] - v) * part)).join(",")})`;
};
const colourCount = () => (DATA.colourings[colouring].names ? DATA.colourings[colouring].names.length : SHADES);
const colourOf = (k) => (DATA.colourings[colouring].names ? PALETTE[k % PALETTE.length] : shade(k / (SHADES - 1)));
function bucket(i) {
  const c = DATA.colourings[colouring], v = values[colouring][i];
  if (c.names) return v === NONE || hidden.has(v) ? -1 : v;
  if (!Number.isFinite(v)) return -1;
  return Math.round(Math.min(Math.max((v - c.low) / (c.high - c.low || 1), 0), 1) * (SHADES - 1));
}
const size = () => host.getBoundingClientRect();
let extent = [1, 1];
const whole = (box) => Math.min(box.width / extent[0], box.height / extent[1]) * 0.92;
const view = () => { const box = size(), side = whole(box) * scale; return { side, ox: box.width / 2 - cx * side, oy: box.height / 2 - cy * side }; };
const px = (i) => planes[plane][2 * i] / 65535, py = (i) => 1 - planes[plane][2 * i + 1] / 65535;
const radius = () => Math.min(7, Math.max(1.7, (N > 5000 ? 2 : N > 1500 ? 2.8 : 4) * Math.sqrt(Math.min(scale, 6))));

function buildGrid() {
  const heads = new Int32Array(CELLS * CELLS).fill(-1), next = new Int32Array(N);
  for (let i = 0; i < N; i++) {
    const cell = Math.min(CELLS - 1, Math.floor(py(i) * CELLS)) * CELLS + Math.min(CELLS - 1, Math.floor(px(i) * CELLS));
    next[i] = heads[cell]; heads[cell] = i;
  }
  grid = { heads, next };
  const reach = (axis) => { let low = 65535, high = 0; for (let i = axis; i < 2 * N; i += 2) { low = Math.min(low, planes[plane][i]); high = Math.max(high, planes[plane][i]); } return Math.max((high - low) / 65535, 0.05); };
  extent = [reach(0), reach(1)];
}
function nearest(mx, my, reach) {
  const { side, ox, oy } = view(), x = (mx - ox) / side, y = (my - oy) / side, r = reach / side;
  const clamp = (v) => Math.min(CELLS - 1, Math.max(0, Math.floor(v * CELLS)));
  let best = -1, closest = r * r;
  for (let row = clamp(y - r); row <= clamp(y + r); row++) {
    for (let col = clamp(x - r); col <= clamp(x + r); col++) {
      for (let i = grid.heads[row * CELLS + col]; i >= 0; i = grid.next[i]) {
        const d = (px(i) - x) ** 2 + (py(i) - y) ** 2;
        if (d < closest && bucket(i) >= 0) { closest = d; best = i; }
      }
    }
  }
  return best;
}
function draw() {
  const [pen, width, height] = sharp(canvas), { side, ox, oy } = view(), r = radius(), ratio = devicePixelRatio || 1;
  // A dot of each colour is drawn once and then copied: a copy costs far less than a path.
  const sprites = Array.from({ length: colourCount() }, (_, k) => {
    const sprite = document.createElement("canvas"), edge = Math.ceil((2 * r + 2) * ratio);
    sprite.width = sprite.height = edge;
    const p = sprite.getContext("2d");
    p.scale(ratio, ratio); p.fillStyle = colourOf(k); p.globalAlpha = 0.78; p.beginPath(); p.arc(r + 1, r + 1, r, 0, 7); p.fill();
    return sprite;
  });
  const span = 2 * r + 2;
  for (let i = 0; i < N; i++) {
    const k = bucket(i), x = ox + px(i) * side, y = oy + py(i) * side;
    if (k < 0 || x < -9 || y < -9 || x > width + 9 || y > height + 9) continue;
    pen.drawImage(sprites[k], x - r - 1, y - r - 1, span, span);
  }
  drawOverlay();
}
function drawOverlay() {
  const [pen] = sharp(overlay), { side, ox, oy } = view(), r = radius() + 3;
  pen.lineWidth = 2; pen.strokeStyle = style("--ink");
  const ring = (i) => { pen.beginPath(); pen.arc(ox + px(i) * side, oy + py(i) * side, r, 0, 7); pen.stroke(); };
  matches.slice(0, 400).forEach(ring);
  if (hovered >= 0) ring(hovered);
}
function facts(i) {
  return DATA.colourings.map((c, k) => {
    const v = values[k][i];
    if (c.names) return v === NONE ? null : `${c.title}: ${c.names[v]}`;
    return Number.isFinite(v) ? `${c.title}: ${number(v, 4)}` : null;
  }).filter(Boolean).join("\n");
}
function hover(i) {
  hovered = i;
  if (i < 0) { tip.hidden = true; drawOverlay(); return; }
  tip.hidden = false;
  tip.dataset.graph = i;
  tip.querySelector("b").textContent = DATA.names[i];
  tip.querySelector("span").textContent = facts(i);
  const { side, ox, oy } = view(), box = size(), x = ox + px(i) * side, y = oy + py(i) * side;
  const wide = tip.offsetWidth, high = tip.offsetHeight;
  tip.style.left = `${Math.min(Math.max(6, x + 16 + wide > box.width ? x - wide - 16 : x + 16), Math.max(6, box.width - wide - 6))}px`;
  tip.style.top = `${Math.min(Math.max(6, y - high / 2), Math.max(6, box.height - high - 6))}px`;
  drawPicture(tip.querySelector("canvas"), i);
  drawOverlay();
}
function keep(i) {
  const shelf = document.getElementById("kept");
  if (i < 0 || shelf.querySelector(`[data-kept="${i}"]`)) return;
  const figure = document.createElement("figure"), shown = document.createElement("canvas"), text = document.createElement("figcaption"), close = document.createElement("button");
  figure.dataset.kept = i; shown.dataset.graph = i; shown.setAttribute("role", "img"); shown.setAttribute("aria-label", DATA.names[i]);
  close.textContent = "×"; close.setAttribute("aria-label", `remove ${DATA.names[i]}`); close.addEventListener("click", () => figure.remove());
  const name = document.createElement("b"); name.textContent = DATA.names[i];
  const rest = document.createElement("div"); rest.textContent = DATA.smiles ? DATA.smiles[i] : ""; rest.className = "soft";
  text.append(name, rest); figure.append(shown, text, close); shelf.prepend(figure);
  drawPicture(shown, i);
}
function zoom(factor, mx, my) {
  const box = size(), before = view(), x = ((mx ?? box.width / 2) - before.ox) / before.side, y = ((my ?? box.height / 2) - before.oy) / before.side;
  scale = Math.min(200, Math.max(0.7, scale * factor));
  const side = whole(box) * scale;
  cx = x + (box.width / 2 - (mx ?? box.width / 2)) / side; cy = y + (box.height / 2 - (my ?? box.height / 2)) / side;
  tip.hidden = true; requestAnimationFrame(draw);
}
const where = (event) => { const box = size(); return [event.clientX - box.left, event.clientY - box.top]; };
const fingers = new Map();
let moved = 0, pinch = 0;
canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); fingers.set(event.pointerId, where(event)); moved = 0; });
canvas.addEventListener("pointermove", (event) => {
  const began = performance.now(), [x, y] = where(event), last = fingers.get(event.pointerId);
  if (last && fingers.size === 1) {
    const { side } = view();
    moved += Math.hypot(x - last[0], y - last[1]);
    if (moved > 4) { cx -= (x - last[0]) / side; cy -= (y - last[1]) / side; tip.hidden = true; requestAnimationFrame(draw); }
  }
  if (last) fingers.set(event.pointerId, [x, y]);
  if (fingers.size === 2) {
    const [a, b] = [...fingers.values()], apart = Math.hypot(a[0] - b[0], a[1] - b[1]);
    if (pinch) zoom(apart / pinch, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2);
    pinch = apart; moved = 9;
  }
  if (!last) hover(nearest(x, y, 14));
  host.dataset.answered = (performance.now() - began).toFixed(2);
});
const lift = (event) => { fingers.delete(event.pointerId); pinch = 0; };
canvas.addEventListener("pointerup", (event) => {
  const [x, y] = where(event);
  if (moved <= 4) { const i = nearest(x, y, event.pointerType === "touch" ? 26 : 14); hover(i); keep(i); }
  lift(event);
});
canvas.addEventListener("pointercancel", lift);
canvas.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") hover(-1); });
canvas.addEventListener("wheel", (event) => { event.preventDefault(); zoom(Math.exp(-event.deltaY * 0.0015), ...where(event)); }, { passive: false });
canvas.addEventListener("dblclick", () => reset());
canvas.addEventListener("keydown", (event) => {
  const turn = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (event.key === "Enter") keep(hovered);
  if (event.key === "Escape") hover(-1);
  if (!turn) return;
  event.preventDefault();
  if (hovered < 0) { hover(nearest(size().width / 2, size().height / 2, 4000)); return; }
  let best = -1, closest = Infinity;
  for (let i = 0; i < N; i++) {
    const dx = px(i) - px(hovered), dy = py(i) - py(hovered), along = dx * turn[0] + dy * turn[1], across = Math.abs(dx * turn[1]) + Math.abs(dy * turn[0]);
    if (along > 1e-6 && across < along && bucket(i) >= 0 && along + 2 * across < closest) { closest = along + 2 * across; best = i; }
  }
  if (best >= 0) { hover(best); document.getElementById("found").textContent = DATA.names[best]; }
});
function reset() { scale = 1; cx = cy = 0.5; draw(); }
function showLegend() {
  const legend = document.getElementById("legend"), c = DATA.colourings[colouring];
  legend.replaceChildren();
  if (!c.names) {
    const bar = document.createElement("span"), low = document.createElement("span"), high = document.createElement("span");
    bar.className = "gradient"; bar.style.background = `linear-gradient(90deg, ${[0, 0.2, 0.4, 0.6, 0.8, 1].map(shade).join(",")})`;
    low.textContent = `${c.title} ≤ ${number(c.low, 3)}`; high.textContent = `≥ ${number(c.high, 3)}`;
    legend.append(low, bar, high);
    return;
  }
  const counts = new Array(c.names.length).fill(0);
  values[colouring].forEach((v) => { if (v !== NONE) counts[v] += 1; });
  c.names.forEach((name, k) => {
    const chip = document.createElement("button"), dot = document.createElement("i");
    chip.type = "button"; chip.className = "plain"; dot.className = "dot"; dot.style.background = colourOf(k);
    chip.setAttribute("aria-pressed", String(!hidden.has(k)));
    chip.append(dot, `${c.title} ${name} (${counts[k].toLocaleString("en")})`);
    chip.addEventListener("click", () => { if (!hidden.delete(k)) hidden.add(k); chip.setAttribute("aria-pressed", String(!hidden.has(k))); hover(-1); draw(); });
    legend.append(chip);
  });
}
const fill = (id, titles, chosen) => {
  const select = document.getElementById(id);
  titles.forEach((title, i) => select.add(new Option(title, i)));
  select.addEventListener("change", () => { chosen(Number(select.value)); hover(-1); draw(); });
};
fill("colouring", DATA.colourings.map((c) => c.title), (i) => { colouring = i; hidden = new Set(); showLegend(); });
fill("plane", DATA.planes.map((p) => p.title), (i) => { plane = i; buildGrid(); });
document.getElementById("zoom-in").addEventListener("click", () => zoom(1.6));
document.getElementById("zoom-out").addEventListener("click", () => zoom(1 / 1.6));
document.getElementById("zoom-reset").addEventListener("click", reset);
document.getElementById("find").addEventListener("input", (event) => {
  const wanted = event.target.value.trim(), lower = wanted.toLowerCase();
  matches = [];
  if (wanted) for (let i = 0; i < N; i++) if (DATA.names[i].toLowerCase().includes(lower) || (DATA.smiles && DATA.smiles[i].includes(wanted))) matches.push(i);
  document.getElementById("found").textContent = wanted ? `${matches.length} found` : "";
  drawOverlay();
  if (matches.length === 1) hover(matches[0]);
});
new ResizeObserver(() => { draw(); drawThumbs(); }).observe(host);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { draw(); drawThumbs(); });
buildGrid();
showLegend();
host.dataset.ready = "true";
