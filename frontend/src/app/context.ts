// What every part of the app can reach: the session, and sentences in the reader's language.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Say } from "../frame/context";
import { isKey, type Key, say } from "../words";
import type { Trouble } from "./server";
import type { Session } from "./session";

export const SessionContext = createContext<Session | null>(null);

export const useSession = (): Session => useContext(SessionContext)!;

export function useTell(): Say {
  const language = useSession().language.value;
  return (key, values) => say(language, key, values);
}

/** A trouble as a sentence: by its code, or else as the server says it. */
export function sentenceOf({ code, message, values }: Trouble, tell: Say): string {
  const key = [`trouble_${code}`, `refusal_${code}`].find(isKey);
  const text = key ? tell(key as Key, values) : message;
  // Sentences of Python begin small; a name that begins one stays as it is.
  if (values?.name !== undefined && text.startsWith(String(values.name))) return text;
  return text.replace(/^[a-z]+ /, (word) => word[0].toUpperCase() + word.slice(1));
}
