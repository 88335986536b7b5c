/**
 * Runs as limits count them. One that began because an agent reported belongs to the run before it, or
 * agents that start others whenever they end would never meet a limit.
 */
import type { History } from '../../context/history/history.js';

export interface RunCounter {
  /** Whether a person has begun a run since this was asked last. */
  isNew(): boolean;
}

export const runCounter = (history: Pick<History, 'runs' | 'prompts'>): RunCounter => {
  let { runs, prompts } = history;
  return {
    isNew() {
      const isNew = history.runs !== runs && history.prompts !== prompts;
      runs = history.runs;
      if (isNew) prompts = history.prompts;
      return isNew;
    },
  };
};
