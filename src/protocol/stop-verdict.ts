/** What somebody who looks at a run before it ends may say of it. */

/** What the reviewer says of an end. A blocked one adds a message of the user's side and goes on. */
export interface StopVerdict {
  readonly block: boolean;
  readonly reason?: string;
  /** Anything the model should see with it, such as the output of a failed test. */
  readonly context?: string;
}

export type ReviewStop = (
  end: { readonly answer: string },
  signal: AbortSignal,
) => Promise<StopVerdict>;
