/** `skein context`: what fills the window of a session, or would fill that of a new one here. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SessionMeta } from '../protocol/store.js';
import { agentOrSession, openArchive } from '../sdk/session-archive.js';
import { windowOfAgent } from '../sdk/window-report.js';
import { settingsFor } from '../sdk/workbench-settings.js';
import { chartStyle } from './bar-chart.js';
import { contextText } from './context-text.js';
import { EXIT } from './exit-code.js';
import { plainText } from './harmless-text.js';
import type { Machine } from './machine.js';
import type { RunFlags } from './run-flags.js';

export type ContextFlags = RunFlags & { readonly json?: boolean };

export const showContext = async (
  wanted: string | undefined,
  flags: ContextFlags,
  machine: Machine,
): Promise<number> => {
  const store = openArchive(machine);
  const here = resolve(machine.cwd, flags.cwd ?? '');
  const { session, agent } = await agentOrSession(store, wanted, here);
  const { contextWindow } = settingsFor(machine, flags, placeOf(session, here)).skein;
  const report = await windowOfAgent(store, session, agent, contextWindow);
  if (flags.json === true) machine.out(`${JSON.stringify(report, null, 2)}\n`);
  else {
    const title = `${report.session}  ${plainText(session.title, 60)}`;
    machine.out(`${title}\n${contextText(report, chartStyle(machine))}`);
  }
  return EXIT.done;
};

/** Whose settings apply; those of a directory that is gone cannot. */
const placeOf = ({ cwd }: SessionMeta, here: string): string => (existsSync(cwd) ? cwd : here);
