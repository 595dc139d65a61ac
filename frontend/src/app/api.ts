// The server's door, as docs/reference/app.md describes it. Enters: questions. Leaves: answers, or an ApiError with a
// sentence that can be shown as it is.

import type { Judged } from "../data/worth";
import type { Look } from "../state/edges";
import type { Place } from "../state/selection";
import type { Values } from "../words";
import type { Ask } from "./address";
import type {
  ChatEvent,
  ChatQuestion,
  Cut,
  Effect,
  Evidence,
  Followed,
  GivenAnswer,
  Lens,
  ModelRecord,
  Open,
  Question,
  Said,
  SavedRule,
  ServerState,
  TraceQuestion,
  Why,
} from "./records";
import type { FoundHeads, Studies, StudyQuestion, StudyRun } from "./studies/records";

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

/** A picture or a sound, with what is asked of it. */
export const traceMedium = async (
  file: File,
  question: TraceQuestion,
  part: string,
  signal: AbortSignal,
): Promise<Answer> => answerOf(await sent("/api/media", file, question, part, signal));

function sent(path: string, file: File, asked: object, part: string, signal: AbortSignal): Promise<Response> {
  const headers = { "Content-Type": "application/octet-stream", "X-Regard-Client": `${tab}.${part}` };
  const question = encodeURIComponent(JSON.stringify(asked));
  return call(`${path}?question=${question}`, { method: "POST", headers, body: file, signal });
}

export const walk = async (
  { text, model, target, truncate }: Question,
  generate: number | null,
  layer: number,
  signal: AbortSignal,
): Promise<Answer> =>
  answerOf(await post("/api/walk", { text, model, target, truncate, generate, layer }, "walk", signal));

export const givenAnswer = (id: string): Promise<GivenAnswer> =>
  get(`/api/answers/${encodeURIComponent(id)}`);

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

/** The same of a picture or a sound. */
export const saysOfMedium = async (
  file: File,
  question: Question,
  { off, mode, generate }: { off: Place[]; mode: string; generate: number },
  signal: AbortSignal,
): Promise<Said> => {
  const ablate = off.length ? { heads: off, mode } : null;
  const asked = { ...question, generate: generate || null, ablate, count: 5 };
  return (await sent("/api/media/says", file, asked, "says", signal)).json();
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

export const evidence = async (
  question: Question,
  generate: number,
  signal: AbortSignal,
): Promise<Evidence> =>
  (await post("/api/evidence", { ...question, generate: generate || null }, "evidence", signal)).json();

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
