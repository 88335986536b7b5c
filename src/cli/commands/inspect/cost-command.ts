/** `skein cost`: what a session cost, per model and in all, what the cache saved and where it failed. */

import { resolve } from 'node:path';
import type { SessionStore } from '../../../protocol/session/store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { sessionNamed } from '../../../sdk/sessions/find-session.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { chartStyle } from '../../../terminal/text/bar-chart.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { costOfSession } from '../../../views/cost/session-cost.js';
import { EXIT } from '../../run/exit-code.js';
import { costText } from './cost-text.js';
import { withSessions } from './with-session-store.js';

export interface CostFlags extends StoreFlags {
  readonly json?: boolean;
}

export const showCost = (
  wanted: string | undefined,
  flags: CostFlags,
  machine: TerminalHost,
): Promise<number> =>
  withSessions(machine, flags, (store) => showReport(store, wanted, flags, machine));

const showReport = async (
  store: SessionStore,
  wanted: string | undefined,
  flags: CostFlags,
  machine: TerminalHost,
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
