// A question of the walk with its answers.

import { useSignal } from "@preact/signals";
import type { Say } from "../frame/context";
import type { Question } from "./questions";

/** A question, its answers to click, and what is right, with the number. */
export function Asked({ question, done, tell }: { question: Question; done: () => void; tell: Say }) {
  const chosen = useSignal<number | null>(null);
  const answered = chosen.value !== null;
  const right = chosen.value === question.right;
  return (
    <div class="asked" data-question>
      <h3>{tell("walk_question")}</h3>
      <p>{question.text}</p>
      <p class="options">
        {question.options.map((option, i) => (
          <button
            key={i}
            type="button"
            data-option={i}
            data-right={answered && i === question.right ? "" : undefined}
            data-wrong={i === chosen.value && !right ? "" : undefined}
            onClick={() => {
              chosen.value = i;
              done();
            }}
          >
            <bdi>{option}</bdi>
          </button>
        ))}
      </p>
      <p role="status" class="said" data-said={answered ? (right ? "right" : "wrong") : undefined}>
        {answered && (
          <>
            <b>
              {right ? tell("walk_right") : tell("walk_wrong", { right: question.options[question.right] })}
            </b>{" "}
            {question.because}
          </>
        )}
      </p>
    </div>
  );
}
