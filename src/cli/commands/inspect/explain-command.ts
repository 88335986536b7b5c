/** `skein explain`: shows why a call ran or did not run, its changes, and earlier mentions. */

import { resolve } from 'node:path';
import { redact } from '../../../policy/redaction/redact.js';
import type { SessionMeta, SessionStore } from '../../../protocol/session/session-store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { findSession } from '../../../sdk/sessions/find-session.js';
import { chartStyle } from '../../../terminal/charts/chart-style.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { explainCall } from '../../../views/calls/call-explanation.js';
import { findCall, type ListedCall, listCalls } from '../../../views/calls/list-calls.js';
import { ExitCode } from '../../session/exit-code.js';
import { withSessionStore } from '../../session/with-session-store.js';
import { callsText, explainText } from './explain-text.js';

export interface ExplainFlags extends StoreFlags {
  readonly json?: boolean;
}

export const explainCommand = (
  session: string | undefined,
  call: string | undefined,
  flags: ExplainFlags,
  host: TerminalHost,
): Promise<number> =>
  withSessionStore(host, flags, (store) => showCalls(store, session, call, flags, host));

const showCalls = async (
  store: SessionStore,
  session: string | undefined,
  call: string | undefined,
  flags: ExplainFlags,
  host: TerminalHost,
): Promise<number> => {
  const directory = resolve(host.cwd, flags.cwd ?? '');
  const { meta, callQuery } = await resolveArguments(store, session, call, directory);
  const calls = await listCalls(store, meta.id);
  const { width } = chartStyle(host);
  const out = (value: unknown, text: () => string) =>
    host.out(redact(flags.json === true ? `${JSON.stringify(value, null, 2)}\n` : text()));
  if (callQuery === undefined) {
    out({ session: meta.id, calls: calls.map(rowOf) }, () => {
      return `${meta.id}  ${plainText(meta.title, 60)}\n\n${callsText(calls, width)}`;
    });
    return ExitCode.done;
  }
  const explained = await explainCall(store, meta.id, calls, findCall(calls, callQuery));
  out(explained, () => explainText(explained, width));
  return ExitCode.done;
};

/** Finds the session and the call. A single argument such as `3` names a call of the newest session here. */
const resolveArguments = async (
  store: SessionStore,
  session: string | undefined,
  call: string | undefined,
  directory: string,
): Promise<{ meta: SessionMeta; callQuery: string | undefined }> => {
  const isCall =
    session !== undefined && call === undefined && /^(?:#?\d+|toolu_\w*)$/.test(session);
  const isNone = isCall && !(await store.list()).some(({ id }) => id.startsWith(session));
  if (isNone) return { meta: await findSession(store, undefined, directory), callQuery: session };
  return { meta: await findSession(store, session, directory), callQuery: call };
};

const rowOf = ({ number, call, agent, tool, turn, ts, outcome }: ListedCall) => ({
  number,
  call,
  agent,
  tool,
  turn,
  at: ts,
  outcome,
});
