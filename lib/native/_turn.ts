/** Turns for prompts: a process shows one page at a time. */

/** Functions to call at their turn; the first one has started. */
const queue: { begin: () => void }[] = [];

/**
 * Calls a function, which must not throw, after all earlier turns. Returns a function
 * that finishes the turn, or the wait for it.
 */
export function takeTurn(begin: () => void): () => void {
  const turn = { begin };
  queue.push(turn);
  if (queue[0] === turn) begin();
  return () => {
    const index = queue.indexOf(turn);
    if (index < 0) return;
    queue.splice(index, 1);
    if (index === 0) queue[0]?.begin();
  };
}
