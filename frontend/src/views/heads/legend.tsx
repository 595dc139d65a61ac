// What colour and strength of a line mean, with swatches.

import { restOf } from "../../data/report";
import { quantityOf, sayIn, useQuantity, useSay, useStore } from "../../frame/context";
import { foldSentence } from "../../frame/folds";
import { placeFor, whoseOf } from "../../frame/report";
import { FADED, opacityOn, strengthOf } from "../../marks/columns";
import { strengthEntries, strengths, swatches } from "../../marks/legend";
import type { Pen } from "../../marks/pen";
import { palette, percent, signed, type Theme } from "../../marks/scales";
import type { Store } from "../../state/store";
import type { Key } from "../../words";
import { coloursOf, cutIn, focusOf, restingPlaces, type Scene, signColours, together } from "./scene";

export function Legend({ scene, sentence = false }: { scene: Scene; sentence?: boolean }) {
  const store = useStore();
  const tell = useSay();
  const quantity = useQuantity();
  const { count, top, left } = scene.links;
  const many = together(scene);
  const { layer } = store.site.value;
  return (
    <div class="legend">
      <p>
        {tell(phraseOf(scene, sentence), {
          what: cutIn(store, scene) ? tell("quantityBeforeCut", { what: quantity }) : quantity,
          count: scene.heads.length,
        })}
        {store.site.value.kind === "cross" && ` ${tell("legendCross")}`}
        {many && sentence && ` ${tell("legendMany", { count: scene.heads.length })}`}
        {many && <span class="listed"> {scene.heads.map((head) => `${layer}.${head}`).join(" ")}</span>}
        {foldSentence(store) && ` ${foldSentence(store)}`}
        {sentence && focusOf(store, scene) && ` ${tell("legendPale")}`}
        {left && !sentence && ` ${tell("legendLeft", { count })}`}
      </p>
      <span class="swatches">
        {scene.signed ? (
          <Signs scene={scene} />
        ) : (
          <Strengths top={top} colours={coloursOf(scene, store.theme.value)} />
        )}
        <Resting scene={scene} />
      </span>
    </div>
  );
}

function phraseOf(scene: Scene, sentence: boolean): Key {
  if (sentence) return scene.signed ? "legendSentenceWorth" : "legendSentence";
  if (together(scene)) return scene.signed ? "legendTogetherWorth" : "legendTogether";
  if (scene.signed) return "legendHeadsWorth";
  return scene.heads.length > 1 ? "legendHeads" : "legendOne";
}

/** Lines that help, that hurt and that only an exact cut tells of, each with its worth. */
function signEntries(scene: Scene, theme: Theme): { colour: string; alpha: number; value: number }[] {
  const { top, weight, count } = scene.links;
  const [helps, hurts, unknown] = signColours(theme);
  const values = [-top, -top / 10, top / 10, top].filter((value) => value);
  const unsure = weight.subarray(0, count).some(Number.isNaN);
  return [
    ...values.map((value) => ({
      colour: value < 0 ? hurts : helps,
      alpha: opacityOn(theme, strengthOf(value, top)),
      value,
    })),
    ...(unsure ? [{ colour: unknown, alpha: strengthOf(Number.NaN, top), value: Number.NaN }] : []),
  ];
}

function Signs({ scene }: { scene: Scene }) {
  const store = useStore();
  const tell = useSay();
  const entries = signEntries(scene, store.theme.value);
  const text = (value: number) => (Number.isNaN(value) ? tell("exactOnly") : signed(value));
  return (
    <span
      class="strengths"
      role="img"
      aria-label={tell("swatches") + tell("colon") + entries.map(({ value }) => text(value)).join(", ")}
    >
      {entries.map(({ colour, alpha, value }) => (
        <span key={value}>
          <i
            class={Number.isNaN(value) ? "dashed" : ""}
            style={{ [Number.isNaN(value) ? "color" : "background"]: colour, opacity: alpha }}
          />
          {text(value)}
        </span>
      ))}
    </span>
  );
}

/** Lines of a few strengths, each with its weight. */
function Strengths({ top, colours }: { top: number; colours: string[] }) {
  const tell = useSay();
  const theme = useStore().theme.value;
  const values = strengths(top);
  const colour = colours.length === 1 ? colours[0] : "currentColor";
  return (
    <span
      class="strengths"
      role="img"
      aria-label={tell("swatches") + tell("colon") + values.map(([, text]) => text).join(", ")}
    >
      {values.map(([value, text]) => (
        <span key={value}>
          <i style={{ background: colour, opacity: opacityOn(theme, strengthOf(value, top)) }} />
          {text}
        </span>
      ))}
    </span>
  );
}

/** What grey lines are. */
function Resting({ scene }: { scene: Scene }) {
  const text = restingText(useStore(), scene);
  if (!text) return null;
  return (
    <span data-resting>
      <i class="grey" />
      {text}
    </span>
  );
}

/** Where the heads rest and, of one head, for how much of its attention; null where nothing can be rested on. */
function restingText(store: Store, scene: Scene): string | null {
  const tell = sayIn(store);
  const places = restingPlaces(scene).map((place) => place || tell("first"));
  if (!places.length) return null;
  const [head] = scene.heads;
  const cell = { site: store.site.value, head };
  const rest = scene.heads.length === 1 ? restOf(cell, store.look.value.contributions) : null;
  const said = {
    places: places.join(tell("listed")),
    place: rest ? placeFor(tell, rest.place) : "",
    share: rest ? percent(rest.share) : "",
    whose: whoseOf(store, cell.site, tell),
  };
  return tell(rest ? "legendRestShare" : "legendRest", said);
}

/** The same in a saved picture: strengths, and the colours of the heads; returns the height. */
export function legendPicture(pen: Pen, store: Store, scene: Scene, width: number): number {
  const high = swatchesPicture(pen, store, scene, width);
  const folded = foldSentence(store);
  if (!folded) return high;
  const colour = palette(store.theme.value).quiet;
  pen.text(0, high + FOLDED / 2, folded, { colour, size: 11, mono: false });
  return high + FOLDED;
}

const FOLDED = 18; // height of the sentence about folded segments

function swatchesPicture(pen: Pen, store: Store, scene: Scene, width: number): number {
  const tell = sayIn(store);
  const colours = palette(store.theme.value);
  if (scene.signed) {
    const entries = signEntries(scene, store.theme.value).map(({ value, ...ink }) => ({
      ...ink,
      text: Number.isNaN(value) ? tell("exactOnly") : signed(value),
    }));
    return 10 + swatches(pen, 10, width, entries, quantityOf(store), colours);
  }
  const own = coloursOf(scene, store.theme.value);
  const resting = restingText(store, scene);
  const strong = [
    ...strengthEntries(scene.links.top, own.length === 1 ? own[0] : colours.ink, store.theme.value),
    ...(resting ? [{ colour: colours.quiet, alpha: FADED, text: resting }] : []),
  ];
  const high = swatches(pen, 10, width, strong, quantityOf(store), colours);
  if (own.length === 1) return 10 + high;
  const { layer } = store.site.value;
  const heads = scene.heads.map((head, h) => ({ colour: own[h], text: `${layer}.${head}` }));
  return 10 + high + swatches(pen, 10 + high, width, heads, tell("headAxis"), colours);
}
