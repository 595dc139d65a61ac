// In the inspector: the answer for the look that is pinned, where the reader asked for it.

import "./why.css";
import { type Look, sameLook } from "../../state/edges";
import { sentenceOf, useSession, useTell } from "../context";
import { Shares } from "./shares";

export function WhyThere({ look }: { look: Look }) {
  const session = useSession();
  const tell = useTell();
  const { why } = session;
  if (!why.asked.value.some((one) => sameLook(one, look))) return null;
  const found = why.answer(look);
  const trouble = why.trouble.value && sameLook(why.trouble.value.look, look) ? why.trouble.value : null;
  const special = session.ask.value.off.length + session.ask.value.cut.length > 0;
  return (
    <details class="app-why" open data-why={found ? "found" : trouble ? "trouble" : "pending"}>
      <summary>{tell("whyTitle")}</summary>
      {trouble && (
        <p class="app-trouble" role="alert">
          {sentenceOf(trouble, tell)}{" "}
          <button type="button" class="plain" onClick={() => why.again(session.ask.peek())}>
            {tell("again")}
          </button>
        </p>
      )}
      {special && <p class="app-note">{tell("whyOffNote")}</p>}
      {found && <Shares look={look} found={found} />}
      {!found && !trouble && (
        <p class="app-note" role="status" aria-busy="true">
          {tell("whyPending", { head: `${look.layer}.${look.head}` })}
        </p>
      )}
    </details>
  );
}
