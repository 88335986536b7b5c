/** The context provider of a child: the shared context, followed by the role of its type, in a block of its own. */
import { toParentTree } from '../../policy/paths/worktree-mapping.js';
import { LOST_ROLE, roleText } from '../../prompt/messages/role-text.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import type { AgentOrigin } from '../../protocol/session/swarm-records.js';

/**
 * A compaction keeps the role in place. The role is journaled when it is sent, so a child whose definition is
 * gone by then works without a role, and `onLostRole` is called once.
 */
export const childContext = (
  shared: ContextProvider,
  { type, ownPrompt, inherits, worktree }: AgentOrigin,
  definition: AgentDefinition | undefined,
  onLostRole: (type: string) => void,
): ContextProvider => {
  const hasRole = inherits === undefined && !ownPrompt && type !== null;
  const role = hasRole ? roleText(type, definition?.prompt ?? LOST_ROLE) : '';
  const inParentTree = toParentTree(worktree === undefined ? [] : [worktree]);
  let isReported = !hasRole || definition !== undefined;
  return {
    head: (request) => shared.head(request),
    isStale: (head) => shared.isStale(head),
    get mayChange() {
      return shared.mayChange;
    },
    async preamble() {
      if (!isReported) onLostRole(type ?? '');
      isReported = true;
      const preamble = await shared.preamble();
      return role === '' ? preamble : { ...preamble, role };
    },
    // Instructions for files of the parent tree apply to their copies in the worktree.
    reminders: (announced, touched) => shared.reminders(announced, touched.map(inParentTree)),
    // A child cannot renew the context that it shares with others.
    renew: () => {},
  };
};
