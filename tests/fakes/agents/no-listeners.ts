/** Rejections that nobody minds end a process: those of a test, while it runs. */
import { onTestFinished } from 'vitest';

export const unmindedRejections = () => {
  const reasons: unknown[] = [];
  const note = (reason: unknown) => reasons.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  /** All so far; Node tells of them when a turn of the event loop is over. */
  return async (): Promise<readonly unknown[]> => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    return reasons;
  };
};
