/**
 * Keeps two agents from changing the same file side by side. An agent holds each file it has
 * changed until its run ends; other agents get an error that names the holder. Shell commands are
 * not checked, because the files that they write are not known.
 */
import { ancestorsOf } from '../../lib/ancestors-of.js';
import type { Clock } from '../../protocol/clock.js';
import type { EditLeaseHolder, EditLeaseStore } from '../../protocol/session/edit-lease-store.js';
import { ToolFailure } from '../../protocol/tools/tool.js';
import type { Workspace } from '../../protocol/tools/workspace.js';
import { agentLabel } from '../../tools/agents/agent-report.js';
import type { AgentRegistry } from '../tree/agent-registry.js';

export interface EditLeases {
  /** Throws ToolFailure if another agent holds the file that a call is about to change. */
  refuseIfHeld(agent: string, path: string, workspace: Workspace): Promise<void>;
  /** Wraps a workspace: the agent holds each file that it writes there. */
  workspaceOf(agent: string, workspace: Workspace): Workspace;
  /** Releases all files of an agent that has ended or is idle. */
  release(agent: string): void;
}

interface EditLeasesOptions {
  readonly leases: EditLeaseStore;
  readonly clock: Clock;
  readonly lead: string;
  readonly registry: () => Pick<AgentRegistry, 'get'>;
}

export const editLeases = ({ leases, clock, lead, registry }: EditLeasesOptions): EditLeases => {
  /**
   * Returns the ancestors that wait for this agent. They do nothing meanwhile, so the agent may
   * change the files that they hold.
   */
  const waitingAncestors = (agent: string): readonly string[] => {
    const waitingParent = (id: string) => {
      const entry = registry().get(id);
      return entry?.isAwaited === true ? entry.tag.parent : undefined;
    };
    return [...ancestorsOf(agent, waitingParent)];
  };
  const refuse = (path: string, { agent, since }: EditLeaseHolder): never => {
    const tag = registry().get(agent)?.tag;
    const holderLabel =
      tag === undefined ? `the ${agent === lead ? 'lead' : 'agent'} ${agent}` : agentLabel(tag);
    throw new ToolFailure(heldText(path, holderLabel, since));
  };
  return {
    async refuseIfHeld(agent, path, workspace) {
      const holder = await leases.holder(realPath(path, workspace));
      if (holder === undefined || holder.agent === agent) return;
      if (!waitingAncestors(agent).includes(holder.agent)) refuse(path, holder);
    },
    workspaceOf: (agent, workspace) => ({
      resolve: (path) => workspace.resolve(path),
      read: (path, maxBytes) => workspace.read(path, maxBytes),
      stat: (path) => workspace.stat(path),
      async write(path, bytes, expected) {
        const real = realPath(path, workspace);
        const previousHolder = await leases.holder(real);
        const holder = await leases.take(
          real,
          { agent, since: clock.now() },
          waitingAncestors(agent),
        );
        if (holder.agent !== agent) refuse(path, holder);
        try {
          return await workspace.write(path, bytes, expected);
        } catch (error) {
          // A failed write changed no file, so it takes no lease.
          if (previousHolder?.agent !== agent) await leases.release(real, agent);
          throw error;
        }
      },
    }),
    release: (agent) => void leases.releaseAll(agent),
  };
};

/** Returns the real path, because two names may lead to one file. */
const realPath = (path: string, workspace: Workspace): string => workspace.landing?.(path) ?? path;

/** Returns the same text each time, so the loop detector recognises repeated attempts. */
const heldText = (path: string, holderLabel: string, since: number): string =>
  `${path} is being changed by ${holderLabel}, which has held it since ${timeText(since)}. Nothing was written. Work on something else, wait until that agent has ended, or write to it with SendMessage. Agents that must change the same files side by side need isolation: "worktree".`;

const timeText = (since: number): string => `${new Date(since).toISOString().slice(0, 19)}Z`;
