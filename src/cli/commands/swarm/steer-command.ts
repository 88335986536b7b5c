/** `skein send` and `skein stop`: what a person wants of an agent of a running swarm. */

import type { CommandReply, SwarmCommand } from '../../../protocol/agent/swarm-commands.js';
import { UsageError } from '../../../protocol/errors.js';
import type { SessionStore } from '../../../protocol/session/store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import {
  liveSwarms,
  refuseUnlessLive,
  sessionsThatQueue,
} from '../../../sdk/control/remote-commands.js';
import { refusalOfText, steerAgent } from '../../../sdk/control/steer-agent.js';
import { addressedBy } from '../../../sdk/sessions/find-session.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import {
  type AgentHit,
  agentNamed,
  agentsNamed,
  LEAD,
  viewsOfSwarms,
} from '../../../views/swarm/swarm-view.js';
import { readPrompt } from '../../print/read-prompt.js';
import { EXIT } from '../../run/exit-code.js';
import { leftOut } from '../inspect/unreadable-sessions.js';
import { withSessions } from '../inspect/with-session-store.js';

export interface SteerFlags extends StoreFlags {
  readonly json?: boolean;
}

export const sendToAgent = async (
  wanted: string,
  given: string | undefined,
  flags: SteerFlags,
  machine: TerminalHost,
): Promise<number> => {
  const text = given ?? (await readPiped(machine));
  if (text.trim() === '') throw new UsageError(NO_TEXT);
  const refusal = refusalOfText(text);
  if (refusal !== undefined) throw new UsageError(refusal);
  return steer(wanted, (agent) => ({ type: 'send', agent, text }), flags, machine);
};

const NO_TEXT = 'There is no text: give one, as in skein send lead "…", or pipe one in.';

const readPiped = (machine: TerminalHost): Promise<string> => {
  if (machine.stdin.isTTY !== true) return readPrompt(undefined, machine, NO_TEXT);
  throw new UsageError(NO_TEXT);
};

export const stopAgent = (
  wanted: string,
  flags: SteerFlags,
  machine: TerminalHost,
): Promise<number> => steer(wanted, (agent) => ({ type: 'stop', agent }), flags, machine);

const steer = (
  wanted: string,
  command: (agent: string) => SwarmCommand,
  flags: SteerFlags,
  machine: TerminalHost,
): Promise<number> =>
  withSessions(machine, flags, async (store) => {
    const { swarm, agent } = await runningAgent(store, wanted, machine);
    const { id } = swarm.session;
    const reply = await steerAgent(store, id, agent.id, command(agent.id));
    return tellReply(reply, { session: id }, flags, machine);
  });

/** Of a running swarm, or one that waits for a worker. Throws a UsageError that says what to do instead. */
export const runningAgent = async (
  store: SessionStore,
  wanted: string,
  machine: TerminalHost,
): Promise<AgentHit> => {
  const tell = leftOut(machine);
  const swarms = await liveSwarms(store, tell);
  // `lead` is that of a swarm that runs, and of no other.
  if (wanted !== LEAD && agentsNamed(swarms, wanted).length === 0) {
    const former = await addressedBy(store, wanted, tell);
    const waiting = await sessionsThatQueue(store, former);
    if (waiting.length > 0) return agentNamed(await viewsOfSwarms(store, waiting, tell), wanted);
    for (const { session } of former.slice(0, 1)) await refuseUnlessLive(store, session.id);
  }
  return agentNamed(swarms, wanted);
};

/** One sentence, on stderr when nothing came of it. */
export const tellReply = (
  reply: CommandReply,
  about: object,
  { json }: Pick<SteerFlags, 'json'>,
  machine: TerminalHost,
): number => {
  if (json === true) machine.out(`${JSON.stringify({ ...about, ...reply }, null, 2)}\n`);
  else if (reply.ok) machine.out(`${plainText(reply.sentence, 1_000)}\n`);
  else machine.err(`skein: ${plainText(reply.sentence, 1_000)}\n`);
  return reply.ok ? EXIT.done : EXIT.failed;
};
