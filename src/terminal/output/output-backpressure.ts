/**
 * Output backpressure of a terminal.
 *
 * Node writes to a terminal synchronously, so a stalled connection would block the whole process with all agents and
 * signals.
 */
export interface OutputBackpressure {
  /** Makes writes asynchronous: unread output waits in memory. Returns a function that makes them synchronous again. */
  unblock(): () => void;
  /** True while the terminal has not read the last output. Skip redraws until `onRoom`. */
  isFull(): boolean;
  /** Calls the listener when the terminal reads again. Returns a function that removes the listener. */
  onRoom(listener: () => void): () => void;
}

/** Private API: Node has no public way to change the mode. */
interface Blocking {
  readonly _handle?: { setBlocking?(isBlocking: boolean): unknown } | null;
}

export const outputBackpressure = (stream: NodeJS.WriteStream): OutputBackpressure => {
  const setBlocking = (isBlocking: boolean) =>
    (stream as unknown as Blocking)._handle?.setBlocking?.(isBlocking);
  return {
    unblock() {
      if (stream.isTTY !== true) return () => {};
      setBlocking(false);
      return () => {
        // A terminal that does not read must not block the exit.
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

const DRAIN_TIMEOUT_MS = 1_000;

/** Waits until the terminal has read all output, at most `DRAIN_TIMEOUT_MS`. Never rejects. */
export const drainOutput = (stream: NodeJS.WriteStream): Promise<void> =>
  new Promise((resolve) => {
    if (stream.isTTY !== true || stream.writableLength === 0) return resolve();
    const late = setTimeout(resolve, DRAIN_TIMEOUT_MS);
    stream.write('', () => {
      clearTimeout(late);
      resolve();
    });
  });
