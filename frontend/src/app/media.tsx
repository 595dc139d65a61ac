// A picture or a sound for a model that takes one: chosen, or dropped anywhere on the page.

import { useEffect, useState } from "preact/hooks";
import { useSession, useTell } from "./context";
import type { Session } from "./session";

/** What the file dialogue offers. */
const ACCEPT = {
  image: "image/png,image/jpeg,image/webp,image/gif,image/bmp",
  audio: "audio/wav,audio/x-wav,audio/flac,.wav,.flac",
};

/** A button, and the file that was chosen with it; nothing for a model that reads texts alone. */
export function Media() {
  const session = useSession();
  const tell = useTell();
  const media = session.model.value?.about?.media ?? [];
  const file = session.medium.value;
  if (!media.length && !file) return null;
  const kind = media[0] ?? "image";
  return (
    <span class="app-medium" data-medium={kind}>
      <label class="app-choose" data-do="medium">
        {file ? <Preview file={file} /> : <b aria-hidden="true">＋</b>}
        <span>{file?.name ?? tell(kind === "audio" ? "chooseSound" : "choosePicture")}</span>
        <input
          type="file"
          class="unseen"
          accept={media.map((one) => ACCEPT[one]).join(",")}
          onChange={(event) => {
            take(session, event.currentTarget.files);
            event.currentTarget.value = ""; // the same file can be chosen again
          }}
        />
      </label>
      {file && (
        <button
          type="button"
          class="plain"
          aria-label={tell("removeFile")}
          title={tell("removeFile")}
          onClick={() => session.lookAt(null)}
        >
          ✕
        </button>
      )}
    </span>
  );
}

/** The picture, small; a note for a sound. */
function Preview({ file }: { file: File }) {
  const [url, setUrl] = useState("");
  useEffect(() => {
    if (!file.type.startsWith("image/")) return;
    const made = URL.createObjectURL(file);
    setUrl(made);
    return () => URL.revokeObjectURL(made);
  }, [file]);
  return url ? <img src={url} alt="" /> : <b aria-hidden="true">♪</b>;
}

function take(session: Session, files: FileList | null | undefined): void {
  const file = files?.[0];
  if (file) session.lookAt(file);
}

/** Files that are dropped anywhere. */
export function listenForFiles(session: Session, signal: AbortSignal): void {
  const carries = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;
  document.addEventListener("dragover", (event) => carries(event) && event.preventDefault(), { signal });
  document.addEventListener(
    "drop",
    (event) => {
      if (!carries(event)) return;
      event.preventDefault(); // the browser would leave the page for the file
      take(session, event.dataTransfer?.files);
    },
    { signal },
  );
}
