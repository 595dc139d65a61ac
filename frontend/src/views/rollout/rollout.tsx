// The roll-out: the text with what one position gets of it, and the largest shares beside it.

import { type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useRef } from "preact/hooks";
import { superseded } from "../../compute/jobs";
import { useSay, useStore } from "../../frame/context";
import { mark } from "../../frame/drawn";
import { Notice } from "../../frame/notice";
import { isTouch, useSeen } from "../../frame/scroller";
import { canvasPen, prepare } from "../../marks/pen";
import { together } from "../../words";
import { quoted } from "../../words/quoted";
import { Mixing } from "./mixing";
import { Ranked } from "./ranked";
import { findingOf, mostOf, plain, restingPlaces } from "./said";
import { drawText, scaleStops, textOf, useStage } from "./scene";
import { askedOf, type Shares, sharesOf } from "./shares";
import { reasonAgainst, type Steps, stepsKey, stepsOf } from "./steps";

export function Rollout() {
  const store = useStore();
  const tell = useSay();
  const steps = useSignal<Steps | null>(null);
  const busy = useSignal(false);
  const failed = useSignal(false);
  const against = useComputed(() => reasonAgainst(store));
  const key = useComputed(() => stepsKey(store));
  useSignalEffect(() => {
    key.value;
    if (against.value) return undefined;
    const abort = new AbortController();
    busy.value = true;
    failed.value = false;
    stepsOf(store, abort.signal).then(
      (found) => {
        steps.value = found;
        busy.value = false;
      },
      (error) => {
        if (!superseded(error) && !abort.signal.aborted) failed.value = true;
      },
    );
    return () => abort.abort();
  });
  const found = steps.value;
  if (against.value) return <Notice text={against.value} />;
  if (failed.value) return <Notice text={tell("rolloutFailed")} />;
  if (!found) return <div class="stage rollout" aria-busy="true" />;
  return <Rolled steps={found} busy={busy.value} />;
}

function Rolled({ steps, busy }: { steps: Steps; busy: boolean }) {
  const store = useStore();
  const tell = useSay();
  const lit = useSignal<number | null>(null);
  const shares = sharesOf(steps, askedOf(store, steps));
  useStage(store, () => ({ shares, steps }), [shares]);
  const word = quoted(plain(shares.axis.names[shares.position]));
  const finding = findingOf(store, shares, steps);
  const places = restingPlaces(store, shares);
  return (
    <div class={busy ? "stage rollout busy" : "stage rollout"} data-asked={shares.position}>
      <div class="rollout-said">
        <h2 dir="auto" data-finding={finding ? "" : undefined}>
          {finding ?? tell("rolloutAsk", { word, count: shares.layers })}
        </h2>
        <p class="quiet">
          {together(
            mostOf(store, shares),
            shares.even && tell(places ? "rolloutOneLeft" : "rolloutOne"),
            places && tell("rolloutGrey", { places }),
          )}
        </p>
      </div>
      <div class="rollout-parts">
        <div class="rollout-text">
          <div class="rollout-hint quiet">
            {shares.even && <Scale />}
            <p>{tell("rolloutHint")}</p>
          </div>
          <Text shares={shares} lit={lit} />
          <Mixing shares={shares} steps={steps} />
        </div>
        <Ranked shares={shares} lit={lit} />
      </div>
    </div>
  );
}

/** What the tints of the text mean: how many times an even share. */
function Scale() {
  const store = useStore();
  const tell = useSay();
  const stops = scaleStops(store.theme.value);
  return (
    <div class="rollout-scale" role="img" aria-label={tell("rolloutScale")}>
      <i style={{ background: `linear-gradient(to right, ${stops.join(", ")})` }} />
      {["½ ×", "1 ×", "2 ×"].map((text) => (
        <span key={text}>{text}</span>
      ))}
    </div>
  );
}

/** The text as text; its tokens are buttons over the picture. */
function Text({ shares, lit }: { shares: Shares; lit: Signal<number | null> }) {
  const store = useStore();
  const tell = useSay();
  const scroller = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useSeen(scroller);
  const drawn = useSignal(shares);
  drawn.value = shares;
  const { width, height, top } = box.value;
  const text = width ? textOf(shares, width, store.narrow.value, isTouch() ? 24 : 0) : null;
  useSignalEffect(() => {
    const { width, height, top } = box.value;
    if (!width) return;
    const pen = canvasPen(prepare(canvas.current!, width, height));
    const set = textOf(drawn.value, width, store.narrow.value, isTouch() ? 24 : 0);
    drawText(pen, store, drawn.value, set, { top, height }, lit.value);
    mark("regard:drawn");
  });
  const near = text?.words.filter(({ y }) => y > top - 100 && y < top + (height || 600) + 100) ?? [];
  const high = text ? Math.max(24, text.size * 1.5) : 0;
  return (
    <div class="scroller flow" ref={scroller} onPointerLeave={() => (lit.value = null)}>
      <div class="run" style={{ height: `${text?.height ?? 200}px` }}>
        <div class="sheet">
          <canvas ref={canvas} aria-hidden="true" />
        </div>
        <fieldset>
          <legend class="unseen">{tell("rolloutHint")}</legend>
          {near.map(({ position, x, y, width }) => (
            <button
              key={position}
              type="button"
              class="token"
              dir="auto"
              data-position={position}
              aria-label={tell("rolloutToken", {
                index: shares.axis.starts[position],
                text: shares.axis.labels[position],
              })}
              aria-pressed={position === shares.position}
              onPointerEnter={() => (lit.value = position)}
              onFocus={() => (lit.value = position)}
              onBlur={() => (lit.value = null)}
              onClick={() => store.set({ queries: [shares.axis.starts[position]] })}
              style={{ left: `${x}px`, top: `${y - high / 2}px`, width: `${width}px`, height: `${high}px` }}
            />
          ))}
        </fieldset>
      </div>
    </div>
  );
}
