// The view of a sound: what was heard as text, the spectrogram as time, and a row for every word.

import { type ReadonlySignal, type Signal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { run, superseded } from "../../compute/jobs";
import { useSay, useStore } from "../../frame/context";
import { mark } from "../../frame/drawn";
import { Notice } from "../../frame/notice";
import { useSeen } from "../../frame/scroller";
import { canvasPen, prepare } from "../../marks/pen";
import { together } from "../../words";
import { described, drawBack, drawFront, heightOf, layoutOf, pointedAt } from "./drawing";
import { Player } from "./player";
import {
  type Heard,
  heardKey,
  heardOf,
  hears,
  listeners,
  NOWHERE,
  type Pointed,
  pinnedIn,
  restTold,
  secondsOf,
  told,
  useStage,
} from "./scene";

export function Sound() {
  const store = useStore();
  const tell = useSay();
  const heard = useSignal<Heard | null>(null);
  const key = useComputed(() => heardKey(store));
  useSignalEffect(() => {
    key.value;
    if (!hears(store)) return undefined;
    const abort = new AbortController();
    run(heardOf(store), abort.signal).then(
      (found) => {
        heard.value = found;
      },
      (error) => {
        if (!superseded(error)) throw error;
      },
    );
    return () => abort.abort();
  });
  if (!hears(store)) return <Notice text={tell("soundWithin")} />;
  if (!heard.value) return <div class="stage sound" aria-busy="true" />;
  return <Listening heard={heard.value} />;
}

function Listening({ heard }: { heard: Heard }) {
  const store = useStore();
  const tell = useSay();
  const hover = useSignal<Pointed>(NOWHERE);
  const player = useMemo(() => new Player(heard.medium), [heard.medium]);
  useEffect(() => () => player.close(), [player]);
  const current = useSignal(heard);
  current.value = heard;
  const asked = useComputed<Pointed>(() => {
    const { frame, word } = hover.value;
    return { frame, word: word ?? (frame === null ? pinnedIn(store, current.value) : null) };
  });
  const pointed = asked.value;
  useStage(store, () => ({ heard: current.peek(), pointed: asked.peek() }), [current]);
  const [first, ...rest] = told(store, heard, pointed);
  const playing = player.at.value !== null;
  return (
    <div class="stage sound" data-words={heard.words.length} data-frames={heard.frames}>
      <div class="sound-said">
        <div data-told="" aria-live="polite">
          <p class="sound-lede" dir="auto">
            {first}
          </p>
          <p class="quiet sound-more">{together(...rest)}</p>
        </div>
        <div class="sound-heard">
          <button type="button" data-play="" onClick={() => (playing ? player.stop() : player.play())}>
            {playing ? `■ ${tell("soundStop")}` : `▶ ${tell("soundPlay")}`}
          </button>
          {player.failed.value && <span class="quiet">{tell("soundSilent")}</span>}
          {heard.words.length > 0 && <Words heard={heard} pointed={pointed} hover={hover} />}
        </div>
        <p class="quiet sound-more">
          {together(
            heard.words.length > 0 && tell("soundShifted"),
            tell("soundColours"),
            restTold(store, heard),
          )}
        </p>
      </div>
      <Picture heard={current} pointed={asked} hover={hover} player={player} />
    </div>
  );
}

/** The transcript: each token a button, tinted by how much it listens at the moment that is pointed at. */
function Words({ heard, pointed, hover }: { heard: Heard; pointed: Pointed; hover: Signal<Pointed> }) {
  const store = useStore();
  const pinned = pinnedIn(store, heard);
  const by = pointed.frame === null ? null : listeners(heard, pointed.frame);
  const most = by ? Math.max(...by, 1e-12) : 1;
  return (
    <p class="sound-words" onPointerLeave={() => (hover.value = NOWHERE)}>
      {heard.words.map((word, n) => (
        <button
          key={n}
          type="button"
          dir="auto"
          data-word={n}
          class={pointed.word === n ? "lit" : ""}
          aria-pressed={pinned === n}
          style={{ "--listens": String(by ? Math.round(100 * (by[n] / most)) / 100 : 0) }}
          onPointerEnter={() => (hover.value = { word: n, frame: null })}
          onFocus={() => (hover.value = { word: n, frame: null })}
          onBlur={() => (hover.value = NOWHERE)}
          onClick={() => store.set({ queries: pinned === n ? [] : [heard.rows[n]] })}
        >
          {word}
        </button>
      ))}
    </p>
  );
}

interface Pictured {
  heard: Signal<Heard>;
  pointed: ReadonlySignal<Pointed>;
  hover: Signal<Pointed>;
  player: Player;
}

/** Spectrogram, curve and rows; two canvases, of which one follows the pointer. */
function Picture({ heard, pointed, hover, player }: Pictured) {
  const store = useStore();
  const tell = useSay();
  const box = useRef<HTMLDivElement>(null);
  const back = useRef<HTMLCanvasElement>(null);
  const front = useRef<HTMLCanvasElement>(null);
  const seen = useSeen(box);
  const layout = () => layoutOf(heard.value, seen.value.width, store.narrow.value);
  useSignalEffect(() => {
    const { width } = seen.value;
    if (!width) return;
    const pen = canvasPen(prepare(back.current!, width, heightOf(heard.value, layout())));
    drawBack(pen, store, heard.value, layout());
    mark("regard:drawn");
  });
  // Drawn as soon as the pointer moves; what is written follows.
  useSignalEffect(() => {
    const { width } = seen.value;
    const { word, frame } = pointed.value;
    if (!width) return;
    const pen = canvasPen(prepare(front.current!, width, heightOf(heard.value, layout())));
    drawFront(pen, store, heard.value, layout(), pointed.value, player.at.value);
    if (word !== null || frame !== null) mark("regard:hover");
  });
  const at = (event: PointerEvent | MouseEvent): Pointed => {
    const { left, top } = front.current!.getBoundingClientRect();
    return pointedAt(heard.value, layout(), event.clientX - left, event.clientY - top);
  };
  const { frame } = pointed.value;
  const high = heightOf(heard.value, layoutOf(heard.value, seen.value.width || 600, store.narrow.value));
  return (
    <div class="sound-picture" ref={box} style={{ height: `${high}px` }}>
      <canvas ref={back} aria-hidden="true" />
      <canvas
        ref={front}
        role="img"
        aria-label={described(store, heard.value)}
        title={frame === null ? undefined : tell("soundFrom", { seconds: secondsOf(heard.value, frame) })}
        onPointerMove={(event) => {
          const next = at(event);
          const { word, frame } = hover.peek();
          if (next.word !== word || next.frame !== frame) hover.value = next;
        }}
        onPointerLeave={() => (hover.value = NOWHERE)}
        onClick={(event) => {
          const { frame } = at(event);
          if (frame !== null) player.play(frame * heard.value.step);
        }}
      />
    </div>
  );
}
