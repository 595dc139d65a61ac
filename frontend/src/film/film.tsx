// A film of training: all heads as small maps that change with the steps, and lines of what they learn.

import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { knownColour } from "../data/report";
import { shortFor, wordFor } from "../frame/report";
import { Switches } from "../frame/switches";
import { heat } from "../marks/heat";
import { figure } from "../marks/scales";
import type { Key } from "../words";
import { Lifts, Losses } from "./charts";
import { type Head, type Lift, nameOf, pixelsOf } from "./data";
import type { Projector } from "./state";

const LEVELS = 127; // the highest level of a small map
const TOLD = 3; // births that are told above the film

export function FilmView({ film }: { film: Projector }) {
  const { tell, theme, language } = film;
  useEffect(() => {
    const abort = new AbortController();
    document.addEventListener("keydown", (event) => onKey(event, film), { signal: abort.signal });
    return () => abort.abort();
  }, [film]);
  const { frames, about } = film.film;
  const steps = { first: comma(frames[0].step), last: comma(frames.at(-1)!.step) };
  return (
    <div class="regard film" data-theme={theme.value} lang={language.value}>
      <header class="head-bar">
        <strong>regard</strong>
        <span class="model">
          {tell("filmTitle", { model: about.model, frames: frames.length, ...steps })}
        </span>
        <span class="fill" />
        <span class="tools">
          <Switches {...{ language, theme, tell }} />
        </span>
      </header>
      <Born film={film} />
      <Controls film={film} />
      <main class="film-body">
        <section>
          <Grid film={film} />
          <Chosen film={film} />
          <p class="quiet">{tell("filmGrid")}</p>
        </section>
        <section>
          <Lifts film={film} />
          <Losses film={film} />
        </section>
      </main>
    </div>
  );
}

const comma = (step: number): string => step.toLocaleString("en");

function onKey(event: KeyboardEvent, film: Projector): void {
  if (event.target instanceof HTMLSelectElement || event.target instanceof HTMLInputElement) return;
  const moves: Record<string, () => void> = {
    ArrowLeft: () => film.go(film.at.value - 1),
    ArrowRight: () => film.go(film.at.value + 1),
  };
  if (event.key === " " && !(event.target instanceof HTMLButtonElement)) film.toggle();
  else if (moves[event.key]) moves[event.key]();
  else return;
  event.preventDefault();
}

/** What was born, in sentences; each leads to its head. */
function Born({ film }: { film: Projector }) {
  const { tell } = film;
  const { born } = film;
  const show = (at: number) => {
    film.pattern.value = born[at].name;
    film.kind.value = born[at].kind;
    film.head.value = film.place(born[at]);
  };
  if (!born.length) return <p class="film-born">{tell("filmUnborn")}</p>;
  return (
    <div class="film-born">
      {born.slice(0, TOLD).map((one, at) => (
        <button key={one.name} type="button" class="plain" data-born={one.name} onClick={() => show(at)}>
          {tell("filmBorn", {
            head: nameOf(one),
            does: tell(`does_${one.name}`),
            step: comma(one.step!),
            lift: liftText(one.lift, film),
          })}
        </button>
      ))}
    </div>
  );
}

function liftText([value, low, high]: Lift, { tell }: Projector): string {
  const ends =
    low === null || high === null
      ? ""
      : tell(low < 0 || high < 0 ? "filmFromTo" : "filmBetween", {
          low: figure(low, 2),
          high: figure(high, 2),
        });
  return figure(value, 2) + ends;
}

