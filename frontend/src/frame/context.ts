// What every part of the interface can reach: the store, and sentences in the reader's language.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { bare } from "../compute/axis";
import type { Judged } from "../data/worth";
import type { Store } from "../state/store";
import { isKey, type Key, partName, say } from "../words";

export const StoreContext = createContext<Store | null>(null);

export function useStore(): Store {
  return useContext(StoreContext)!;
}

export type Say = (key: Key, values?: Record<string, string | number>) => string;

export function useSay(): Say {
  return sayIn(useStore());
}

/** Sentences in the language of a store. */
export function sayIn(store: Store): Say {
  const language = store.language.value;
  return (key, values) => say(language, key, values);
}

/** What parts of a text are called, in the language of a store. */
export const partNames = (store: Store): ((part: string) => string) => {
  const language = store.language.value;
  return (part) => partName(language, part);
};

/** The token or label whose log probability is meant, or what else. */
export function judgedName({ about, name }: Judged, tell: Say): string {
  const key = `judged_${about}`;
  return isKey(key) ? tell(key) : bare(name);
}

/** What the numbers of the current picture are called. */
export const useQuantity = (): string => quantityOf(useStore());

export function quantityOf(store: Store): string {
  const tell = sayIn(store);
  const { contributions, relative, worth } = store.look.value;
  if (worth) return tell("worthName", { name: judgedName(store.judged!, tell) });
  if (!contributions) return tell("weightsName");
  return tell(relative ? "sharesName" : "contributionsName");
}
