/**
 * Counts runs for limits. A run that the report of an agent starts belongs to the run before it;
 * otherwise agents that start others when they end would never meet a limit.
 */
import type { History } from '../../context/history/history.js';

export interface RunCounter {
  /** True if a person has started a run since the last call. */
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
