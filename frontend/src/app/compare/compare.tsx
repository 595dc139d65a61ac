// Two inputs, two models, or a model with and without some of its heads: one head of each, and the difference.

import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { run, superseded } from "../../compute/jobs";
import { largest } from "../../data/report";
import { isHere, type Page, type Site } from "../../data/wire";
import { type Say, useSay, useStore } from "../../frame/context";
import { Choice, OneHead } from "../../frame/controls";
import type { Store } from "../../state/store";
import { together } from "../../words";
import type { With } from "../address";
import { sentenceOf, useSession, useTell } from "../context";
import { Field } from "../header";
import type { Session } from "../session";
import { ByHead } from "./byhead";
import { compared, type Difference } from "./difference";
import { distances } from "./distances";
import { Most, Verdict } from "./most";
import { Panels } from "./panels";
import { type Heads, LOOK, lensOf, siteIn } from "./sides";

export function Compare() {
  const session = useSession();
  const store = useStore();
  const heads = useHeads(session, store);
  const found = useSignal<(Heads & { difference: Difference }) | null>(null);
  useSignalEffect(() => {
    const pair = heads.value;
    if (!pair) return undefined;
    const abort = new AbortController();
    run(compared(pair.a, pair.b), abort.signal).then(
      (difference) => {
        found.value = { ...pair, difference };
      },
      (error) => {
        if (!superseded(error)) throw error;
      },
    );
    return () => abort.abort();
  });
  const shown = session.comparison.other.value ? found.value : null;
  const every = useDistances(session, store);
  useSignalEffect(() => {
    const most = every.value.size ? largest(every.value) : null;
    const [layer, head] = (most?.head ?? "").split(".").map(Number);
    if (most && most.value > 0) session.suggest({ kind: store.selection.peek().kind, layer, head });
  });
  return (
    <section class="app-compare">
      <Chosen />
      <div class="controls">
        <OneHead />
        <OtherHead />
      </div>
      <Obstacle />
      <div class={session.comparison.working.value || session.working.value ? "app-sides busy" : "app-sides"}>
        {shown && (
          <>
            <Verdict {...shown} every={every.value} />
            <Panels {...shown} />
            <ByHead every={every.value} />
            <Most {...shown} />
          </>
        )}
      </div>
    </section>
  );
}

function useHeads(session: Session, store: Store): { value: Heads | null } {
  const fetched = useSignal(0); // counts layers of a long trace that came
  return useComputed(() => {
    fetched.value;
    const other = session.comparison.other.value;
    const { layer, head } = session.ask.value.other;
    if (!other) return null;
    const { kind, layer: own } = store.selection.value;
    const site = siteIn(other.page, kind, layer ?? own);
    if (!site) return null;
    if (!isHere(site)) {
      session.weights(other, site, true).then(
        () => fetched.value++,
        () => {},
      );
      return null;
    }
    const a = store.lenses.of(store.site.value, store.site.value.heads.indexOf(store.lead), LOOK);
    return { a, b: lensOf(other.page, site, head ?? store.lead) };
  });
}

/** How much every head of the model differs, where A and B are the same model. */
function useDistances(session: Session, store: Store): { value: ReadonlyMap<string, number> } {
  const found = useSignal<ReadonlyMap<string, number>>(new Map());
  useSignalEffect(() => {
    const other = session.comparison.other.value;
    const { kind } = store.selection.value;
    if (!other || session.ask.value.other.with === "model") {
      found.value = new Map();
      return undefined;
    }
    const abort = new AbortController();
    run(distances(store.page, other.page, kind), abort.signal, 8).then(
      (map) => {
        found.value = map;
      },
      (error) => {
        if (!superseded(error)) throw error;
      },
    );
    return () => abort.abort();
  });
  return found;
}

/** What it is compared with. */
function Chosen() {
  const session = useSession();
  const tell = useTell();
  const { other, off } = session.ask.value;
  const options = (["text", "model", "on"] as const).map((one) => [one, tell(`with_${one}`)] as const);
  return (
    <div class="app-with">
      <span>{tell("compareWith")}</span>
      <Choice<With>
        label={tell("compareWith")}
        value={other.with}
        options={options}
        choose={(value) => session.changeOther({ with: value, layer: null, head: null })}
      />
      {other.with === "text" && <OtherText />}
      {other.with === "model" && <OtherModel />}
      {other.with === "on" && !off.length && <span class="app-note">{tell("withHint_on")}</span>}
    </div>
  );
}

