/** `skein cost`: shows the cost of a session per model, cache savings and cache misses. */

import { resolve } from 'node:path';
import type { SessionStore } from '../../../protocol/session/session-store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { findSession } from '../../../sdk/sessions/find-session.js';
import { chartStyle } from '../../../terminal/charts/chart-style.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { sessionCost } from '../../../views/cost/session-cost.js';
import { ExitCode } from '../../session/exit-code.js';
import { withSessionStore } from '../../session/with-session-store.js';
import { costText } from './cost-text.js';

export interface CostFlags extends StoreFlags {
  readonly json?: boolean;
}

export const costCommand = (
  query: string | undefined,
  flags: CostFlags,
  host: TerminalHost,
): Promise<number> =>
  withSessionStore(host, flags, (store) => showReport(store, query, flags, host));

const showReport = async (
  store: SessionStore,
  query: string | undefined,
  flags: CostFlags,
  host: TerminalHost,
): Promise<number> => {
  const { id, title } = await findSession(store, query, resolve(host.cwd, flags.cwd ?? ''));
  const report = await sessionCost(store, id);
  const isRunning = (await store.holder(id)) !== undefined;
  if (flags.json === true) {
    host.out(`${JSON.stringify({ session: id, ...report }, null, 2)}\n`);
  } else {
    const text = costText(report, isRunning, chartStyle(host));
    host.out(`${id}  ${plainText(title, 80)}\n\n${text}`);
  }
  return ExitCode.done;
};
