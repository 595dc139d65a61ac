// What the inspector says of one query and one key in the neuron view.

import { type Head, headOf } from "../../compute/attention";
import { attribution, mostOf, movers, participation, productOf, riseOf } from "../../compute/pairs";
import { useSay, useStore } from "../../frame/context";
import { decimals, figure, hundredths, withSign } from "../../marks/scales";
import type { Store } from "../../state/store";
import { together } from "../../words";
import { quoted } from "../../words/quoted";
import { bestOf, type Expanded, expand, LISTED, sees } from "./expanded";
import { partFor, scoreOf } from "./said";

type Pair = [query: number, key: number];

/** The pair under the pointer, or the last one pinned of the open query, or its best one. */
export function pairOf(store: Store): Pair | null {
  const { queries, pairs } = store.selection.value;
  const { key } = store.hover.value;
  const query = queries.at(-1);
  if (query === undefined) return pairs.at(-1) ?? null;
  if (key !== null) return [query, key];
  return pairs.filter(([own]) => own === query).at(-1) ?? [query, bestOf(store.lens(store.lead), query)];
}

/** Pin a pair, or let it go. */
export function togglePair(store: Store, query: number, key: number): void {
  const { pairs } = store.selection.peek();
  const rest = pairs.filter(([q, k]) => q !== query || k !== key);
  store.set({ pairs: rest.length < pairs.length ? rest : [...pairs, [query, key]] });
}

export function PairAbout() {
  const store = useStore();
  const tell = useSay();
  const pair = pairOf(store);
  const site = store.site.value;
  if (!pair || !site.q) return <p class="hint">{tell("chooseQuery")}</p>;
  const [query, key] = pair;
  const head = headOf(site, site.heads.indexOf(store.lead));
  const rise = riseOf(head, query, key);
  const shown = expand(store.lens(store.lead), query, false);
  const names = { query: quoted(store.rows.value.names[query]), key: quoted(store.columns.value.names[key]) };
  return (
    <section class="pair-about">
      <h3 dir="auto">{tell("cell", names)}</h3>
      {sees(shown, key) ? (
        <>
          <Rise shown={shown} keyToken={key} />
          <AttributionTable query={query} keyToken={key} />
          <Parts head={head} pair={pair} rise={rise} />
        </>
      ) : (
        <p>{tell("neverSeen", names)}</p>
      )}
    </section>
  );
}

interface RiseProps {
  shown: Expanded;
  keyToken: number;
}

/** How much the pair gets, and how few neurons make its score. */
function Rise({ shown, keyToken }: RiseProps) {
  const store = useStore();
  const tell = useSay();
  const share = hundredths(shown.weights[keyToken]);
  const gets = !store.look.value.contributions && tell("pairGets", { value: share });
  return <p data-rise>{together(gets, scoreOf(shown, keyToken, tell))}</p>;
}

/** The neurons that move the score most, as bars; their numbers are folded. */
function Parts({ head, pair: [query, key], rise }: { head: Head; pair: Pair; rise: Float32Array }) {
  const store = useStore();
  const tell = useSay();
  const d = rise.length;
  const products = productOf(head, query, key);
  const size = (c: number) => Math.abs(rise[c]);
  const pointed = store.hover.value.key === null ? null : store.neuron.value;
  const listed = movers(rise, LISTED);
  const longest = size(listed[0]);
  if (pointed !== null && !listed.includes(pointed)) listed[LISTED - 1] = pointed;
  const line = (c: number) => {
    const q = head.site.q!.part(head.index)[query * d + c];
    const k = q ? products[c] / q : 0;
    return tell("neuron", { index: c, q: figure(q, 2), k: figure(k, 2), p: figure(products[c], 2) });
  };
  return (
    <section class="ranking parts">
      <h3>
        {tell("neuronAdds", {
          value: withSign(
            rise.reduce((sum, x) => sum + x, 0),
            3,
          ),
        })}
      </h3>
      <ol>
        {listed.map((c) => (
          <li key={c} class={c === pointed ? "lit" : ""} title={line(c)}>
            <span>{c}</span>
            <span class="bar">
              <i
                class={rise[c] < 0 ? "negative" : "positive"}
                style={{ width: `${(100 * size(c)) / longest}%` }}
              />
            </span>
            <span class="value">{withSign(rise[c])}</span>
          </li>
        ))}
      </ol>
      <details>
        <summary>{tell("numbers")}</summary>
        <p>
          {tell("sumOf", { value: figure(products.reduce((sum, x) => sum + x, 0)) })}{" "}
          {tell("mostOfScore", { n: mostOf(products), d })}{" "}
          {tell("participation", { value: figure(participation(products), 2) })}
        </p>
        <ul class="plain-list">
          {listed.map((c) => (
            <li key={c}>{line(c)}</li>
          ))}
        </ul>
      </details>
    </section>
  );
}

function AttributionTable({ query, keyToken }: { query: number; keyToken: number }) {
  const store = useStore();
  const tell = useSay();
  const site = store.site.value;
  const table = attribution(headOf(site, site.heads.indexOf(store.lead)), query, keyToken);
  if (!table) return null;
  const most = Math.max(...table.values.flat());
  const places = Math.max(
    0,
    2 - Math.floor(Math.log10(Math.max(...table.values.flat().map(Math.abs), 1e-6))),
  ); // one for all
  return (
    <table class="attribution">
      <caption title={tell("attributionHint")} data-sum={table.sum}>
        {tell("attribution", { value: withSign(table.sum, 3) })}
      </caption>
      <thead>
        <tr>
          <th scope="col">q \ k</th>
          {table.columns.map((name) => (
            <th key={name} scope="col">
              {partFor(tell, name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {table.rows.map((name, a) => (
          <tr key={name}>
            <th scope="row">{partFor(tell, name)}</th>
            {table.values[a].map((value, b) => (
              <td
                key={table.columns[b]}
                class={`${value < 0 ? "negative" : "positive"}${value === most ? " most" : ""}`}
                title={String(value)}
              >
                {decimals(value, places)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
