// Beside what the model says: the same question, asked after every layer.

import "./lens.css";
import { useEffect, useRef } from "preact/hooks";
import { bare } from "../../compute/axis";
import { figure } from "../../marks/scales";
import { sentenceOf, useSession, useTell } from "../context";
import type { Lens } from "../records";

const small = (share: number): string => (share > 0 && share < 0.001 ? "<0.001" : figure(share, 2));

/** A button, and the table once it was asked for. */
export function LensPanel() {
  const { lens } = useSession();
  const tell = useTell();
  const open = lens.open.value;
  const trouble = lens.trouble.value;
  return (
    <div class="app-lens" data-lens={open ? (lens.found.value ? "found" : "pending") : "closed"}>
      <button
        type="button"
        class="action"
        data-do="lens"
        aria-expanded={open}
        title={tell("lensHint")}
        onClick={() => {
          lens.open.value = !open;
        }}
      >
        {tell(open ? "lensClose" : "lensAsk")}
      </button>
      {open && trouble && (
        <p class="app-trouble" role="alert">
          {sentenceOf(trouble, tell)}
        </p>
      )}
      {open && !trouble && !lens.found.value && (
        <p class="app-note" role="status" aria-busy="true">
          {tell("lensPending")}
        </p>
      )}
      {open && lens.found.value && <Layers found={lens.found.value} working={lens.working.value} />}
    </div>
  );
}

/** One line for each state: its likeliest word, and the place of the model's answer. */
function Layers({ found, working }: { found: Lens; working: boolean }) {
  const tell = useTell();
  const answer = bare(found.answer.token);
  const all = found.rows.length - 1;
  const leads = found.leads ? "lensLeads" : "lensAtOnce";
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const row = box.current?.querySelector<HTMLElement>(`[data-layers="${found.leads}"]`);
    if (box.current && row) box.current.scrollTop = row.offsetTop - box.current.clientHeight / 2;
  }, [found]);
  return (
    <div aria-busy={working}>
      <h4>{tell("lensTitle")}</h4>
      <p class="app-note" data-leads={found.leads}>
        {tell(leads, { answer, layers: found.leads, all })}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it */}
      <section class="scroll" ref={box} tabIndex={0} aria-label={tell("lensTitle")}>
        <table>
          <thead>
            <tr>
              <th scope="col">{tell("lensLayers")}</th>
              <th scope="col">{tell("lensFirst")}</th>
              <th scope="col">{tell("lensShare")}</th>
              <th scope="col">
                <bdi>{tell("lensAnswer", { answer })}</bdi>
              </th>
              <th scope="col">{tell("lensRank")}</th>
            </tr>
          </thead>
          <tbody>
            {found.rows.map(({ layers, words: [first], rank, probability }) => (
              <tr key={layers} data-layers={layers} class={layers >= found.leads ? "led" : ""}>
                <th scope="row">{layers}</th>
                <td class="name" title={first.token}>
                  <bdi>{bare(first.token)}</bdi>
                </td>
                <td class="number">{small(first.probability)}</td>
                <td class="number share" style={{ "--share": `${100 * probability}%` }}>
                  {small(probability)}
                </td>
                <td class="number">{rank + 1}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="app-note">{tell("lensNote")}</p>
    </div>
  );
}
