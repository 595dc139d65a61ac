// Below the view: lines back through the layers, from a look to the heads that led to it.

import "./why.css";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { useStore } from "../../frame/context";
import { followWidth } from "../../frame/scroller";
import { palette } from "../../marks/scales";
import { useSession, useTell } from "../context";
import type { Line } from "./chain";
import { chipAt, draw } from "./drawing";
import { ElementPen } from "./elements";
import type { Layout } from "./layout";
import { amountOf, clamped, layoutFor, letteredBy, save, sentenceOf, valuesOf } from "./picture";
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
  const answers = session.why.asked.value.flatMap((look) => session.why.answer(look) ?? []);
  return (
    <section class="app-below app-back" aria-label={tell("whyBack")} data-back={lines.length}>
      <header>
        <div role="status">
          {answers.map((found) => (
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
      <p class="app-note">{tell("whyBackHint")}</p>
    </section>
  );
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
