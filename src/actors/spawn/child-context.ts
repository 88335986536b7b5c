/** What an agent that works for another is told: what it shares with others, and behind that its role. */
import { toParentTree } from '../../policy/paths/worktree-mapping.js';
import { LOST_ROLE, roleText } from '../../prompt/messages/delegation-text.js';
import type { AgentDefinition } from '../../protocol/agent/agent-definition.js';
import type { ContextProvider } from '../../protocol/model/context-provider.js';
import type { Origin } from '../../protocol/session/swarm-records.js';

/**
 * A compaction keeps the role where it is. It is not on record before it is sent: one whose definition is
 * gone by then works without, and `lost` is told of it, once.
 */
export const briefingFor = (
  shared: ContextProvider,
  { type, ownPrompt, inherits, worktree }: Origin,
  definition: AgentDefinition | undefined,
  lost: (type: string) => void,
): ContextProvider => {
  const hasRole = inherits === undefined && !ownPrompt && type !== null;
  const role = hasRole ? roleText(type, definition?.prompt ?? LOST_ROLE) : '';
  const home = toParentTree(worktree === undefined ? [] : [worktree]);
  let isTold = !hasRole || definition !== undefined;
  return {
    head: (request) => shared.head(request),
    isStale: (head) => shared.isStale(head),
    get mayChange() {
      return shared.mayChange;
    },
    async opening() {
      if (!isTold) lost(type ?? '');
      isTold = true;
      const opening = await shared.opening();
      return { ...opening, text: [opening.text, role].filter(Boolean).join('\n\n') };
    },
    // Instructions for files hold for those that stand for them.
    reminders: (told, touched) => shared.reminders(told, touched.map(home)),
    // What one agent looks at anew, the others go on with as it was.
    renew: () => {},
  };
};
