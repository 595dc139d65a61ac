// Below the view, as long as something is cut: the cut beside random ones, and what the model says before and after.

import { isKey } from "../../words";
import { useSession, useTell } from "../context";
import type { Cut } from "../records";
import { isSame, placed, SaidRows } from "../saying";
import { Strip } from "./strip";

const SHOWN = 6; // words that are listed

export function CutBelow() {
  const session = useSession();
  const { found, fresh } = session.cuts;
  if (!session.ask.value.cut.length || session.saved.value !== null || !found.value) return null;
  const compared = found.value.control !== null && found.value.control.changes.length > 0;
  const says = found.value.about !== "hidden states" && found.value.rows.length > 0; // its sentence says it all
  if (!compared && !says) return null;
  return (
    <section class="app-below app-cut-below" aria-busy={!fresh.value} data-cut-below>
      {compared && <Compared found={found.value} />}
      {says && <Says found={found.value} />}
    </section>
  );
}

function Compared({ found }: { found: Cut }) {
  const tell = useTell();
  const size = Number(found.said[2]?.values.size ?? 1);
  const count = found.control!.changes.length;
  return (
    <div>
      <h3>{tell(size > 1 ? "cutStripMany" : "cutStrip", { count, size })}</h3>
      <Strip change={found.change} control={found.control} said={found.said} />
    </div>
  );
}

function Says({ found }: { found: Cut }) {
  const tell = useTell();
  const { rows, how, about } = found;
  const key = `about_${about}`;
  const token = placed(found.tokens, found.position);
  return (
    <div class="app-says">
      <h3>
        {tell("says")}
        <span>{isKey(key) ? tell(key, { token }) : about}</span>
      </h3>
      <SaidRows rows={rows} mode={how} score={about === "score"} moved most={SHOWN} wide />
      <p class="app-note">{tell(isSame(rows, how) ? "cutSame" : "cutGhost")}</p>
    </div>
  );
}
