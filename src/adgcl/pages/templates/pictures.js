"use strict";
// Draws compact pictures of molecules and graphs; drawing/compact.py describes the bytes.
const DATA = JSON.parse(document.getElementById("data").textContent);
const bytesOf = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const number = (value, digits) => String(Number(value.toPrecision(digits))).replace("-", "−");
const PICTURES = bytesOf(DATA.pictures.bytes);
const STARTS = new Uint32Array(bytesOf(DATA.pictures.starts).buffer);

function sharp(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = devicePixelRatio || 1;
  const width = Math.max(1, Math.round(box.width * ratio)), height = Math.max(1, Math.round(box.height * ratio));
  if (canvas.width !== width || canvas.height !== height) { canvas.width = width; canvas.height = height; }
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, box.width, box.height);
  return [pen, box.width, box.height];
}

function drawPicture(canvas, graph) {
  const [pen, width, height] = sharp(canvas);
  const at = STARTS[graph], nodes = PICTURES[at], edges = PICTURES[at + 1], step = PICTURES[at + 2] / 100;
  const ink = style("--ink"), soft = style("--soft");
  if (!nodes) {
    pen.fillStyle = soft; pen.font = "13px system-ui, sans-serif"; pen.textAlign = "center";
    pen.fillText("too large to draw", width / 2, height / 2);
    return;
  }
  const isGraph = PICTURES[at + 3] === 1, first = at + 4, bonds = first + 3 * nodes;
  let right = 0, bottom = 0;
  for (let i = 0; i < nodes; i++) {
    right = Math.max(right, PICTURES[first + 3 * i]); bottom = Math.max(bottom, PICTURES[first + 3 * i + 1]);
  }
  const margin = Math.min(22, width / 8);
  const unit = Math.min((width - 2 * margin) / Math.max(right * step, 0.01), (height - 2 * margin) / Math.max(bottom * step, 0.01), 30);
  const x = (i) => width / 2 + (PICTURES[first + 3 * i] - right / 2) * step * unit;
  const y = (i) => height / 2 + (PICTURES[first + 3 * i + 1] - bottom / 2) * step * unit;
  const lean = new Float32Array(nodes);
  pen.strokeStyle = ink; pen.lineWidth = Math.max(0.8, Math.min(1.5, unit / 14)); pen.lineCap = "round";
  pen.beginPath();
  for (let k = 0; k < edges; k++) {
    const a = PICTURES[bonds + 3 * k], b = PICTURES[bonds + 3 * k + 1], order = PICTURES[bonds + 3 * k + 2];
    const x1 = x(a), y1 = y(a), x2 = x(b), y2 = y(b), length = Math.hypot(x2 - x1, y2 - y1) || 1;
    const across = [-(y2 - y1) / length, (x2 - x1) / length];
    lean[a] += x2 - x1; lean[b] += x1 - x2;
    const line = (shift, cut) => {
      const dx = (x2 - x1) * cut, dy = (y2 - y1) * cut;
      pen.moveTo(x1 + across[0] * shift + dx, y1 + across[1] * shift + dy);
      pen.lineTo(x2 + across[0] * shift - dx, y2 + across[1] * shift - dy);
    };
    const gap = Math.max(2, unit * 0.16);
    if (order === 2) { line(gap / 2, 0); line(-gap / 2, 0); } else { line(0, 0); }
    if (order === 3) { line(gap, 0.1); line(-gap, 0.1); }
    if (order === 4) line(gap, 0.14);
    if (order === 5) line(-gap, 0.14);
  }
  pen.stroke();
  const size = Math.max(7, Math.min(13, unit * 0.5));
  pen.font = `600 ${size}px system-ui, sans-serif`; pen.textBaseline = "middle";
  for (let i = 0; i < nodes; i++) {
    if (isGraph) {
      pen.fillStyle = style("--accent"); pen.beginPath(); pen.arc(x(i), y(i), Math.max(1.5, Math.min(4, unit * 0.16)), 0, 7); pen.fill();
      continue;
    }
    const code = PICTURES[first + 3 * i + 2];
    if (!code) continue;
    const [main, rest = ""] = DATA.pictures.labels[code - 1].split("|");
    const wide = pen.measureText(main).width;
    pen.globalCompositeOperation = "destination-out";
    pen.beginPath(); pen.ellipse(x(i), y(i), wide / 2 + 1.5, size * 0.62, 0, 0, 7); pen.fill();
    pen.globalCompositeOperation = "source-over";
    pen.fillStyle = ink; pen.textAlign = "center"; pen.fillText(main, x(i), y(i));
    if (rest) {
      // Hydrogens stand on the side where no bond is.
      const left = lean[i] > 0.5;
      pen.textAlign = left ? "right" : "left";
      pen.fillText(rest, x(i) + (left ? -wide / 2 : wide / 2), y(i));
    }
  }
}

function drawThumbs() {
  document.querySelectorAll("canvas[data-graph]").forEach((canvas) => drawPicture(canvas, Number(canvas.dataset.graph)));
}
