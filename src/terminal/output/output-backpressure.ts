/**
 * Whether somebody reads what is written to a terminal. Node writes to one without going on until it is read:
 * a connection that stalls would hold up the whole process, with all agents and every signal.
 */
export interface OutputPace {
  /** From now on what is not read waits in memory; the returned function ends that. */
  unblock(): () => void;
  /** What was written last is not read yet: whatever can be drawn later should be. */
  isFull(): boolean;
  /** Calls back when it is read again; the returned function stops it. */
  onRoom(listener: () => void): () => void;
}

/** Node has no public name for it. */
interface Blocking {
  readonly _handle?: { setBlocking?(isBlocking: boolean): unknown } | null;
}

export const outputPace = (stream: NodeJS.WriteStream): OutputPace => {
  const setBlocking = (isBlocking: boolean) =>
    (stream as unknown as Blocking)._handle?.setBlocking?.(isBlocking);
  return {
    unblock() {
      if (stream.isTTY !== true) return () => {};
      setBlocking(false);
      return () => {
        // Last words to somebody who does not read them are not waited for.
        if (stream.writableLength === 0) setBlocking(true);
      };
    },
    isFull: () => stream.writableNeedDrain,
    onRoom(listener) {
      stream.on('drain', listener);
      return () => stream.off('drain', listener);
    },
  };
};

/** How long the last words to a terminal may wait to be read. */
const LAST_WORDS_MS = 1_000;

/** Resolves when all is read, or will not be. */
export const lastWords = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.isTTY !== true || stream.writableLength === 0) return resolve();
    const late = setTimeout(resolve, LAST_WORDS_MS);
    stream.write('', () => {
      clearTimeout(late);
      resolve();
    });
  });
