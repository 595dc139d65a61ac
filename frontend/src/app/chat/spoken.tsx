// Above the views, where a conversation is shown: what was said last, and ways to go on or to leave it.

import { NOTHING_ASKED, toldOf } from "../address";
import { useSession, useTell } from "../context";

export function Spoken() {
  const session = useSession();
  const tell = useTell();
  const { text, chat } = session.ask.value;
  const goOn = () => {
    session.chat.take();
    session.store.peek()?.set({ view: "chat" });
  };
  return (
    <p class="app-spoken" data-spoken>
      <span dir="auto">{tell("chatSpoken", { text })}</span>
      {toldOf(chat)?.messages && session.store.value?.selection.value.view !== "chat" && (
        <button type="button" class="action" data-do="go-on" onClick={goOn}>
          {tell("chatGoOn")}
        </button>
      )}
      <button
        type="button"
        class="action"
        data-do="leave"
        onClick={() => session.change({ text, chat: NOTHING_ASKED.chat })}
      >
        {tell("chatLeave")}
      </button>
    </p>
  );
}
