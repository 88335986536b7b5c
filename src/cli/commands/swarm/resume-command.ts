/** `skein resume`: resumes a session here, or an agent of a running session in its process. */
import { isAlive } from '../../../protocol/session/leases.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { resolveSessionId } from '../../../sdk/assembly/options/choose-session.js';
import { commandSwarm, refuseUnlessLive } from '../../../sdk/control/command-swarm.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import type { RunFlags } from '../../session/run-flags.js';
import { withSessionStore } from '../../session/with-session-store.js';
import { printReply, runningAgent, type SteerFlags } from './steer-running-agent.js';

export type ResumeFlags = RunFlags & SteerFlags;

/**
 * Resumes an agent of a running session and resolves with the exit code, or resolves with the flags
 * to run a session that is not running. Rejects with UsageError.
 */
export const resumeCommand = async (
  query: string,
  prompt: string | undefined,
  flags: ResumeFlags,
  host: TerminalHost,
): Promise<number | RunFlags> => {
  const found = await withSessionStore(host, flags, async (store) => {
    const sessions = await store.list();
    const session = query === '' ? undefined : resolveSessionId(sessions, query);
    const isSession = sessions.some(({ id }) => id === session);
    if (session !== undefined && isSession && !isAlive(await store.holder(session))) {
      return session;
    }
    const missing = isSession ? undefined : store.missing?.(query, host.cwd);
    if (missing !== undefined) throw new UsageError(missing);
    const { swarm, agent } = await runningAgent(store, query, host);
    const { id } = swarm.session;
    await refuseUnlessLive(store, id);
    if (prompt !== undefined) {
      throw new UsageError(
        `The session of this agent is running: \`skein send ${agent.id} "…"\` sends a message, and \`skein resume ${agent.id}\` without a prompt resumes the agent.`,
      );
    }
    const reply = await commandSwarm(store, id, { type: 'resume', agent: agent.id });
    return printReply(reply, { session: id }, flags, host);
  });
  if (typeof found === 'number') return found;
  const json = flags.json === true ? ({ print: true, outputFormat: 'json' } as const) : {};
  return { ...flags, ...json, resume: found };
};
