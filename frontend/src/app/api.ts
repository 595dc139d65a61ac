// The server's door, as docs/reference/app.md describes it. Enters: questions. Leaves: answers, or an ApiError with a
// sentence that can be shown as it is.

import type { Told } from "../data/wire";
import type { Judged } from "../data/worth";
import type { Look } from "../state/edges";
import type { Place } from "../state/store";
import type { Values } from "../words";
import type { Ask, How, Message } from "./address";

export interface About {
  kinds: string[];
  family: "encoder" | "decoder" | "encoder-decoder";
  parameters: number;
  limit: number | null;
  pair: boolean;
  target: boolean;
  generate: boolean;
  walk: boolean;
  predictive: boolean; // whether it can be asked which words predict which
  modes: string[]; // ways to switch its heads off
  cuts: string[]; // ways to cut single lines
}

export interface ModelRecord {
  name: string;
  note: string;
  state: "available" | "loading" | "ready" | "failed";
  seconds?: number;
  bytes?: number | null;
  message?: string; // why it could not be loaded
  code?: string;
  values?: Values;
  about: About | null;
}

export interface Open {
  view?: string | null;
  kind?: string | null;
  layer?: number | null;
  heads?: number[] | null;
  worth?: boolean; // with what lines are worth; for exported pages
}

export interface Example {
  id: string;
  model: string | null; // null: any model of the family
  family: About["family"] | null;
  text: string;
  pair: string | null;
  target: string | null;
  open: Open;
  look: { en: string; zh: string };
}

export interface ServerState {
  version: string;
  default: string | null;
  download: boolean;
  models: ModelRecord[];
  examples: Example[];
  sentences: number; // that mean outputs are taken over
  limits: Record<string, number>;
}

/** The picture of what a study found: bars of a name, a length, a tick or none, and a note. */
export interface Chart {
  about: string;
  bars: [name: string, value: number, tick: number | null, note: string][];
  top?: number; // where their scale ends; 0, or nothing: at the largest
}

export interface StudyRecord {
  name: string;
  study: string | null;
  title: string;
  model: string | null;
  corpus: string | null;
  inputs: number | null;
  findings: string[]; // the first ones
  chart: Chart | null;
  changed: number;
  report: string | null;
  files: string[];
}

/** A study that the page may start. */
export interface OfferedStudy {
  name: string;
  help: string;
  control: boolean; // whether it can be repeated on weights that learned nothing
  reads: "text" | "trees" | "mentions";
}

/** The study that runs, or the last one. */
export interface StudyRun {
  id: string;
  study: string;
  model: string;
  corpus: string;
  state: "running" | "done" | "failed" | "cancelled";
  done: number;
  total: number | null;
  step: string;
  seconds: number;
  name: string | null; // of the folder with the result
  message: string;
  code: string;
  values: Values;
}

export interface Studies {
  folder: string | null;
  studies: StudyRecord[];
  offered: OfferedStudy[];
  running: StudyRun | null;
}

export interface StudyQuestion {
  study: string;
  model: string;
  text: string;
  file: string;
  limit: number;
  control: boolean | null;
}

export interface Question {
  text?: string;
  messages?: Message[]; // in place of the text
  pair: string | null;
  model: string | null;
  target: string | number[] | null; // numbers are the tokens of an answer
  truncate: boolean;
}

/** What lines are judged by, and how many are cut at once to see whether estimates agree. */
export interface Judging {
  position: number | null;
  token: string | null;
  how: How;
  check: number;
}

export interface TraceQuestion extends Question {
  generate: number | null;
  ablate: { heads: Place[]; mode: string } | null;
  predictive?: boolean;
  worth?: Judging | null;
  open: Open;
}

export interface EffectRow {
  name: string;
  before: number | null;
  after: Record<string, number>;
  code: "mean" | ""; // the mean over all tokens, or one prediction or token
}

