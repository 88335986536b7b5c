/** `skein cost`: what a session cost, per model and in all, what the cache saved and where it failed. */

import { resolve } from 'node:path';
import type { SessionStore } from '../protocol/store.js';
import { costOfSession } from '../sdk/cost-ledger.js';
import { sessionNamed } from '../sdk/session-archive.js';
import type { StoreFlags } from '../sdk/store-choice.js';
import { chartStyle } from '../terminal/bar-chart.js';
import { plainText } from '../terminal/harmless-text.js';
import type { Machine } from '../terminal/machine.js';
import { costText } from './cost-text.js';
import { EXIT } from './exit-code.js';
import { withSessions } from './with-sessions.js';

export interface CostFlags extends StoreFlags {
  readonly json?: boolean;
}

export const showCost = (
  wanted: string | undefined,
  flags: CostFlags,
  machine: Machine,
): Promise<number> =>
  withSessions(machine, flags, (store) => showReport(store, wanted, flags, machine));

const showReport = async (
  store: SessionStore,
  wanted: string | undefined,
  flags: CostFlags,
  machine: Machine,
): Promise<number> => {
  const { id, title } = await sessionNamed(store, wanted, resolve(machine.cwd, flags.cwd ?? ''));
  const report = await costOfSession(store, id);
  const isRunning = (await store.holder(id)) !== undefined;
  if (flags.json === true) {
    machine.out(`${JSON.stringify({ session: id, ...report }, null, 2)}\n`);
  } else {
    const text = costText(report, isRunning, chartStyle(machine));
    machine.out(`${id}  ${plainText(title, 80)}\n\n${text}`);
  }
  return EXIT.done;
};
