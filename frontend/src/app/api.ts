// The server's door, as docs/reference/app.md describes it. Enters: questions. Leaves: answers, or an ApiError with a
// sentence that can be shown as it is.

import type { Place } from "../state/store";
import type { Values } from "../words";

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

export interface StudyRecord {
  name: string;
  study: string | null;
  title: string;
  model: string | null;
  corpus: string | null;
  inputs: number | null;
  findings: string[]; // the first ones
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
  text: string;
  pair: string | null;
  model: string | null;
  target: string | null;
  truncate: boolean;
}

export interface TraceQuestion extends Question {
  generate: number | null;
  ablate: { heads: Place[]; mode: string } | null;
  predictive?: boolean;
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
  layer: number,
  signal: AbortSignal,
): Promise<Answer> =>
  answerOf(await post("/api/walk", { text, model, target, truncate, layer }, "walk", signal));

export const layer = (id: string, kind: string, number: number, signal?: AbortSignal): Promise<Uint8Array> =>
  bytesOf(`/api/traces/${id}/layers/${encodeURIComponent(kind)}/${number}`, signal);

export const report = (id: string, signal: AbortSignal): Promise<Uint8Array> =>
  bytesOf(`/api/traces/${id}/report`, signal);

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

export const studies = (): Promise<Studies> => get("/api/studies");

export const startStudy = async (question: StudyQuestion): Promise<StudyRun> =>
  (await post("/api/studies", question, "study")).json();

export const cancelStudy = async (): Promise<void> => {
  await call("/api/studies/running", { method: "DELETE" });
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
  return `/api/traces/${id}/page?${query}`;
}

/** A file as a download; what went wrong is told like everything else. */
export async function file(path: string): Promise<Blob> {
  return (await call(path, {})).blob();
}
