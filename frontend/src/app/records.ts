// What the app asks the server and what it is told, as docs/reference/app.md describes it.

import type { Told } from "../data/wire";
import type { Look } from "../state/edges";
import type { Place } from "../state/selection";
import type { Values } from "../words";
import type { How, Message } from "./address";

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
  media: ("image" | "audio")[]; // what it takes beside texts
  text: boolean; // whether it reads texts at all
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
  chat: boolean | null; // whether it answers messages; null: not known before it is loaded
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
  rules: boolean; // whether the page may save rules
  models: ModelRecord[];
  examples: Example[];
  sentences: number; // that mean outputs are taken over
  limits: Record<string, number>;
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

/** A part of a prompt and its scores; null where a measure is not available. */
export interface EvidenceScores {
  start: number; // characters of the prompt
  end: number;
  attention: number;
  contribution: number | null;
  worth: number | null; // nats
}

export interface EvidenceSentence extends EvidenceScores {
  text: string;
  chance: number; // its share of the tokens
  heads: { name: string; attention: number; worth: number | null }[];
}

/** The sentences that an answer came from: the record of `Model.evidence`. */
export interface Evidence {
  prompt: string;
  answer: string;
  sentences: EvidenceSentence[];
  tint: EvidenceScores[]; // of its tokens
  notes: string[]; // in English
  coded: { code: string; values: Values }[]; // of the notes
}

/** What cutting looks changes: the record of `Model.cut`. */
export interface Cut {
  edges: string[];
  how: "mask" | "zero";
  about: string;
  tokens: string[];
  position: number | null;
  rows: EffectRow[];
  change: { before: number; after: number };
  control: { changes: number[] } | null; // what random lines of the nearest weights change
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

/** What removing parts for real says: the correlation of ranks, and without which part the score falls most. */
export interface WhyAgreement {
  spearman: number | null;
  parts: number;
  first: Pick<WhyComponent, "kind" | "name">;
  fall: number;
}

/** The parts that made one end of a look, largest first, and all others in one. */
export interface WhySide {
  position: number;
  token: string;
  components: WhyComponent[];
  rest: { count: number; score: number; centred: number };
  agreement: WhyAgreement | null;
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

/** What a model said before, as a question; by the id that came with the answer. */
export interface GivenAnswer {
  model: string;
  text?: string;
  messages?: Message[];
  target: number[];
  answer: string;
}

export interface ChatQuestion {
  messages: Message[];
  model: string;
  temperature: number;
  seed: number;
}

/** Where something was said: a turn, and from which character of it to which. */
export type Spot = [turn: number, start: number, end: number];

/** What the model looked at; what the template wrote was said by nobody. */
export type Glance = [position: number, text: string, weight: number, spot: Spot | null];

/** Where all the attention was: words before the answer, the answer's own, the first key seen, marks and template. */
export interface Shares {
  prompt: number;
  answer: number;
  first: number;
  template: number;
}

/** A token of an answer and what the model looked at when it chose it, or the end. */
export interface ChatEvent {
  id?: number;
  text?: string;
  shares?: Shares | null; // null if it was not seen
  looks?: Glance[];
  end?: "stop" | "length";
  error?: string;
  message?: string;
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

export interface SavedRule {
  name: string;
  rule: string;
  colour: string;
}
