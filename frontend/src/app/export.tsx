// Everything can leave: the page, the picture, the numbers, the trace.

import { useSignal } from "@preact/signals";
import { useStore } from "../frame/context";
import { download, pictureName, savePicture, svgOf } from "../frame/picture";
import type { Store } from "../state/store";
import { VIEWS } from "../views";
import type { Key } from "../words";
import * as api from "./api";
import { sentenceOf, useSession, useTell } from "./context";
import { Popover } from "./popover";
import { type Trouble, troubleOf } from "./server";

const MOST = 1_000_000; // numbers in a table that a spreadsheet opens
const SHARP = 2; // pixels of a PNG for each of the picture's

export function Export() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const trouble = useSignal<Trouble | null>(null);
  const id = session.shown.value?.id ?? "";
  const { view, kind, layer, heads } = store.selection.value;
  const kept = VIEWS.some(({ id: one }) => one === view) ? view : "heads"; // a page has no server
  const name = (session.shown.value?.model ?? "regard").replace(/.*\//, "").replace(/[^\w.-]+/g, "-");
  const drawn = store.view.picture !== undefined;
  const offered: [string, Key, boolean, () => Promise<void> | void][] = [
    [
      "page",
      "exportPage",
      id !== "",
      () => fetched(api.pageFile(id, { view: kept, kind, layer, heads }), `${name}.html`),
    ],
    ["picture", "exportPicture", drawn, () => savePicture(store, document)],
    ["png", "exportPng", drawn, () => savePng(store)],
    [
      "numbers",
      "exportNumbers",
      store.rows.value.count * store.columns.value.count <= MOST,
      () => saveNumbers(store),
    ],
    ["trace", "exportTrace", id !== "", () => fetched(api.traceFile(id), `${name}.safetensors`)],
  ];
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

/** The map of the head that is looked at, as weights or contributions: queries down, keys across. */
function saveNumbers(store: Store): void {
  const lens = store.lens(store.lead);
  const rows = [["", ...lens.columns.labels]];
  for (const [p, label] of lens.rows.labels.entries()) rows.push([label, ...Array.from(lens.row(p), String)]);
  const text = rows.map((row) => row.map(quoted).join(",")).join("\r\n");
  const { kind, layer } = store.site.value;
  const content = new Blob(["\ufeff", text, "\r\n"], { type: "text/csv" });
  download(`regard-${kind}-layer${layer}-head${store.lead}.csv`, content, document);
}

const quoted = (cell: string): string => (/[",\r\n]/.test(cell) ? `"${cell.replace(/"/g, '""')}"` : cell);
