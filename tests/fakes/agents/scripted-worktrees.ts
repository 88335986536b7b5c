/** Worktrees that record their calls and return scripted results, without any folder. */
import type {
  Settlement,
  SettleOptions,
  WorktreeLocation,
  Worktrees,
} from '../../../src/protocol/tools/worktrees.js';
import { WorktreeRefusal } from '../../../src/protocol/tools/worktrees.js';

export interface ScriptedWorktrees extends Worktrees {
  /** Calls in order: `open a_2`, `reopen a_2 from base`, `settle a_2`, `stay a_2`. */
  readonly asked: readonly string[];
  readonly orders: readonly SettleOptions[];
  /** Paths that the next merge changes. */
  changes: readonly string[];
  becomes: Settlement;
  /** Reason with which every call is refused. */
  refusal: string | undefined;
  /** Holder of the lock, whenever a call wants it. */
  holder: string | undefined;
  /** True if the next `settle` never resolves, as if the process died. */
  dies: boolean;
}

export const scriptedWorktrees = (top = '/tmp'): ScriptedWorktrees => {
  const asked: string[] = [];
  const orders: SettleOptions[] = [];
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
    async open({ agent, session, cwd, onWait: waits }) {
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
      asked.push(`${order.keepsFolder === true ? 'stay' : 'settle'} ${order.agent}`);
      orders.push(order);
      if (worktrees.holder !== undefined) order.onWait?.(worktrees.holder, top);
      if (worktrees.dies) await new Promise(() => {});
      if (worktrees.changes.length > 0) await order.beforeMerge(worktrees.changes);
      const { becomes: settlement } = worktrees;
      const diff = Buffer.from(settlement.kind === 'unchanged' ? '' : 'a diff');
      return { settlement, diff };
    },
  };
  return worktrees;
};

const placeAt = (path: string, agent: string, top: string): WorktreeLocation => ({
  path,
  branch: `agent/${agent}`,
  base: 'base',
  top,
  cwd: path,
});
