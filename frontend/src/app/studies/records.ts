// Studies as the server describes them: those that are saved, those that can be started, the one that runs.

import type { Place } from "../../state/selection";
import type { Pair, Values } from "../../words";

/** The picture of what a study found: bars of a name, a length, a tick or none, and a note. */
export interface Chart {
  about: string;
  bars: [name: string, value: number, tick: number | null, note: string][];
  top?: number; // where their scale ends; 0, or nothing: at the largest
  tick?: string; // what the ticks are
  bar?: string; // what the bars are, where the ticks are bars too
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
  asks: Pair; // its question in both languages
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
