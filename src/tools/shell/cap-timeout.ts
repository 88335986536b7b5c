interface CappedTimeout {
  readonly timeoutMs: number;
  /** Line for the model. Empty if the timeout was not reduced. */
  readonly note: string;
}

/** Reduces a timeout to the maximum instead of refusing the call. `advice` is the next step, for the note. */
export const capTimeout = (timeoutMs: number, maxMs: number, advice: string): CappedTimeout =>
  timeoutMs <= maxMs
    ? { timeoutMs, note: '' }
    : {
        timeoutMs: maxMs,
        note: `[The timeout of ${timeoutMs} ms was reduced to ${maxMs} ms, the maximum. ${advice}]`,
      };