/** What switching heads off changes: the record of regard.effects. */
export interface Effect {
  heads: string[];
  modes: string[];
  about: string;
  tokens: string[];
  position: number | null;
  rows: EffectRow[];
  kl: Record<string, number>;
  actual: string | null;
  notes: string[];
  coded: { code: string; values: Values }[]; // of the notes
  yardstick: { heads: number; tried: number; more: number; change: number; typical: number } | null;
}

/** What a model says: the record of regard.ablation.effects.said. */
export interface Said {
  about: string;
  tokens: string[];
  position: number | null;
  rows: EffectRow[];
  actual: string | null;
  answer: string | null; // of an encoder-decoder model
  answer_after: string | null;
}

/** A word that a lens reads, and its probability. */
export interface LensWord {
  token: string;
  id: number;
  probability: number;
}

/** The next word after every layer: the record of `Model.lens`. */
export interface Lens {
  position: number;
  token: string;
  answer: LensWord;
  rows: { layers: number; words: LensWord[]; rank: number; probability: number }[];
  leads: number; // layers after which the answer is first, and stays first
  error: number;
}

/** What cutting looks changes: the record of `Model.cut`. */
export interface Cut {
  edges: string[];
  how: "mask" | "zero";
  about: string;
  tokens: string[];
  position: number | null;
  rows: EffectRow[];
  sentence: string; // in English
  said: { code: string; values: Values }[]; // what was cut, what that does, what random lines do
  notes: string[];
  coded: { code: string; values: Values }[]; // of the notes
}

/** What made a part of a score: an earlier head or MLP, an embedding, or a bias. */
export interface WhyComponent {
  name: string;
  kind: "head" | "mlp" | "word" | "position" | "segment" | "biases" | "bias";
  attention: string | null; // kind of attention of the stack it is in
  layer: number | null;
  head: number | null;
  score: number;
  centred: number; // its share of the score less the mean of its shares in the row
  sources: { position: number; token: string; score: number }[]; // tokens that a head read its share from
}

/** The parts that made one end of a look, largest first, and all others in one. */
export interface WhySide {
  position: number;
  token: string;
  components: WhyComponent[];
  rest: { count: number; score: number; centred: number };
  agreement: { spearman: number | null; parts: number } | null; // with what removing them changes
}

/** A look, and the earlier ones that lead into it. */
export interface WhyLine extends Look {
  share: number;
  into?: number;
  side?: "key" | "query";
}

/** Why a head looks from a query to a key. */
export interface Why {
  model: string;
  head: Place & { name: string };
  score: number;
  centred: number;
  weight: number;
  visible: number;
  sum: number;
  error: number;
  key: WhySide;
  query: WhySide;
  chain: WhyLine[];
}

export interface Answer {
  bytes: Uint8Array;
  id: string;
}

/** What went wrong, in one sentence. */
export class ApiError extends Error {
  constructor(
    readonly code: string,
    message: string,
    readonly after: number | null = null, // seconds until it is worth another try
    readonly values: Values = {}, // what the sentence was made with
  ) {
    super(message);
  }
}

const tab = Math.random().toString(36).slice(2, 10); // tells this tab from others, so that they do not disturb each other

async function call(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: "same-origin", ...init });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError("gone", String(error));
  }
  if (response.ok) return response;
  const record = await response.json().catch(() => ({}));
  const after = Number(response.headers.get("Retry-After")) || null;
  throw new ApiError(
    String(record.code ?? record.error ?? "internal"),
    String(record.message ?? `${response.status} ${response.statusText}`),
    after,
    record.values,
  );
}

/** `part` tells apart what this tab asks for at the same time. */
function post(path: string, body: unknown, part: string, signal?: AbortSignal): Promise<Response> {
  const headers = { "Content-Type": "application/json", "X-Regard-Client": `${tab}.${part}` };
  return call(path, { method: "POST", headers, body: JSON.stringify(body), signal });
}

async function answerOf(response: Response): Promise<Answer> {
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    id: response.headers.get("X-Regard-Trace") ?? "",
  };
}

async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await call(path, { signal })).json();
}