function Controls({ film }: { film: Projector }) {
  const { tell, frame } = film;
  const { step, loss } = frame.value;
  return (
    <div class="film-controls">
      <button
        type="button"
        class="film-play"
        data-play={film.playing.value}
        title={tell("filmKeys")}
        onClick={() => film.toggle()}
      >
        {film.playing.value ? "❚❚" : "▶"} {tell(film.playing.value ? "filmPause" : "filmPlay")}
      </button>
      <input
        type="range"
        min={0}
        max={film.film.frames.length - 1}
        value={film.at.value}
        aria-label={tell("filmSlider")}
        aria-valuetext={tell("filmStep", { step: comma(step) })}
        onInput={(event) => film.go(Number(event.currentTarget.value))}
      />
      <output>
        <b>{tell("filmStep", { step: comma(step) })}</b>
        {loss !== null && <span class="quiet"> · {tell("filmLoss", { loss: figure(loss, 3) })}</span>}
      </output>
      <Choice film={film} word="filmPattern" signal={film.pattern} options={film.patterns} prefix="name_" />
      {film.kinds.length > 1 && (
        <Choice film={film} word="filmKind" signal={film.kind} options={film.kinds} prefix="" />
      )}
    </div>
  );
}

interface ChoiceProps {
  film: Projector;
  word: Key;
  signal: { value: string };
  options: string[];
  prefix: "name_" | "";
}

function Choice({ film: { tell }, word, signal, options, prefix }: ChoiceProps) {
  return (
    <label class="film-choice">
      {tell(word)}{" "}
      <select value={signal.value} onChange={(event) => (signal.value = event.currentTarget.value)}>
        {options.map((name) => (
          <option key={name} value={name}>
            {tell(`${prefix}${name}` as Key)}
          </option>
        ))}
      </select>
    </label>
  );
}

/** All heads of a kind at this step. */
function Grid({ film }: { film: Projector }) {
  const heads = film.frame.value.heads.flatMap((head, i) =>
    head.kind === film.kind.value ? [{ head, i }] : [],
  );
  const layers = [...new Set(heads.map(({ head }) => head.layer))];
  const columns = Math.max(...heads.map(({ head }) => head.head)) + 1;
  return (
    <fieldset
      class="grid film-grid"
      style={{ gridTemplateColumns: `20px repeat(${columns}, minmax(0, 140px))` }}
    >
      {layers.map((layer) => (
        <>
          <span key={`layer ${layer}`} class="quiet">
            {layer}
          </span>
          {heads
            .filter(({ head }) => head.layer === layer)
            .map(({ head, i }) => (
              <Thumb key={i} film={film} head={head} place={i} />
            ))}
        </>
      ))}
    </fieldset>
  );
}

function Thumb({ film, head, place }: { film: Projector; head: Head; place: number }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const theme = film.theme.value;
  const [name] = head.names;
  useLayoutEffect(() => {
    if (!head.shape || !canvas.current) return;
    const { levels, rests } = pixelsOf(head);
    heat(canvas.current, levels, ...head.shape, LEVELS, false, theme, rests);
  }, [head, theme]);
  return (
    <button
      type="button"
      class="thumb"
      data-head={nameOf(head)}
      aria-pressed={film.head.value === place}
      aria-label={`${nameOf(head)} ${name ? wordFor(film.tell, name) : film.tell("filmNone")}`}
      style={name ? { "--name": knownColour(name, theme) } : {}}
      onClick={() => (film.head.value = place)}
    >
      <span class="rest">
        <i style={{ height: `${100 * (head.rest ?? 0)}%` }} />
      </span>
      <span class="map">{head.shape && <canvas ref={canvas} />}</span>
      <span class="label">{name ? shortFor(film.tell, name) : ""}</span>
    </button>
  );
}

/** What the chosen head does at this step. */
function Chosen({ film }: { film: Projector }) {
  const { tell } = film;
  const head = film.frame.value.heads[film.head.value];
  const pattern = film.pattern.value;
  const lift = head.lifts[pattern];
  const parts = [
    head.names.length ? head.names.map((name) => wordFor(tell, name)).join(", ") : tell("filmNone"),
    lift && tell("filmLift", { pattern: wordFor(tell, pattern), lift: liftText(lift, film) }),
    head.rest !== null && tell("filmRests", { share: figure(head.rest, 2) }),
  ];
  return (
    <p class="film-chosen" aria-live={film.playing.value ? "off" : "polite"}>
      <strong>{tell("filmHead", { head: nameOf(head) })}</strong> · {parts.filter(Boolean).join(" · ")}
    </p>
  );
}
