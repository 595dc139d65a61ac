// In the inspector: the parts that made a look, as signed bars, and how far they can be trusted.

import { bare } from "../../compute/axis";
import { decimals, figure, SIGNS, withSign } from "../../marks/scales";
import type { Look } from "../../state/edges";
import { useSession, useTell } from "../context";
import type { Why, WhyComponent, WhySide } from "../records";
import { brought, isInduction, partName, placed, reason } from "./sentences";

/** The answer to one question. */
export function Shares({ look, found }: { look: Look; found: Why }) {
  const tell = useTell();
  const { key, query, visible: count, centred, sum, score, error } = found;
  const name = placed(query.token, query.position);
  return (
    <>
      <p data-why-reason>{(centred > 0 && brought(key, tell)) || reason(found, tell)}</p>
      {isInduction(found) && <p>{tell("whyActs", { head: found.head.name, token: bare(query.token) })}</p>}
      <h3>{tell("whyKeySide", { token: placed(key.token, key.position) })}</h3>
      <Bars side={key} kind={look.kind} />
      <p class="app-note">{tell("whyBars", { count, query: name, total: withSign(centred) })}</p>
      <details>
        <summary>{tell("whyQuerySide", { token: name })}</summary>
        <Bars side={query} kind={look.kind} />
      </details>
      <p class="app-note" data-why-sum={sum}>
        {tell("whySum", { sum: figure(sum, 4), score: figure(score, 4), error: figure(error, 1) })}{" "}
        {tell("whyFrozen")}
      </p>
      <Check look={look} found={found} />
    </>
  );
}

/** Bars of both signs on one scale; what is left over is grey. */
function Bars({ side, kind }: { side: WhySide; kind: string }) {
  const tell = useTell();
  const { components, rest, position } = side;
  const all = [...components.map(({ centred }) => centred), rest.centred];
  const low = Math.min(0, ...all);
  const span = Math.max(0, ...all) - low || 1;
  const at = (value: number) => `${(100 * (value - low)) / span}%`;
  const bar = (value: number, colour: string) => (
    <span class="bars" aria-hidden="true">
      <i
        style={{
          left: at(Math.min(0, value)),
          width: `${(100 * Math.abs(value)) / span}%`,
          background: colour,
        }}
      />
      <b style={{ left: at(0) }} />
    </span>
  );
  return (
    <ol class="app-bars app-parts">
      {components.map((part) => (
        <li key={`${part.attention} ${part.name}`} data-part={part.name} data-share={part.centred}>
          <span class="name">
            <Part part={part} position={position} kind={kind} />
          </span>
          {bar(part.centred, part.centred < 0 ? SIGNS.negative : SIGNS.positive)}
          <span class="number" title={String(part.centred)}>
            {withSign(part.centred)}
          </span>
        </li>
      ))}
      <li data-part="rest">
        <span class="name quiet">{tell("whyOthers", { count: rest.count })}</span>
        {bar(rest.centred, "var(--quiet)")}
        <span class="number" title={String(rest.centred)}>
          {withSign(rest.centred)}
        </span>
      </li>
    </ol>
  );
}

/** The name of a part; a head's leads to it, and to the token it read. */
function Part({ part, position, kind }: { part: WhyComponent; position: number; kind: string }) {
  const session = useSession();
  const tell = useTell();
  const { attention, layer, head, sources } = part;
  const [source] = sources;
  if (part.kind !== "head" || layer === null || head === null || !source) return <>{partName(part, tell)}</>;
  const look = { kind: attention ?? kind, layer, head, query: position, key: source.position };
  return (
    <>
      <button
        type="button"
        class="link"
        title={tell("whyOpenHint", { head: part.name })}
        onClick={() => session.openLook(look)}
      >
        {part.name}
      </button>{" "}
      <span class="quiet" title={tell("whySource", { token: placed(source.token, source.position) })}>
        ← {placed(source.token, source.position)}
      </span>
    </>
  );
}

/** Whether removing parts for real ranks them alike. */
function Check({ look, found }: { look: Look; found: Why }) {
  const session = useSession();
  const tell = useTell();
  const { agreement } = found.key;
  if (session.why.checking.value) return <p class="app-note">{tell("whyChecking")}</p>;
  if (!agreement)
    return (
      <button
        type="button"
        class="action small"
        data-do="why-check"
        title={tell("whyCheckHint")}
        onClick={() => session.why.check(session.ask.peek(), look)}
      >
        {tell("whyCheck")}
      </button>
    );
  const { parts, spearman, first, fall } = agreement;
  return (
    <p class="app-note" role="status" data-why-agreement={spearman}>
      {spearman === null
        ? tell("whyAgreesNot", { parts })
        : tell("whyAgrees", { parts, value: decimals(spearman, 2) })}
      {fall > 0 && tell("whyFalls", { part: partName(first, tell), fall: figure(fall, 2) })}
    </p>
  );
}
