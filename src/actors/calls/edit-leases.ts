/**
 * Keeps two agents from changing the same file side by side: whoever has changed one holds it until its
 * run ends, and others are told who that is. Commands are not held to it: nobody knows what they write.
 */
import type { Clock } from '../../protocol/clock.js';
import type { FileHolder, FileLeases } from '../../protocol/session/edit-leases.js';
import { ToolFailure, type Workspace } from '../../protocol/tools/tool.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import type { AgentRegistry } from '../tree/agent-registry.js';

export interface EditLeases {
  /** Throws a ToolFailure when another agent holds the file that a call is about to change. */
  refuseIfHeld(agent: string, path: string, workspace: Workspace): Promise<void>;
  /** What is written there its agent holds from then on. */
  workspaceOf(agent: string, workspace: Workspace): Workspace;
  /** Its run is over, or it rests: what it holds is anybody's. */
  release(agent: string): void;
}

export interface EditLeasesOptions {
  readonly leases: FileLeases;
  readonly clock: Clock;
  readonly lead: string;
  readonly roster: () => Pick<AgentRegistry, 'get'>;
}

export const editLeases = ({ leases, clock, lead, roster }: EditLeasesOptions): EditLeases => {
  /** Those whose calls wait for it: they do nothing meanwhile, so what they hold is its own. */
  const giversTo = (agent: string): readonly string[] => {
    const givers: string[] = [];
    let entry = roster().get(agent);
    // What files say of parents may go in circles.
    while (entry?.isAwaited === true && !givers.includes(entry.tag.parent)) {
      givers.push(entry.tag.parent);
      entry = roster().get(entry.tag.parent);
    }
    return givers;
  };
  const refuse = (path: string, { agent, since }: FileHolder): never => {
    const tag = roster().get(agent)?.tag;
    const who =
      tag === undefined ? `the ${agent === lead ? 'lead' : 'agent'} ${agent}` : agentLabel(tag);
    throw new ToolFailure(heldText(path, who, since));
  };
  return {
    async refuseIfHeld(agent, path, workspace) {
      const holder = await leases.holder(landingOf(path, workspace));
      if (holder === undefined || holder.agent === agent) return;
      if (!giversTo(agent).includes(holder.agent)) refuse(path, holder);
    },
    workspaceOf: (agent, workspace) => ({
      resolve: (path) => workspace.resolve(path),
      read: (path, maxBytes) => workspace.read(path, maxBytes),
      stat: (path) => workspace.stat(path),
      async write(path, bytes, expected) {
        const place = landingOf(path, workspace);
        const before = await leases.holder(place);
        const holder = await leases.take(place, { agent, since: clock.now() }, giversTo(agent));
        if (holder.agent !== agent) refuse(path, holder);
        try {
          return await workspace.write(path, bytes, expected);
        } catch (error) {
          // Whoever has changed nothing holds nothing.
          if (before?.agent !== agent) await leases.release(place, agent);
          throw error;
        }
      },
    }),
    release: (agent) => void leases.releaseAll(agent),
  };
};

/** Two names may lead to one file. */
const landingOf = (path: string, workspace: Workspace): string => workspace.landing?.(path) ?? path;

/** The same words each time: whoever tries again and again is known by that. */
const heldText = (path: string, who: string, since: number): string =>
  `${path} is being changed by ${who}, which holds it since ${timeText(since)}. Nothing was written. Work on something else, wait until that agent has ended, or write to it with SendMessage. Agents that must change the same files side by side need isolation: "worktree".`;

const timeText = (since: number): string => `${new Date(since).toISOString().slice(0, 19)}Z`;
