/** `skein context`: what fills the window of a session, or would fill that of a new one here. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SessionMeta, SessionStore } from '../../../protocol/session/store.js';
import { settingsFor } from '../../../sdk/assembly/options/command-settings.js';
import {
  type WindowReport,
  windowOfAgent,
  windowOfBeginning,
} from '../../../sdk/sessions/context-window-report.js';
import { beginningOf } from '../../../sdk/sessions/dry-run-prompt.js';
import { agentOrSession } from '../../../sdk/sessions/find-session.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { chartStyle } from '../../../terminal/text/bar-chart.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { EXIT } from '../../run/exit-code.js';
import type { RunFlags } from '../../run/run-flags.js';
import { contextText } from './context-text.js';
import { leftOut } from './unreadable-sessions.js';
import { withSessions } from './with-session-store.js';

export type ContextFlags = RunFlags & { readonly json?: boolean };

export const showContext = (
  wanted: string | undefined,
  flags: ContextFlags,
  machine: TerminalHost,
): Promise<number> =>
  withSessions(machine, flags, (store) => showWindow(store, wanted, flags, machine));

const showWindow = async (
  store: SessionStore,
  wanted: string | undefined,
  flags: ContextFlags,
  machine: TerminalHost,
): Promise<number> => {
  const here = resolve(machine.cwd, flags.cwd ?? '');
  const isNew = wanted === undefined && !(await hasSession(store, here));
  const { report, title } = isNew
    ? { report: await windowOfNew(flags, machine), title: 'No session of this directory yet.' }
    : await windowOfFormer(store, wanted, here, flags, machine);
  if (flags.json === true) machine.out(`${JSON.stringify(report, null, 2)}\n`);
  else machine.out(`${title}\n${contextText(report, chartStyle(machine))}`);
  return EXIT.done;
};

/** What a session that begins now would have in its window. */
export const windowOfNew = async (
  flags: RunFlags,
  machine: TerminalHost,
): Promise<WindowReport> => {
  const { model, head, opening, settings, notices } = await beginningOf(machine, flags, false);
  const report = windowOfBeginning(model, head, opening, settings.skein.contextWindow);
  return { ...report, notices };
};

const windowOfFormer = async (
  store: SessionStore,
  wanted: string | undefined,
  here: string,
  flags: RunFlags,
  machine: TerminalHost,
): Promise<{ report: WindowReport; title: string }> => {
  const { session, agent } = await agentOrSession(store, wanted, here, leftOut(machine));
  const { contextWindow } = settingsFor(machine, flags, placeOf(session, here)).skein;
  const report = await windowOfAgent(store, session, agent, contextWindow);
  return { report, title: `${session.id}  ${plainText(session.title, 60)}` };
};

const hasSession = async (store: SessionStore, here: string): Promise<boolean> =>
  (await store.list()).some(({ cwd }) => cwd === here);

/** Whose settings apply; those of a directory that is gone cannot. */
const placeOf = ({ cwd }: SessionMeta, here: string): string => (existsSync(cwd) ? cwd : here);
