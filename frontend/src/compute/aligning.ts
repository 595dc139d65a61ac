// Which head of cross attention pairs the words of two texts best: the one to begin with.

/** The strongest look that each key gets, on average: 1 where every key has a row that looks at it alone. */
export function coverage(values: ArrayLike<number>, columns: number): number {
  const most = new Float64Array(columns);
  for (let i = 0; i < values.length; i++) most[i % columns] = Math.max(most[i % columns], values[i]);
  return most.reduce((sum, one) => sum + one, 0) / Math.max(1, columns);
}

/** Of some heads, the one with the largest coverage. */
export const mostAligning = <T>(heads: readonly T[], covers: (head: T) => number): T =>
  heads
    .map((head) => [head, covers(head)] as const)
    .reduce((best, one) => (one[1] > best[1] ? one : best))[0];
