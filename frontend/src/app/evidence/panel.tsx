// Beside what the model says: the sentences of the prompt that it came from, as tint over the text.

import "./evidence.css";
import { useEffect, useRef } from "preact/hooks";
import { told } from "../../frame/report";
import { figure } from "../../marks/scales";
import { isKey } from "../../words";
import { sentenceOf, useSession, useTell } from "../context";
import type { Evidence, EvidenceSentence } from "../records";
import { type Measure, measuresOf, piecesOf, ranked } from "./evidence";

const LISTED = 3; // sentences with their numbers and heads

/** A button, and the tinted prompt once it was asked for. */
export function EvidencePanel() {
  const { evidence } = useSession();
  const tell = useTell();
  const open = evidence.open.value;
  const found = evidence.found.value;
  const trouble = evidence.trouble.value;
  return (
    <div class="app-evidence" data-evidence={open ? (found ? "found" : "pending") : "closed"}>
      <button
        type="button"
        class="action"
        data-do="evidence"
        aria-expanded={open}
        title={tell("evidenceHint")}
        onClick={() => {
          evidence.open.value = !open;
        }}
      >
        {tell(open ? "evidenceClose" : "evidenceAsk")}
      </button>
      {open && trouble && (
        <p class="app-trouble" role="alert">
          {sentenceOf(trouble, tell)}
        </p>
      )}
      {open && !trouble && !found && (
        <p class="app-note" role="status" aria-busy="true">
          {tell("evidencePending")}
        </p>
      )}
      {open && found && <Found found={found} />}
    </div>
  );
}

function Found({ found }: { found: Evidence }) {
  const { evidence } = useSession();
  const tell = useTell();
  const measures = measuresOf(found);
  const by = measures.includes(evidence.by.value) ? evidence.by.value : measures[0];
  return (
    <>
      <h4>{tell("evidenceTitle", { answer: found.answer })}</h4>
      <fieldset>
        <legend class="app-note">{tell("evidenceBy")}</legend>
        {measures.map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="evidence-by"
              value={name}
              checked={name === by}
              onChange={() => {
                evidence.by.value = name;
              }}
            />{" "}
            {tell(`evidence_${name}`)}
          </label>
        ))}
      </fieldset>
      <Tinted found={found} by={by} />
      <p class="app-note">{tell(`evidenceMeans_${by}`)}</p>
      <ol>
        {ranked(found, by)
          .slice(0, LISTED)
          .map((one) => (
            <Sentence key={one.start} one={one} by={by} />
          ))}
      </ol>
      {found.notes.map((text, i) => {
        const { code, values } = found.coded[i];
        const kind = isKey(`note_${code}`) ? "note" : "caution";
        return (
          <p key={code} class="app-note" data-note={code}>
            {told(tell, kind, { text, code, values })}
          </p>
        );
      })}
      <p class="app-note">{tell("evidenceRows")}</p>
    </>
  );
}

/** The prompt, each token tinted by its score; the best sentence is underlined, and in sight. */
function Tinted({ found, by }: { found: Evidence; by: Measure }) {
  const tell = useTell();
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    const first = box.current?.querySelector<HTMLElement>(".best");
    if (box.current && first) box.current.scrollTop = first.offsetTop - box.current.clientHeight / 3;
  }, [found, by]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and keys must reach it
    <section class="tinted" ref={box} tabIndex={0} aria-label={tell("evidencePrompt")} dir="auto">
      {piecesOf(found, by).map(({ text, value, best }, i) =>
        value === null ? (
          text
        ) : (
          <mark
            key={i}
            class={[value < 0 ? "against" : "", best ? "best" : ""].filter(Boolean).join(" ")}
            style={{ "--t": Math.abs(value).toFixed(3) }}
          >
            {text}
          </mark>
        ),
      )}
    </section>
  );
}

/** A sentence, what it scores, and the heads that fetched it. */
function Sentence({ one, by }: { one: EvidenceSentence; by: Measure }) {
  const session = useSession();
  const tell = useTell();
  const show = (layer: number, head: number) => {
    const store = session.store.peek()!;
    store.set({ layer, heads: [head], ...(store.view.heads === "all" ? { view: store.pinning } : {}) });
  };
  return (
    <li data-sentence={one.start}>
      <q dir="auto">{one.text}</q>
      <span class="app-note">
        {tell(by === "worth" ? "evidenceNats" : "evidenceShare", {
          value: figure(one[by]!, 2),
          chance: figure(one.chance, 2),
        })}
      </span>
      {one.heads.length > 0 && (
        <span class="heads">
          <span class="app-note">{tell("evidenceHeads")}</span>
          {one.heads.map(({ name, attention }) => {
            const [layer, head] = name.match(/\d+/g)!.slice(-2).map(Number);
            return (
              <button
                key={name}
                type="button"
                class="plain"
                data-head={name}
                title={tell("evidenceHeadHint", { name, value: figure(attention, 2) })}
                onClick={() => show(layer, head)}
              >
                {name}
              </button>
            );
          })}
        </span>
      )}
    </li>
  );
}
