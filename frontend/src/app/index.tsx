// The app: the same views as in a saved page, with a server behind them.

import { effect, signal } from "@preact/signals";
import { render } from "preact";
import { useEffect } from "preact/hooks";
import { StoreContext } from "../frame/context";
import type { Entry } from "../frame/finding";
import { Notice } from "../frame/notice";
import { Shell } from "../frame/shell";
import type { Theme } from "../marks/scales";
import { remember, rememberedLanguage, rememberedTheme } from "../state/remember";
import { add, type Language, preferred } from "../words";
import { APP } from "../words/app";
import { REFUSALS } from "../words/sentences";
import "./app.css";
import { Chooser } from "./chooser";
import { SessionContext, sentenceOf, useSession, useTell } from "./context";
import { CutBelow } from "./cut/below";
import { CutResult, newsOfCut } from "./cut/result";
import { CUT } from "./cut/words";
import { Effect, newsOfOff } from "./effect";
import { EVIDENCE } from "./evidence/words";
import { Export } from "./export";
import { Header } from "./header";
import { LENS } from "./lens/words";
import { Looks } from "./looks";
import { listenForFiles } from "./media";
import { Predict } from "./predict";
import { Rule } from "./rule";
import { Saying } from "./saying";
import { Session } from "./session";
import { Portrait } from "./studies/portrait";
import { APP_VIEWS } from "./views";
import { Back, newsOfWhy } from "./why/back";
import { WHY } from "./why/words";

add(APP);
add(REFUSALS);
add(WHY);
add(CUT);
add(LENS);
add(EVIDENCE);

const Nothing = () => null;

/** What was changed in the model, and what that does: before anything else. */
const Verdict = () => (
  <>
    <CutResult />
    <Effect />
  </>
);

/** What was asked of single links, under the view. */
const Below = () => (
  <>
    <CutBelow />
    <Back />
  </>
);

const Aside = () => (
  <>
    <Looks />
    <Portrait />
    <Predict />
    <Rule />
  </>
);

function App() {
  const session = useSession();
  const tell = useTell();
  const store = session.store.value;
  useEffect(() => {
    const abort = new AbortController();
    document.addEventListener("keydown", toInput, { signal: abort.signal });
    listenForFiles(session, abort.signal);
    return () => abort.abort();
  }, []);
  const slots = {
    header: Nothing, // the app's own stands above, and is there before there is anything to show
    tools: Export,
    judging: Chooser,
    news: () =>
      newsOfCut(session, store, tell) ?? newsOfOff(session, tell) ?? newsOfWhy(session, store, tell),
    first: Saying,
    verdict: Verdict,
    aside: Aside,
    below: Below,
    commands: () => commandsOf(session, tell),
    keys: [tell("help_input"), tell("help_off")],
  };
  return (
    <div class="regard app-root" data-theme={session.theme.value} lang={session.language.value}>
      <Header />
      {store ? (
        <StoreContext.Provider value={store}>
          <Shell frame slots={slots} />
        </StoreContext.Provider>
      ) : (
        <Notice text={waiting(session, tell)} />
      )}
    </div>
  );
}

/** What the palette finds in the app alone: models and examples. */
function commandsOf(session: Session, tell: ReturnType<typeof useTell>): Entry[] {
  const { models = [], examples = [] } = session.server.state.peek() ?? {};
  const command = (label: string, detail: string, run: () => void): Entry => ({
    sort: "command",
    label,
    detail,
    run,
  });
  return [
    ...models.map(({ name }) => command(name, tell("chooseModel"), () => session.choose(name))),
    ...examples
      .filter(({ model }) => model !== null)
      .map(({ id, text, look }) => command(text, look[session.language.peek()], () => session.show(id))),
  ];
}

function waiting(session: Session, tell: ReturnType<typeof useTell>): string {
  const { loading, state } = session.server;
  if (session.trouble.value) return sentenceOf(session.trouble.value, tell);
  const { name, seconds = 0 } = loading.value ?? { name: "" };
  if (loading.value) return tell("loading", { name, seconds: Math.round(seconds) });
  if (!state.value) return tell("starting");
  return session.isEmpty || session.model.value?.about?.text === false ? "" : tell("working");
}

/** "/" goes to the sentence, as in many places. */
function toInput(event: KeyboardEvent): void {
  const target = event.target as HTMLElement;
  if (event.key !== "/" || event.ctrlKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName))
    return;
  event.preventDefault();
  const folded = document.querySelector<HTMLElement>(".folded > [data-do=edit]");
  if (folded?.offsetParent) {
    folded.click(); // on a phone
    return;
  }
  const field = document.querySelector<HTMLTextAreaElement>("[data-field=text]");
  field?.focus();
  field?.select();
}

function start(): void {
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const session = new Session(
    signal<Theme>(rememberedTheme() ?? (dark ? "dark" : "light")),
    signal<Language>(rememberedLanguage() ?? preferred(navigator.languages)),
    APP_VIEWS,
  );
  remember(session);
  effect(() => {
    document.documentElement.lang = session.language.value;
  });
  effect(() => {
    document.title = [session.shown.value?.model, "regard"].filter(Boolean).join(" · ");
  });
  const root = document.getElementById("regard")!;
  root.textContent = "";
  effect(() => {
    const saved = session.saved.value !== null;
    const own = session.working.value || session.stale.value !== null;
    root.toggleAttribute("data-busy", own || (saved && session.trouble.value === null));
    root.toggleAttribute("data-saved", saved);
  });
  render(
    <SessionContext.Provider value={session}>
      <App />
    </SessionContext.Provider>,
    root,
  );
  session.start();
}

start();