function OtherText() {
  const session = useSession();
  const tell = useTell();
  const { other } = session.ask.value;
  return (
    <span class="app-inputs">
      <Field
        name="other-text"
        label={tell("otherText")}
        hint={tell("otherText")}
        value={other.text}
        set={(text) => session.changeOther({ text })}
      />
      {session.model.value?.about?.pair && (
        <Field
          name="other-pair"
          label={tell("otherPair")}
          hint={tell("pairHint")}
          value={other.pair}
          set={(pair) => session.changeOther({ pair })}
        />
      )}
    </span>
  );
}

function OtherModel() {
  const session = useSession();
  const tell = useTell();
  const { other } = session.ask.value;
  const own = session.model.value?.name;
  return (
    <label>
      <span class="unseen">{tell("with_model")}</span>
      <select
        value={other.model}
        data-control="other-model"
        onChange={(event) =>
          session.changeOther({ model: event.currentTarget.value, layer: null, head: null })
        }
      >
        <option value="">…</option>
        {(session.server.state.value?.models ?? [])
          .filter((one) => one.name !== own)
          .map((one) => (
            <option key={one.name} value={one.name}>
              {one.name}
            </option>
          ))}
      </select>
    </label>
  );
}

/** Which head of B; the same numbers unless somebody chooses. */
function OtherHead() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const page = session.comparison.other.value?.page;
  const { layer, head } = session.ask.value.other;
  if (!page) return null;
  const { kind } = store.selection.value;
  const sites = page.sites.filter((site) => site.kind === kind && site.part === 0);
  const value = layer === null || head === null ? "" : `${layer}.${head}`;
  const choose = (text: string) => {
    const [l, h] = text.split(".").map(Number);
    session.changeOther(text ? { layer: l, head: h } : { layer: null, head: null });
  };
  return (
    <label>
      {tell("otherHead")}{" "}
      <select value={value} data-control="other-head" onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{tell("sameHead")}</option>
        {sites.flatMap((site) =>
          site.heads.map((number) => (
            <option key={`${site.layer}.${number}`} value={`${site.layer}.${number}`}>
              {site.layer}.{number}
            </option>
          )),
        )}
      </select>
    </label>
  );
}

/** Why there is no difference, or what to know about it. */
function Obstacle() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const say = useSay();
  const trouble = session.comparison.trouble.value;
  if (trouble)
    return (
      <p class="app-trouble" role="alert" data-trouble={trouble.code}>
        {sentenceOf(trouble, tell)}
      </p>
    );
  const other = session.comparison.other.value;
  if (!other && session.comparison.working.value) return <p class="app-hint">{tell("working")}</p>;
  if (!other)
    return session.ask.value.other.with === "text" ? <p class="app-hint">{tell("compareNothing")}</p> : null;
  const { kind, layer } = store.selection.value;
  const site = siteIn(other.page, kind, layer);
  if (!site) return <p class="app-hint">{tell("noDifference_kind", { kind: kindName(kind, say) })}</p>;
  return (
    <p class="app-hint" data-compared>
      {together(...sentences(session, store, site, tell))}
    </p>
  );
}

const kindName = (kind: string, say: ReturnType<typeof useSay>): string =>
  kind === "encoder" || kind === "decoder" || kind === "cross" ? say(kind) : kind;

function sentences(session: Session, store: Store, site: Site, tell: Say): string[] {
  const { page } = session.comparison.other.value!;
  const own = store.site.value;
  const models = session.ask.value.other.with === "model" ? [tell("otherModels")] : [];
  const size = (from: Page, side: string) => from.sides.get(side)!.text;
  const pairs = [
    [size(store.page, own.query), size(page, site.query)],
    [size(store.page, own.key), size(page, site.key)],
  ];
  const uneven = pairs.find(([a, b]) => a.length !== b.length);
  if (uneven) return [tell("noDifference_tokens", { a: uneven[0].length, b: uneven[1].length }), ...models];
  const [mine, theirs] = pairs[0];
  const count = mine.filter((text, i) => text !== theirs[i]).length;
  return count ? [tell("otherWords", { count, all: mine.length }), ...models] : models;
}
