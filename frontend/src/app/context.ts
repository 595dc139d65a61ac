// What every part of the app can reach: the session, and sentences in the reader's language.

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { Say } from "../frame/context";
import { say } from "../words";
import type { Trouble } from "./server";
import type { Session } from "./session";

export const SessionContext = createContext<Session | null>(null);

export const useSession = (): Session => useContext(SessionContext)!;

export function useTell(): Say {
  const language = useSession().language.value;
  return (key, values) => say(language, key, values);
}

/** A trouble as a sentence: the server's own, unless the server itself is what is missing. */
export function sentenceOf({ code, message }: Trouble, tell: Say): string {
  if (code === "token") return tell("shut");
  if (code === "gone" || code === "busyAgain") return tell(code, { message });
  // Sentences of Python begin small; a name that begins one stays as it is.
  return message.replace(/^[a-z]+ /, (word) => word[0].toUpperCase() + word.slice(1));
}
