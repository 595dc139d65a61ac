// Below the view: lines back through the layers, from a look to the heads that led to it.

import "./why.css";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { type Say, useStore } from "../../frame/context";
import { followWidth } from "../../frame/scroller";
import { figure, palette } from "../../marks/scales";
import type { Look } from "../../state/edges";
import type { Store } from "../../state/store";
import { together } from "../../words";
import { useSession, useTell } from "../context";
import type { Why } from "../records";
import type { Session } from "../session";
import type { Line } from "./chain";
import { chipAt, draw } from "./drawing";
import { ElementPen } from "./elements";
import type { Layout } from "./layout";
import { amountOf, clamped, layoutFor, letteredBy, save, sentenceOf, shareOf, valuesOf } from "./picture";
import { reason } from "./sentences";

export function Back() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const holder = useRef<HTMLDivElement>(null);
  const width = useSignal(0);
  const lines = session.why.lines.value;
  const some = lines.length > 0 && session.saved.value === null;
  useEffect(() => (holder.current ? followWidth(holder.current, width) : undefined), [some]);
  const layout = some && width.value ? layoutFor(store, lines, width.value) : null;
  useEffect(() => {
    // On a phone it is below what is in sight.
    if (layout && store.narrow.peek()) holder.current?.closest("section")?.scrollIntoView({ block: "start" });
  }, [layout?.height]);
  if (!some) return null;
  const others = asked(session).filter(([look]) => !isShown(store, look));
  return (
    <section class="app-below app-back" aria-label={tell("whyBack")} data-back={lines.length}>
      <header>
        <div role="status">
          {others.map(([, found]) => (
            <p key={`${found.head.name} ${found.query.position}`}>{reason(found, tell)}</p>
          ))}
        </div>
        <span class="fill" />
        <button
          type="button"
          class="plain"
          data-do="why-save"
          onClick={() => layout && save(store, lines, layout, tell)}
        >
          {tell("whySave")}
        </button>
        <button type="button" class="plain" data-do="why-close" onClick={() => session.change({ why: [] })}>
          {tell("close")}
        </button>
      </header>
      <div class="app-back-scroll">
        <div class="app-back-drawing" ref={holder} style={{ height: `${layout?.height ?? 120}px` }}>
          {layout && (
            <>
              <Picture layout={layout} />
              <Names layout={layout} lines={lines} />
            </>
          )}
        </div>
      </div>
      <p class="app-note">{together(tell("whyBackHint"), pointsIn(lines, tell))}</p>
    </section>
  );
}

/** The looks that were asked about, with their answers as far as they are there. */
const asked = ({ why }: Session): (readonly [Look, Why])[] =>
  why.asked.value.flatMap((look) => {
    const found = why.answer(look);
    return found ? [[look, found] as const] : [];
  });

/** Whether a look is the one that the view shows. */
function isShown(store: Store, { kind, layer, head, query, key }: Look): boolean {
  const now = store.selection.value;
  const ends = now.queries.length === 1 && now.keys.length === 1;
  return ends && now.queries[0] === query && now.keys[0] === key && isHead(store, { kind, layer, head });
}

const isHead = (store: Store, { kind, layer, head }: Pick<Look, "kind" | "layer" | "head">): boolean =>
  store.place.kind === kind && store.place.layer === layer && store.place.head === head;

/** Why the look that is shown is there, if that was asked: the headline. Other reasons stand below the view. */
export function newsOfWhy(session: Session, store: Store | null, tell: Say): string | null {
  if (!store || session.saved.value !== null) return null;
  const [, found] = asked(session).find(([look]) => isShown(store, look)) ?? [];
  return found ? reason(found, tell) : null;
}

/** What the first number of a head says, in a sentence. */
function pointsIn(lines: readonly Line[], tell: Say): string {
  const line = lines.find(({ of }) => of !== null);
  if (!line || line.of === null) return "";
  const head = `${line.layer}.${line.head}`;
  return tell("whyPoints", { head, value: shareOf(line), all: figure(line.of, 2) });
}

/** The drawing as SVG elements. */
function Picture({ layout }: { layout: Layout }) {
  const store = useStore();
  const tell = useTell();
  const pen = new ElementPen();
  draw(pen, layout, letteredBy(store, tell), palette(store.theme.value));
  return (
    <svg width={layout.width} height={layout.height} aria-hidden="true">
      {pen.parts}
    </svg>
  );
}

/** The heads of the lines as buttons over the drawing: for pointers, keyboards and screen readers. */
function Names({ layout, lines }: { layout: Layout; lines: readonly Line[] }) {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const pending = session.why.trouble.value ? null : session.why.pending.value;
  return (
    <ol>
      {layout.arcs.map((arc) => {
        const line = lines[arc.line];
        const [x, y] = chipAt(arc);
        const values = valuesOf(store, line);
        return (
          <li key={arc.line} style={{ left: `${clamped(x, layout.width)}px`, top: `${y}px` }}>
            <button
              type="button"
              class="chip"
              data-line={`${values.head} ${line.query} ${line.key}`}
              title={tell("whyOpenHint", { head: values.head })}
              onClick={() => session.openLook(line)}
            >
              {values.head}
              {line.share !== null && <small> {amountOf(line, tell)}</small>}
              <span class="unseen">{sentenceOf(store, line, tell)}</span>
            </button>
            {!line.asked && (
              <button
                type="button"
                class="link"
                data-why-on={values.head}
                title={tell("whyGoOnHint", values)}
                aria-label={tell("whyGoOnHint", values)}
                disabled={pending !== null}
                onClick={() => session.askWhy(line)}
              >
                {tell("whyGoOn")}
              </button>
            )}
          </li>
        );
      })}
    </ol>
  );
}
