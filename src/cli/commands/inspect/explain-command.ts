/** `skein explain`: why a call ran or did not, what it changed, and what the model had seen before. */

import { resolve } from 'node:path';
import { redact } from '../../../policy/redaction/redaction.js';
import type { SessionMeta, SessionStore } from '../../../protocol/session/store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { sessionNamed } from '../../../sdk/sessions/find-session.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { chartStyle } from '../../../terminal/text/bar-chart.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { explainCall } from '../../../views/calls/call-explanation.js';
import { callNamed, callsOfSession, type ListedCall } from '../../../views/calls/call-list.js';
import { EXIT } from '../../run/exit-code.js';
import { callsText, explainText } from './explain-text.js';
import { withSessions } from './with-session-store.js';

export interface ExplainFlags extends StoreFlags {
  readonly json?: boolean;
}

export const showExplanation = (
  session: string | undefined,
  call: string | undefined,
  flags: ExplainFlags,
  machine: TerminalHost,
): Promise<number> =>
  withSessions(machine, flags, (store) => showCalls(store, session, call, flags, machine));

const showCalls = async (
  store: SessionStore,
  session: string | undefined,
  call: string | undefined,
  flags: ExplainFlags,
  machine: TerminalHost,
): Promise<number> => {
  const here = resolve(machine.cwd, flags.cwd ?? '');
  const { meta, wanted } = await whatWasMeant(store, session, call, here);
  const calls = await callsOfSession(store, meta.id);
  const { width } = chartStyle(machine);
  const out = (value: unknown, text: () => string) =>
    machine.out(redact(flags.json === true ? `${JSON.stringify(value, null, 2)}\n` : text()));
  if (wanted === undefined) {
    out({ session: meta.id, calls: calls.map(rowOf) }, () => {
      return `${meta.id}  ${plainText(meta.title, 60)}\n\n${callsText(calls, width)}`;
    });
    return EXIT.done;
  }
  const explained = await explainCall(store, meta.id, calls, callNamed(calls, wanted));
  out(explained, () => explainText(explained, width));
  return EXIT.done;
};

/** One word that no session has is a call of the newest session here: `skein explain 3`. */
const whatWasMeant = async (
  store: SessionStore,
  session: string | undefined,
  call: string | undefined,
  here: string,
): Promise<{ meta: SessionMeta; wanted: string | undefined }> => {
  const isCall =
    session !== undefined && call === undefined && /^(?:#?\d+|toolu_\w*)$/.test(session);
  const isNone = isCall && !(await store.list()).some(({ id }) => id.startsWith(session));
  if (isNone) return { meta: await sessionNamed(store, undefined, here), wanted: session };
  return { meta: await sessionNamed(store, session, here), wanted: call };
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
