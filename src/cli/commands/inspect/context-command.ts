/** `skein context`: shows what fills the context window of a session, or of a new session here. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { SessionMeta, SessionStore } from '../../../protocol/session/session-store.js';
import { commandSettings } from '../../../sdk/assembly/options/command-settings.js';
import {
  agentWindowReport,
  type ContextWindowReport,
  newSessionWindowReport,
} from '../../../sdk/sessions/context-window-report.js';
import { dryRunPrompt } from '../../../sdk/sessions/dry-run-prompt.js';
import { findSessionOrAgent } from '../../../sdk/sessions/find-session.js';
import { chartStyle } from '../../../terminal/charts/chart-style.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { ExitCode } from '../../session/exit-code.js';
import type { RunFlags } from '../../session/run-flags.js';
import { unreadableNotices } from '../../session/unreadable-notices.js';
import { withSessionStore } from '../../session/with-session-store.js';
import { contextText } from './context-text.js';

export type ContextFlags = RunFlags & { readonly json?: boolean };

export const contextCommand = (
  query: string | undefined,
  flags: ContextFlags,
  host: TerminalHost,
): Promise<number> =>
  withSessionStore(host, flags, (store) => showWindow(store, query, flags, host));

const showWindow = async (
  store: SessionStore,
  query: string | undefined,
  flags: ContextFlags,
  host: TerminalHost,
): Promise<number> => {
  const directory = resolve(host.cwd, flags.cwd ?? '');
  const isNew = query === undefined && !(await hasSession(store, directory));
  const { report, title } = isNew
    ? {
        report: await newSessionWindow(flags, host),
        title: 'This directory has no session yet.',
      }
    : await storedWindow(store, query, directory, flags, host);
  if (flags.json === true) host.out(`${JSON.stringify(report, null, 2)}\n`);
  else host.out(`${title}\n${contextText(report, chartStyle(host))}`);
  return ExitCode.done;
};

/** Resolves with the window report of a new session. */
export const newSessionWindow = async (
  flags: RunFlags,
  host: TerminalHost,
): Promise<ContextWindowReport> => {
  const { model, head, preamble, settings, notices } = await dryRunPrompt(host, flags, false);
  const report = newSessionWindowReport(model, head, preamble, settings.skein.contextWindow);
  return { ...report, notices };
};

const storedWindow = async (
  store: SessionStore,
  query: string | undefined,
  directory: string,
  flags: RunFlags,
  host: TerminalHost,
): Promise<{ report: ContextWindowReport; title: string }> => {
  const { session, agent } = await findSessionOrAgent(
    store,
    query,
    directory,
    unreadableNotices(host),
  );
  const { contextWindow } = commandSettings(host, flags, settingsFolder(session, directory)).skein;
  const report = await agentWindowReport(store, session, agent, contextWindow);
  return { report, title: `${session.id}  ${plainText(session.title, 60)}` };
};

const hasSession = async (store: SessionStore, directory: string): Promise<boolean> =>
  (await store.list()).some(({ cwd }) => cwd === directory);

/** Returns the directory whose settings apply: that of the session, or `directory` if it no longer exists. */
const settingsFolder = ({ cwd }: SessionMeta, directory: string): string =>
  existsSync(cwd) ? cwd : directory;
