// Portraits of heads among the server's studies: which page shows a head, and which one is open.

import { signal } from "@preact/signals";
import type { Page } from "../../data/wire";
import type { Place } from "../../state/selection";
import * as api from "../api";
import type { Studies, StudyRecord } from "./records";

/** A study that is read, at one of its pages; its report unless another is named, or a page elsewhere. */
export interface Reading {
  study: StudyRecord;
  page?: string;
  address?: string;
}

/** Whether a study has kept q and k, so that nearest rows can be asked for. */
export const hasVectors = ({ files }: StudyRecord): boolean => files.includes("sample.parquet");

export class Portraits {
  readonly reading = signal<Reading | null>(null);
  private readonly known = signal<StudyRecord[]>([]);

  /** Look which portraits there are; without the server's answer there are none. */
  async look(): Promise<void> {
    try {
      this.know(await api.studies());
    } catch {
      this.known.value = [];
    }
  }

  know({ studies }: Studies): void {
    this.known.value = studies.filter(({ study, report }) => study === "heads" && report);
  }

  /** The newest study's page of a head of the model that is shown; null if no study has one. */
  of(page: Page, { kind, layer, head }: Place): Reading | null {
    const study = this.known.value.find((one) => one.model === page.facts.model);
    if (!study) return null;
    const several = new Set(page.sites.map((site) => site.kind)).size > 1;
    return { study, page: `heads/${several ? `${kind}-` : ""}${layer}.${head}.html` };
  }
}

/** Where the files of a study are. */
export const folderOf = ({ name, report }: StudyRecord): string =>
  report?.replace(/[^/]*$/, "") ?? `/studies/${encodeURIComponent(name)}/`;
