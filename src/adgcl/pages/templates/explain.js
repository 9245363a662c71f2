// Bands are coloured by probability, or by rank within a graph; cards can be sorted and searched.
const bands = document.querySelectorAll("[data-v]");
document.getElementById("colour")?.addEventListener("change", (event) => {
  const byRank = event.target.value === "rank";
  bands.forEach((band) => {
    band.classList.remove(`s${band.dataset.v}`, `s${band.dataset.r}`);
    band.classList.add(`s${byRank ? band.dataset.r : band.dataset.v}`);
  });
  document.querySelectorAll("[data-legend]").forEach((text) => { text.textContent = text.dataset[byRank ? "rank" : "value"]; });
});
const shelf = document.getElementById("cards");
document.getElementById("order")?.addEventListener("change", (event) => {
  const [key, sign] = event.target.value.split(":");
  const cards = [...shelf.children].sort((a, b) => (Number(a.dataset[key]) - Number(b.dataset[key])) * Number(sign));
  shelf.append(...cards);
});
document.getElementById("find")?.addEventListener("input", (event) => {
  const wanted = event.target.value.trim().toLowerCase();
  let shown = 0;
  [...shelf.children].forEach((card) => {
    card.hidden = !card.dataset.name.toLowerCase().includes(wanted);
    shown += card.hidden ? 0 : 1;
  });
  document.getElementById("found").textContent = wanted ? `${shown} found` : "";
});
