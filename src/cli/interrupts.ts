/** Ctrl-C: the first one interrupts the run, the second one quits. */

/** npm and the terminal both deliver one key press, a moment apart. */
const SAME_KEY_MS = 50;

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
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
    for (const signal of signals) source.on(signal, onSignal);
    return () => {
      for (const signal of signals) source.off(signal, onSignal);
    };
  };
};
