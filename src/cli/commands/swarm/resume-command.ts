/** `skein resume`: a session that nobody runs goes on here; an agent of one that runs, where it is. */
import { UsageError } from '../../../protocol/errors.js';
import { findSession } from '../../../sdk/assembly/options/session-choice.js';
import { commandSwarm, refuseUnlessLive } from '../../../sdk/control/remote-commands.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import type { RunFlags } from '../../run/run-flags.js';
import { runAgent } from '../../run-agent.js';
import { withSessions } from '../inspect/with-session-store.js';
import { runningAgent, type SteerFlags, tellReply } from './steer-command.js';

export type ResumeFlags = RunFlags & SteerFlags;

export const resume = async (
  wanted: string,
  prompt: string | undefined,
  flags: ResumeFlags,
  machine: TerminalHost,
  end: (code: number) => void,
): Promise<void> => {
  const found = await withSessions(machine, flags, async (store) => {
    const sessions = await store.list();
    const session = wanted === '' ? undefined : findSession(sessions, wanted);
    const isKnown = sessions.some(({ id }) => id === session);
    if (session !== undefined && isKnown && (await store.holder(session)) === undefined) {
      return session;
    }
    const { swarm, agent } = await runningAgent(store, wanted, machine);
    const { id } = swarm.session;
    await refuseUnlessLive(store, id);
    if (prompt !== undefined) {
      throw new UsageError(
        `Its session runs already: \`skein send ${agent.id} "…"\` tells it something, and without a text \`skein resume ${agent.id}\` lets it go on.`,
      );
    }
    const reply = await commandSwarm(store, id, { type: 'resume', agent: agent.id });
    return tellReply(reply, { session: id }, flags, machine);
  });
  if (typeof found === 'number') {
    end(found);
    return;
  }
  const json = flags.json === true ? ({ print: true, outputFormat: 'json' } as const) : {};
  await runAgent(prompt, { ...flags, ...json, resume: found }, machine, end);
};