const bytesOf = async (path: string, signal?: AbortSignal): Promise<Uint8Array> =>
  new Uint8Array(await (await call(path, { signal })).arrayBuffer());

export const state = (): Promise<ServerState> => get("/api/state");

/** The example that is shown while the model is being loaded. */
export const example = (): Promise<Uint8Array> => bytesOf("/static/example.bin");

export const models = async (): Promise<ModelRecord[]> =>
  (await get<{ models: ModelRecord[] }>("/api/models")).models;

export const load = async (name: string): Promise<ModelRecord> =>
  (await post("/api/models", { name }, "models")).json();

export const trace = async (question: TraceQuestion, part: string, signal: AbortSignal): Promise<Answer> =>
  answerOf(await post("/api/traces", question, part, signal));

export const walk = async (
  { text, model, target, truncate }: Question,
  generate: number | null,
  layer: number,
  signal: AbortSignal,
): Promise<Answer> =>
  answerOf(await post("/api/walk", { text, model, target, truncate, generate, layer }, "walk", signal));

/** What a model said before, as a question; by the id that came with the answer. */
export interface GivenAnswer {
  model: string;
  text?: string;
  messages?: Message[];
  target: number[];
  answer: string;
}

export const givenAnswer = (id: string): Promise<GivenAnswer> =>
  get(`/api/answers/${encodeURIComponent(id)}`);

export interface ChatQuestion {
  messages: Message[];
  model: string;
  temperature: number;
  seed: number;
}

/** A token of an answer and what the model looked at when it chose it, or the end. */
export interface ChatEvent {
  id?: number;
  text?: string;
  looks?: [position: number, text: string, weight: number][];
  end?: "stop" | "length";
  error?: string;
  message?: string;
}

/** The tokens of an answer as they come. */
export async function* chat(question: ChatQuestion, signal: AbortSignal): AsyncGenerator<ChatEvent> {
  const response = await post("/api/chat", question, "chat", signal);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + value).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line) yield JSON.parse(line);
  }
}

export const layer = (id: string, kind: string, number: number, signal?: AbortSignal): Promise<Uint8Array> =>
  bytesOf(`/api/traces/${id}/layers/${encodeURIComponent(kind)}/${number}`, signal);

export const pictures = (
  id: string,
  kind: string,
  number: number,
  signal: AbortSignal,
): Promise<Uint8Array> => bytesOf(`/api/traces/${id}/pictures/${encodeURIComponent(kind)}/${number}`, signal);

export const report = (id: string, signal: AbortSignal): Promise<Uint8Array> =>
  bytesOf(`/api/traces/${id}/report`, signal);

/** How far the worth of a trace agrees with exact cuts. */
export const checkWorth = async (
  id: string,
  question: TraceQuestion,
  signal: AbortSignal,
): Promise<Judged & { coded?: { code: string; values: Values }[] }> =>
  (await post(`/api/traces/${id}/worth`, question, "worth", signal)).json();

/** All ways of switching off, side by side. */
export const effect = async (question: Question, heads: Place[], signal: AbortSignal): Promise<Effect> =>
  (await post("/api/ablate", { ...question, heads, count: 5 }, "effect", signal)).json();

export const says = async (
  question: Question,
  { off, mode, generate }: { off: Place[]; mode: string; generate: number },
  position: number | null,
  signal: AbortSignal,
): Promise<Said> => {
  const ablate = off.length ? { heads: off, mode } : null;
  const more = { generate: generate || null, ablate, position, count: 5 };
  return (await post("/api/says", { ...question, ...more }, "says", signal)).json();
};

export const lens = async (
  question: Question,
  generate: number,
  position: number | null,
  signal: AbortSignal,
): Promise<Lens> =>
  (
    await post("/api/lens", { ...question, generate: generate || null, position, count: 1 }, "lens", signal)
  ).json();

export const why = async (
  question: Question,
  { kind, layer, head, query, key }: Look,
  generate: number,
  check: boolean,
  signal: AbortSignal,
): Promise<Why> => {
  const look = { head: { kind, layer, head }, query, key };
  const asked = { ...question, ...look, generate: generate || null, count: 5, check };
  return (await post("/api/why", asked, check ? "why-check" : "why", signal)).json();
};

