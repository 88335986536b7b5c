/** Worktrees that are nowhere: what they are asked for is written down, and what becomes of work is scripted. */
import type {
  Settlement,
  SettleOrder,
  WorktreePlace,
  Worktrees,
} from '../../../src/protocol/tools/worktree.js';
import { WorktreeRefusal } from '../../../src/protocol/tools/worktree.js';

export interface ScriptedWorktrees extends Worktrees {
  /** `open a_2`, `reopen a_2 from base`, `settle a_2`, `stay a_2`. */
  readonly asked: readonly string[];
  readonly orders: readonly SettleOrder[];
  /** Paths that a merge is about to change. */
  changes: readonly string[];
  becomes: Settlement;
  /** Refuses all that is asked for, for this reason. */
  refusal: string | undefined;
  /** Who has the tree whenever somebody wants it. */
  holder: string | undefined;
  /** Never comes back from the next settling: the process dies in there. */
  dies: boolean;
}

export const scriptedWorktrees = (top = '/tmp'): ScriptedWorktrees => {
  const asked: string[] = [];
  const orders: SettleOrder[] = [];
  const refuse = () => {
    if (worktrees.refusal !== undefined) throw new WorktreeRefusal(worktrees.refusal);
  };
  const worktrees: ScriptedWorktrees = {
    asked,
    orders,
    changes: [],
    becomes: { kind: 'unchanged' },
    refusal: undefined,
    dies: false,
    holder: undefined,
    async open({ agent, session, cwd, waits }) {
      asked.push(`open ${agent}`);
      if (worktrees.holder !== undefined) waits?.(worktrees.holder, top);
      refuse();
      return placeAt(`/home/.skein/worktrees/${session}/${agent}`, agent, cwd === top ? top : cwd);
    },
    async reopen({ agent }, { base }) {
      asked.push(`reopen ${agent} from ${base}`);
      refuse();
    },
    async settle(order) {
      asked.push(`${order.stays === true ? 'stay' : 'settle'} ${order.agent}`);
      orders.push(order);
      if (worktrees.holder !== undefined) order.waits?.(worktrees.holder, top);
      if (worktrees.dies) await new Promise(() => {});
      if (worktrees.changes.length > 0) await order.beforeMerge(worktrees.changes);
      const { becomes: settlement } = worktrees;
      const diff = Buffer.from(settlement.kind === 'unchanged' ? '' : 'a diff');
      return { settlement, diff };
    },
  };
  return worktrees;
};

const placeAt = (path: string, agent: string, top: string): WorktreePlace => ({
  path,
  branch: `agent/${agent}`,
  base: 'base',
  top,
  cwd: path,
});
