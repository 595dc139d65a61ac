// Long work in short slices, so that no frame waits for it: a job is a generator that yields between its steps.

const SLICE = 10; // milliseconds of work before the page may breathe
/** The same before there is a picture: a page that breathes reads the rest of its file, which takes longer. */
export const FIRST = 400;

/** Let the browser handle input and paint. */
function breathe(): Promise<void> {
  return new Promise((resolve) => {
    const channel = new MessageChannel();
    channel.port1.onmessage = () => {
      channel.port1.close();
      resolve();
    };
    channel.port2.postMessage(null);
  });
}

/** Run a job to its end; the first slice runs at once, so that short jobs finish before the next paint. */
export async function run<T>(job: Generator<void, T>, signal: AbortSignal, slice = SLICE): Promise<T> {
  for (;;) {
    const until = performance.now() + slice;
    do {
      const step = job.next();
      if (step.done) return step.value;
    } while (performance.now() < until);
    await breathe();
    signal.throwIfAborted();
  }
}

/** Whether an error only says that a newer job replaced this one. */
export function superseded(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
