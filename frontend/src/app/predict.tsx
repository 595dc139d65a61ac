// Which words predict which: asked on request, since the model runs once per token, or once per pair of them.

import { measureOf } from "../data/report";
import { useStore } from "../frame/context";
import { useSession, useTell } from "./context";

const NAME = "predictive word";

export function Predict() {
  const session = useSession();
  const store = useStore();
  const tell = useTell();
  const { about } = session.model.value ?? {};
  const shown = session.shown.value;
  if (!about?.predictive || !shown || session.saved.value !== null) return null;
  if (shown.predictive) return <Answered />;
  const [{ text }] = store.page.sides.values();
  const most = session.server.state.value?.limits.predictive ?? 0;
  const long = text.length > most;
  const count = runsOf(text.length, about.generate).toLocaleString("en");
  return (
    <section class="app-predict">
      <button
        type="button"
        class="action"
        data-do="predict"
        disabled={long || session.working.value}
        onClick={() => session.predict()}
      >
        {tell("predict")}
      </button>
      <p class="app-note">{long ? tell("predictLong", { most }) : tell("predictHint", { count })}</p>
    </section>
  );
}

/** How many heads look at the words that predict, and how much the chosen one does, once their report is there. */
function Answered() {
  const store = useStore();
  const tell = useTell();
  const all = store.page.sites.flatMap(({ patterns }) => patterns ?? []);
  if (!all.length) return null;
  const count = all.filter((found) => found.some(({ name }) => name === NAME)).length;
  const share = measureOf(store.pointed.value ?? { site: store.site.value, head: store.lead }, NAME);
  return (
    <p class="app-note" role="status" data-predicted={count}>
      {tell(count ? "predicted" : "predictedNone", { count, heads: all.length })}{" "}
      {share !== null && tell("predictedShare", { share: share.toFixed(2) })}
    </p>
  );
}

/** How often the model runs for so many tokens: for each that is cut, or for each and each pair that is masked. */
export const runsOf = (tokens: number, causal: boolean): number =>
  causal ? tokens - 1 : (tokens * (tokens + 1)) / 2;
