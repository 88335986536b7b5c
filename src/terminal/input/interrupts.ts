/** Interrupts by signals: the first Ctrl-C interrupts the run, the second quits. */

/** npm and the terminal both deliver one key press, up to this time apart. */
const SAME_KEY_MS = 50;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
export type EndSignal = (typeof SIGNALS)[number];

/** Returns a subscribe function whose listener gets the first signal; `quit` is called at the second. */
export const interrupts = (
  source: NodeJS.EventEmitter,
  quit: () => void,
): ((listener: () => void) => () => void) => {
  return (listener) => {
    let first: number | undefined;
    const onSignal = () => {
      const now = performance.now();
      if (first === undefined) {
        first = now;
        listener();
      } else if (now - first > SAME_KEY_MS) quit();
    };
    for (const signal of SIGNALS) source.on(signal, onSignal);
    return () => {
      for (const signal of SIGNALS) source.off(signal, onSignal);
    };
  };
};

/** Returns a subscribe function whose listener gets every signal. One key press counts once. */
export const signals = (
  source: NodeJS.EventEmitter,
): ((listener: (signal: EndSignal) => void) => () => void) => {
  return (listener) => {
    let last = Number.NEGATIVE_INFINITY;
    const removals = SIGNALS.map((signal) => {
      const onSignal = () => {
        const now = performance.now();
        const isSameKey = now - last <= SAME_KEY_MS;
        last = now;
        if (!isSameKey) listener(signal);
      };
      source.on(signal, onSignal);
      return () => source.off(signal, onSignal);
    });
    return () => {
      for (const remove of removals) remove();
    };
  };
};
