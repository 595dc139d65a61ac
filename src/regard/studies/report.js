// What a report does: it follows the reader's theme, its links move the atlas, and its tables sort.
const dark = matchMedia("(prefers-color-scheme: dark)");
const atlas = document.querySelector("iframe[title=atlas]");
let ready = false;
let shown = ""; // the head that a link asked for

const tell = (what) => ready && what && atlas.contentWindow.postMessage(what, "*");

function paint() {
  const asked = new URLSearchParams(location.hash.slice(1)).get("theme"); // of a page that shows this one
  const theme = asked === "dark" || asked === "light" ? asked : dark.matches ? "dark" : "light";
  document.documentElement.dataset.theme = theme;
  tell(`theme=${theme}`);
}

function move(event) {
  event.preventDefault();
  shown = event.currentTarget.dataset.show;
  tell(shown);
  atlas.scrollIntoView({ block: "nearest" });
}

function sort(event) {
  const head = event.currentTarget.parentElement;
  const body = head.closest("table").tBodies[0];
  const up = head.getAttribute("aria-sort") === "descending";
  for (const other of head.parentElement.children) other.removeAttribute("aria-sort");
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const value = (row) => row.cells[head.cellIndex].title || row.cells[head.cellIndex].textContent;
  const number = (text) => Number(text.replaceAll(",", "").replace("−", "-"));
  const compare = (a, b) => (Number.isNaN(number(a) - number(b)) ? a.localeCompare(b) : number(a) - number(b));
  const missing = (row) => value(row) === "n/a"; // last, whichever way
  const rows = [...body.rows].sort(
    (a, b) => missing(a) - missing(b) || (up ? 1 : -1) * compare(value(a), value(b)),
  );
  body.append(...rows);
}

addEventListener("message", (event) => {
  if (!atlas || event.source !== atlas.contentWindow || event.data !== "ready") return;
  ready = true;
  document.querySelector("#atlas .wait")?.remove();
  paint();
  tell(shown);
});
/** Only rows with these letters stay. */
function filter(field) {
  const wanted = field.value.trim().toLowerCase();
  for (const row of document.querySelectorAll(".tall tbody tr"))
    row.hidden = !row.textContent.toLowerCase().includes(wanted);
}

/** The app that shows this page opens a head in its own views, or another page: a frame may not by itself. */
function ask(event) {
  const { open, page } = event.currentTarget.dataset;
  if (parent === window) return;
  event.preventDefault();
  parent.postMessage(open ? `open ${open}` : `page ${page}`, "*");
}

/** A line that is wider than its box begins at a whole word, with its strongest look in the middle. */
function reveal(box) {
  const lefts = [...box.querySelectorAll("text")].map((word) => word.getBoundingClientRect().left);
  const arc = [...box.querySelectorAll("path")].at(-1)?.getBoundingClientRect(); // the strongest is drawn last
  if (!arc || box.scrollWidth <= box.clientWidth) return;
  const room = Math.max(0, box.clientWidth - arc.width) / 2;
  const from = lefts.filter((left) => left <= arc.left && left >= arc.left - room);
  box.scrollLeft += Math.min(...from, arc.left) - box.getBoundingClientRect().left - 2;
}

for (const box of document.querySelectorAll(".look .scroll")) reveal(box);
addEventListener("hashchange", paint);
dark.addEventListener("change", paint);
for (const link of document.querySelectorAll("a[data-show]")) link.addEventListener("click", move);
for (const button of document.querySelectorAll("th button")) button.addEventListener("click", sort);
for (const field of document.querySelectorAll("[data-filter]")) {
  field.addEventListener("input", () => filter(field));
  filter(field); // what was typed while the page was loading
}
for (const link of document.querySelectorAll("a[data-open], a[data-page]")) {
  link.hidden = parent === window && link.dataset.open !== undefined;
  link.addEventListener("click", ask);
}
paint();
