/**
 * A worker of BullMQ asks again at once for what Redis has refused, thousands of times a second. So it rests
 * until Redis takes a write again, and a moment longer: a right that is missing may be there later.
 */
export interface Hand {
  on(event: 'error', heard: (error: Error) => void): unknown;
  /** With true those that it works on go on. */
  pause(isLeft: boolean): Promise<void>;
  resume(): Promise<void>;
}

const PAUSE_MS = 1_000;

/** `write` resolves when Redis has taken one, and rejects when it refuses that for good. */
export const pauseOnRefusal = (hand: Hand, write: () => Promise<void>): void => {
  let isResting = false;
  const rest = async () => {
    await hand.pause(true);
    await write().catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS).unref());
    isResting = false;
    await hand.resume();
  };
  hand.on('error', ({ name }) => {
    // What Redis says itself; BullMQ has errors of its own, about single jobs.
    if (name !== 'ReplyError' || isResting) return;
    isResting = true;
    void rest();
  });
};
