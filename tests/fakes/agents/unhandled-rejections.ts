/** Collects unhandled rejections, which would end a process, while a test runs. */
import { onTestFinished } from 'vitest';

export const unhandledRejections = () => {
  const reasons: unknown[] = [];
  const note = (reason: unknown) => reasons.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));
  /** Returns all unhandled rejections. Node emits them at the end of an event loop turn. */
  return async (): Promise<readonly unknown[]> => {
    await new Promise((resolve) => setTimeout(resolve, 10));
    return reasons;
  };
};
