// Everything can leave: the page, the picture, the numbers, the trace.

import { useSignal } from "@preact/signals";
import type { Lens } from "../compute/lens";
import { useStore } from "../frame/context";
import { download, pictureName, savePicture, svgOf } from "../frame/picture";
import type { Store } from "../state/store";
import { VIEWS } from "../views";
import { pinnedRow } from "../views/sound/scene";
import type { Key } from "../words";
import * as api from "./api";
import { sentenceOf, useSession, useTell } from "./context";
import { Popover } from "./popover";
import { type Trouble, troubleOf } from "./server";
import type { Session } from "./session";

const MOST = 1_000_000; // numbers in a table that a spreadsheet opens
const FIGURES: readonly string[] = ["heads", "matrix", "atlas", "neurons", "sound"];
type Width = "column" | "page";
const SHARP = 2; // pixels of a PNG for each of the picture's

export function Export() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const trouble = useSignal<Trouble | null>(null);
  const width = useSignal<Width>("column");
  const figured = FIGURES.includes(store.selection.value.view);
  const offered = filesOf(session, store, width.value);
  return (
    <Popover name="export" label={<>{tell("export")} ▾</>}>
      {(close) => (
        <ul class="app-export">
          {offered.map(([key, phrase, here, save]) => (
            <li key={key}>
              <button
                type="button"
                data-export={key}
                disabled={!here}
                onClick={async () => {
                  try {
                    await save();
                    trouble.value = null;
                    close();
                  } catch (error) {
                    trouble.value = troubleOf(error);
                  }
                }}
              >
                {tell(phrase)}
              </button>
            </li>
          ))}
          {figured && (
            <li>
              <label class="check">
                {tell("exportWidth")}{" "}
                <select
                  data-export-width
                  value={width.value}
                  onChange={(event) => {
                    width.value = event.currentTarget.value as Width;
                  }}
                >
                  <option value="column">{tell("exportColumn")}</option>
                  <option value="page">{tell("exportWide")}</option>
                </select>
              </label>
            </li>
          )}
          {trouble.value && (
            <li class="app-trouble" role="alert">
              {sentenceOf(trouble.value, tell)}
            </li>
          )}
        </ul>
      )}
    </Popover>
  );
}

/** A file to take away: its name here, what it is called, whether there is one, and how it is saved. */
type Offered = [string, Key, boolean, () => Promise<void> | void];

function filesOf(session: Session, store: Store, width: Width): Offered[] {
  const id = session.shown.value?.id ?? "";
  const { view, kind, layer, heads } = store.selection.value;
  const worth = store.look.value.worth !== undefined;
  const kept = VIEWS.some(({ id: one }) => one === view) ? view : "heads"; // a page has no server
  const name = (session.shown.value?.model ?? "regard").replace(/.*\//, "").replace(/[^\w.-]+/g, "-");
  const drawn = store.view.picture !== undefined;
  const figured = FIGURES.includes(view); // the server draws these, as in Python
  const figure = (format: string) =>
    fetched(figureFile(store, id, format, width), `${pictureName(store)}.${format}`);
  return [
    [
      "page",
      "exportPage",
      id !== "",
      () => fetched(api.pageFile(id, { view: kept, kind, layer, heads, worth }), `${name}.html`),
    ],
    ["picture", "exportPicture", drawn, () => (figured ? figure("svg") : savePicture(store, document))],
    ["pdf", "exportPdf", figured, () => figure("pdf")],
    ["png", "exportPng", drawn, () => (figured ? figure("png") : savePng(store))],
    [
      "numbers",
      "exportNumbers",
      store.rows.value.count * store.columns.value.count <= MOST,
      () => saveNumbers(store),
    ],
    ["trace", "exportTrace", id !== "", () => fetched(api.traceFile(id), `${name}.safetensors`)],
  ];
}

/** A file of the server. */
async function fetched(path: string, name: string): Promise<void> {
  download(name, await api.file(path), document);
}

async function savePng(store: Store): Promise<void> {
  const svg = svgOf(store);
  if (!svg) return;
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = SHARP * image.naturalWidth;
  canvas.height = SHARP * image.naturalHeight;
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
  if (blob) download(`${pictureName(store)}.png`, blob, document);
}

/** The map of the head that is looked at, as weights, contributions or worth: one line for each query and key. */
function saveNumbers(store: Store): void {
  const content = new Blob(["\ufeff", tidy(store.lens(store.lead))], { type: "text/csv" });
  const { kind, layer } = store.site.value;
  download(`regard-${kind}-layer${layer}-head${store.lead}.csv`, content, document);
}

/** A map as a tidy table; the index of a word is that of its first token, and a text that occurs twice carries it. */
export function tidy(lens: Pick<Lens, "rows" | "columns" | "row">): string {
  const lines = ["query_index,query,key_index,key,value"];
  const { rows, columns } = lens;
  const keys = columns.names.map((name, k) => `${columns.starts[k]},${quoted(name)}`);
  rows.names.forEach((name, p) => {
    const query = `${rows.starts[p]},${quoted(name)}`;
    const values = lens.row(p);
    keys.forEach((key, k) => {
      lines.push(`${query},${key},${values[k]}`);
    });
  });
  return `${lines.join("\r\n")}\r\n`;
}

/** Where the server draws the current view. */
function figureFile(store: Store, id: string, format: string, width: Width): string {
  const { view, kind, layer, heads, queries, pairs, threshold } = store.selection.peek();
  const { contributions, worth } = store.look.peek();
  const query = new URLSearchParams({ view, kind, layer: String(layer), format, width });
  if (view !== "atlas")
    query.set("heads", (view === "heads" || view === "sound" ? heads : [store.lead]).join(","));
  if (contributions) query.set("contributions", "1");
  if (worth) query.set("worth", "1");
  if (threshold > 0 && view === "heads") query.set("threshold", String(threshold));
  const token = view === "sound" ? pinnedRow(store) : (pairs.at(-1)?.[0] ?? queries.at(-1));
  if (token !== undefined) query.set("query", String(token)); // of neurons, over a picture, in a sound
  return `/api/traces/${id}/figure?${query}`;
}

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell);
