// Where a message is typed, and how it is to be answered.

import { useSession, useTell } from "../context";

export function Say({ name }: { name: string }) {
  const { chat } = useSession();
  const tell = useTell();
  const speaking = chat.speaking.value;
  const onKey = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    chat.send();
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        chat.send();
      }}
    >
      <textarea
        class="app-field"
        rows={2}
        data-field="message"
        aria-label={tell("chatLabel")}
        placeholder={tell("chatHint", { model: name })}
        value={chat.draft.value}
        dir="auto"
        onInput={(event) => (chat.draft.value = event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <div class="settings">
        {speaking ? (
          <button type="button" class="action" data-do="stop" onClick={() => chat.stop()}>
            {tell("chatStop")}
          </button>
        ) : (
          <button type="submit" class="action" data-do="send" disabled={!chat.draft.value.trim()}>
            {tell("chatSend")}
          </button>
        )}
        <Setting
          label={tell("chatTemperature")}
          title={tell("chatTemperatureHint")}
          name="temperature"
          step={0.1}
        />
        <Setting label={tell("chatSeed")} name="seed" step={1} />
        <span class="fill" />
        {chat.turns.value.length > 0 && (
          <button type="button" class="action" data-do="new" onClick={() => chat.clear()}>
            {tell("chatNew")}
          </button>
        )}
      </div>
    </form>
  );
}

interface SettingProps {
  label: string;
  title?: string;
  name: "temperature" | "seed";
  step: number;
}

function Setting({ label, title, name, step }: SettingProps) {
  const { chat } = useSession();
  const most = name === "temperature" ? 2 : 1e9;
  const set = (text: string) => {
    const value = Number(text);
    if (text !== "" && value >= 0 && value <= most)
      chat[name].value = name === "seed" ? Math.trunc(value) : value;
  };
  return (
    <label title={title}>
      {label}{" "}
      <input
        type="number"
        min={0}
        max={most}
        step={step}
        value={chat[name].value}
        data-control={name}
        onInput={(event) => set(event.currentTarget.value)}
      />
    </label>
  );
}