export const cut = async (
  question: Question,
  { cut: looks, how, generate, judged }: Pick<Ask, "cut" | "how" | "generate" | "judged">,
  position: number | null,
  controls: number,
  signal: AbortSignal,
): Promise<Cut> => {
  const some = (list: readonly number[]) => (list.length ? list : null);
  const edges = looks.map(({ kind, layer, head, queries, keys }) => ({
    kind,
    layer,
    head,
    query: some(queries),
    key: some(keys),
  }));
  const { token } = judged;
  const more = { edges, how, controls, position, token, generate: generate || null, count: 5 };
  return (await post("/api/cut", { ...question, ...more }, "cut", signal)).json();
};

export const studies = (): Promise<Studies> => get("/api/studies");

export const startStudy = async (question: StudyQuestion): Promise<StudyRun> =>
  (await post("/api/studies", question, "study")).json();

export const cancelStudy = async (): Promise<void> => {
  await call("/api/studies/running", { method: "DELETE" });
};

/** Where the page is that shows what is nearest to a position of a trace in a study. */
export function nearestPage(id: string, asked: Record<string, string | number>): string {
  const query = new URLSearchParams(Object.entries(asked).map(([name, value]) => [name, String(value)]));
  return `/api/traces/${id}/nearest?${query}`;
}

/** A head, and how far it follows a rule. */
export interface Follower extends Place {
  part: number;
  lift: number;
  share: number;
  chance: number;
  rows: number;
  awake: number;
  best: [query: number, key: number, value: number] | null;
}

export interface Followed {
  rule: string;
  heads: Follower[]; // best first
  missing: Record<string, Told>; // why there are none, by kind of attention
}

/** The record of regard find. */
export interface FoundHeads {
  rule: string;
  model: string;
  inputs: number;
  heads: (Place & {
    lift: number | null;
    low: number | null;
    high: number | null;
    held_out: number | null;
    chance: number | null;
    rows: number;
  })[];
  examples: { attention: number; text: string; query_at: [number, number]; key_at: [number, number] }[];
  notes: string[];
}

export interface SavedRule {
  name: string;
  rule: string;
  colour: string;
}

export const follow = async (id: string, rule: string, signal: AbortSignal): Promise<Followed> =>
  (await post(`/api/traces/${id}/rule`, { rule }, "rule", signal)).json();

/** The same over the corpus of a study. */
export const findIn = async (study: string, rule: string, signal: AbortSignal): Promise<FoundHeads> =>
  (await post(`/api/studies/${encodeURIComponent(study)}/rule`, { rule }, "find", signal)).json();

interface RuleList {
  rules: SavedRule[];
}

export const rules = async (): Promise<SavedRule[]> => (await get<RuleList>("/api/rules")).rules;

export const saveRule = async (name: string, rule: string): Promise<SavedRule[]> =>
  ((await (await post("/api/rules", { name, rule }, "rules")).json()) as RuleList).rules;

export const forgetRule = async (name: string): Promise<SavedRule[]> => {
  const answer = await call(`/api/rules/${encodeURIComponent(name)}`, { method: "DELETE" });
  return ((await answer.json()) as RuleList).rules;
};

/** Where a trace can be downloaded. */
export const traceFile = (id: string): string => `/api/traces/${id}/file`;

/** Where a saved page can be downloaded. */
export function pageFile(id: string, open: Open): string {
  const query = new URLSearchParams();
  if (open.view) query.set("view", open.view);
  if (open.kind) query.set("kind", open.kind);
  if (open.layer != null) query.set("layer", String(open.layer));
  if (open.heads?.length) query.set("heads", open.heads.join(","));
  if (open.worth) query.set("worth", "1");
  return `/api/traces/${id}/page?${query}`;
}

/** A file as a download; what went wrong is told like everything else. */
export async function file(path: string): Promise<Blob> {
  return (await call(path, {})).blob();
}
