/** Steers an agent of a running swarm: finds the agent, sends a command, prints the reply. */
import type { CommandReply, SwarmCommand } from '../../../protocol/agent/swarm-command.js';
import { LEAD_NAME } from '../../../protocol/agent/team-message.js';
import type { SessionStore } from '../../../protocol/session/session-store.js';
import type { StoreFlags } from '../../../sdk/assembly/options/store-choice.js';
import { refuseUnlessLive } from '../../../sdk/control/command-swarm.js';
import { steerAgent } from '../../../sdk/control/steer-agent.js';
import { resolveAddress } from '../../../sdk/sessions/find-session.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { liveSwarmViews, sessionsWithQueuedAgents } from '../../../views/swarm/live-sessions.js';
import {
  type AgentHit,
  findAgent,
  findAgents,
  swarmViews,
} from '../../../views/swarm/swarm-view.js';
import { ExitCode } from '../../session/exit-code.js';
import { unreadableNotices } from '../../session/unreadable-notices.js';
import { withSessionStore } from '../../session/with-session-store.js';

export interface SteerFlags extends StoreFlags {
  readonly json?: boolean;
}

/** Sends a command to an agent of a running swarm and prints the reply. Returns the exit code. */
export const steerRunningAgent = (
  query: string,
  command: (agent: string) => SwarmCommand,
  flags: SteerFlags,
  host: TerminalHost,
): Promise<number> =>
  withSessionStore(host, flags, async (store) => {
    const { swarm, agent } = await runningAgent(store, query, host);
    const { id } = swarm.session;
    const reply = await steerAgent(store, id, agent.id, command(agent.id));
    return printReply(reply, { session: id }, flags, host);
  });

/**
 * Finds an agent of a running swarm, or of a swarm that waits for a worker. Rejects with UsageError that says what to
 * do instead.
 */
export const runningAgent = async (
  store: SessionStore,
  query: string,
  host: TerminalHost,
): Promise<AgentHit> => {
  const notice = unreadableNotices(host);
  const swarms = await liveSwarmViews(store, notice);
  // `lead` matches running swarms only.
  if (query !== LEAD_NAME && findAgents(swarms, query).length === 0) {
    const matches = await resolveAddress(store, query, notice);
    const waiting = await sessionsWithQueuedAgents(store, matches);
    if (waiting.length > 0) return findAgent(await swarmViews(store, waiting, notice), query);
    for (const { session } of matches.slice(0, 1)) await refuseUnlessLive(store, session.id);
  }
  return findAgent(swarms, query);
};

/** Prints the reply, on stderr if the command failed. Returns the exit code. */
export const printReply = (
  reply: CommandReply,
  details: object,
  { json }: Pick<SteerFlags, 'json'>,
  host: TerminalHost,
): number => {
  if (json === true) host.out(`${JSON.stringify({ ...details, ...reply }, null, 2)}\n`);
  else if (reply.ok) host.out(`${plainText(reply.sentence, 1_000)}\n`);
  else host.err(`skein: ${plainText(reply.sentence, 1_000)}\n`);
  return reply.ok ? ExitCode.done : ExitCode.failed;
};
