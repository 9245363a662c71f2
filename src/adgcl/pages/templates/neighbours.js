// Queries, a few at a time: each with two strips of neighbours.
const AT_A_TIME = 8;
const list = document.getElementById("list");
let order = DATA.queries.map((_, i) => i), page = 0;
const element = (tag, text = "", name = "") => { const made = document.createElement(tag); made.textContent = text; if (name) made.className = name; return made; };
function figure(graph, score, both) {
  const made = element("figure", "", both ? "both" : ""), canvas = document.createElement("canvas"), caption = document.createElement("figcaption");
  canvas.dataset.graph = graph; canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", `${DATA.names[graph]}${score === null ? "" : `, similarity ${score}`}`);
  if (score !== null) caption.append(element("b", score.toFixed(2)), " ");
  caption.append(score === null ? element("b", DATA.names[graph]) : DATA.names[graph]);
  if (DATA.values[graph]) caption.append(document.createElement("br"), DATA.values[graph]);
  caption.title = DATA.names[graph];
  made.append(canvas, caption);
  return made;
}
function strip(title, ranked, others, query) {
  const box = document.createElement("div"), row = element("div", "", "strip"), also = new Set(others.places[query]);
  ranked.places[query].forEach((graph, rank) => row.append(figure(graph, ranked.values[query][rank], also.has(graph))));
  row.tabIndex = 0; row.setAttribute("aria-label", title);
  box.append(element("h4", title), row);
  return box;
}
function show() {
  const pages = Math.max(1, Math.ceil(order.length / AT_A_TIME));
  page = Math.min(Math.max(page, 0), pages - 1);
  list.replaceChildren(...order.slice(page * AT_A_TIME, (page + 1) * AT_A_TIME).map((query) => {
    const card = element("article", "", "card query"), strips = document.createElement("div");
    strips.style.minWidth = "0";
    strips.append(strip("nearest by embedding", DATA.learned, DATA.known, query), strip(`nearest by ${DATA.measure}`, DATA.known, DATA.learned, query));
    card.append(figure(DATA.queries[query], null, false), strips);
    return card;
  }));
  document.getElementById("where").textContent = order.length ? `${page + 1} of ${pages}` : "none found";
  drawThumbs();
}
const shared = (query) => { const also = new Set(DATA.known.places[query]); return DATA.learned.places[query].filter((graph) => also.has(graph)).length; };
function arrange() {
  const wanted = document.getElementById("find").value.trim().toLowerCase(), how = document.getElementById("order").value;
  order = DATA.queries.map((_, i) => i).filter((i) => DATA.names[DATA.queries[i]].toLowerCase().includes(wanted));
  if (how === "apart") order.sort((a, b) => shared(a) - shared(b));
  if (how === "alone") order.sort((a, b) => DATA.learned.values[a][0] - DATA.learned.values[b][0]);
  page = 0;
  show();
}
document.getElementById("find").addEventListener("input", arrange);
document.getElementById("order").addEventListener("change", arrange);
document.getElementById("back").addEventListener("click", () => { page -= 1; show(); });
document.getElementById("on").addEventListener("click", () => { page += 1; show(); });
addEventListener("resize", drawThumbs);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawThumbs);
show();
