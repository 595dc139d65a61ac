// The story first: three heads that do something telling, each with its map and one sentence. A click opens the head.

import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Digest, digest } from "../compute/digest";
import { run, superseded } from "../compute/jobs";
import { type Cell, colourOf, telling } from "../data/report";
import { type Found, isHere } from "../data/wire";
import { samePlace } from "../state/selection";
import { type Say, useSay, useStore } from "./context";
import { SignButton } from "./controls";
import { doesFor, wordFor } from "./report";
import { paint } from "./small";
import "./story.css";

export function Story() {
  const store = useStore();
  const tell = useSay();
  const closed = useSignal(false);
  const { kind } = store.selection.value;
  const cells = store.page.sites
    .filter((site) => site.kind === kind)
    .flatMap((site) => site.heads.map((head) => ({ site, head })));
  const cards = telling(cells, store.look.value.contributions);
  if (closed.value || !cards.length) return null;
  return (
    <section class="story" aria-label={tell("story")}>
      {cards.map(({ cell, found }) => (
        <Card key={`${cell.site.layer}.${cell.site.part}.${cell.head}`} cell={cell} found={found} />
      ))}
      <SignButton
        sign="✕"
        words={tell("storyClose")}
        data-story="close"
        onClick={() => (closed.value = true)}
      />
    </section>
  );
}

function Card({ cell, found }: { cell: Cell; found: Found }) {
  const store = useStore();
  const tell = useSay();
  const { site, head } = cell;
  const open = () => {
    const best = found.evidence?.[0];
    store.set({
      view: store.pinning,
      kind: site.kind,
      layer: site.layer,
      part: site.part,
      heads: [head],
      queries: best ? [best[0]] : [],
      keys: [],
    });
  };
  const off = store.off.value.some((one) => samePlace(one, { kind: site.kind, layer: site.layer, head }));
  return (
    <button
      type="button"
      class={off ? "card off" : "card"}
      data-story={`${site.layer}.${head}`}
      style={{ "--name": colourOf(store.page, "pattern", found.name, store.theme.value) }}
      onClick={open}
    >
      <Small cell={cell} />
      <span>
        <b>
          {site.layer}.{head}
        </b>{" "}
        {doesFor(tell, found)}
        <small>{off ? tell("isOff") : evidenceOf(found, tell)}</small>
      </span>
    </button>
  );
}

const evidenceOf = ({ name, hits, rows, score }: Found, tell: Say): string =>
  hits === undefined || rows === undefined
    ? tell("storyLift", { lift: score.toFixed(2) })
    : [wordFor(tell, name).replace(/ ?[(（].*/u, ""), tell("storyCount", { hits, rows })].join(" · ");

/** The map of a head, small. */
function Small({ cell }: { cell: Cell }) {
  const store = useStore();
  const canvas = useRef<HTMLCanvasElement>(null);
  const { site, head } = cell;
  const look = store.plain.value;
  const theme = store.theme.value;
  useEffect(() => {
    if (!isHere(site)) return undefined;
    const abort = new AbortController();
    const lens = store.lenses.of(site, site.heads.indexOf(head), look);
    run(digest(lens, "sketch"), abort.signal, 12).then(
      (made: Digest) => {
        if (!canvas.current) return;
        paint(canvas.current, made, site, store);
        crisp(canvas.current);
      },
      (error) => {
        if (!superseded(error)) throw error;
      },
    );
    return () => abort.abort();
  }, [site, isHere(site), head, look, theme]);
  return (
    <span class="map">
      <canvas ref={canvas} aria-hidden="true" />
    </span>
  );
}

const SIDE = 38; // pixels that the longer side of a small map may take

/** Show a canvas so large that each of its pixels is a whole number of the screen's. */
function crisp(canvas: HTMLCanvasElement): void {
  const ratio = window.devicePixelRatio || 1;
  const times = Math.max(1, Math.floor((SIDE * ratio) / Math.max(canvas.width, canvas.height)));
  canvas.style.width = `${(canvas.width * times) / ratio}px`;
  canvas.style.height = `${(canvas.height * times) / ratio}px`;
}
