/** Git worktrees of agents: creation, location, and the way of the work back to the parent's tree. */
import { z } from 'zod';
import { SkeinError } from '../skein-error.js';

/** Location of an agent's worktree, as journaled. A resumed agent uses the same location. */
export const worktreeLocation = z.object({
  /** Absolute path of the worktree. */
  path: z.string(),
  branch: z.string(),
  /** First commit: the parent's state at that time, including uncommitted changes. */
  base: z.string(),
  /** Root of the tree that the work is merged into. */
  top: z.string(),
  /** Working directory in the worktree, which corresponds to the parent's directory in `top`. */
  cwd: z.string(),
});
export type WorktreeLocation = z.infer<typeof worktreeLocation>;

/** Location of an agent on a machine without the lead's workspace, in a clone of a remote. */
export const cloneLocation = z.object({
  /** Name of the machine. */
  host: z.string(),
  place: worktreeLocation,
  /** Remote that was cloned and that the work is pushed to. */
  url: z.string(),
  /** First commit in the folder: the base, or the agent's last push. */
  tip: z.string(),
});
export type CloneLocation = z.infer<typeof cloneLocation>;

/** True if the folder is kept, because it holds files that git does not track. */
const isLeft = z.boolean().optional();

const changes = {
  /** Changed files, relative to `top`. */
  files: z.array(z.string()),
  /** Commit of the work on the agent's branch. */
  commit: z.string(),
};

/**
 * Outcome of the work. `unchanged`: there was no work, and folder and branch are deleted. `merged`: the work is in
 * the parent's tree, and the branch is kept. `conflict`: no side has changed, and folder and branch are kept.
 * `pushed`: the work is on its branch at the remote and in no working tree. `kept`: the merge failed for another
 * reason, and folder and branch are kept.
 */
export const settlement = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('unchanged'), isLeft }),
  z.object({ kind: z.literal('merged'), ...changes, isLeft }),
  z.object({
    kind: z.literal('conflict'),
    ...changes,
    conflicts: z.array(z.object({ path: z.string(), why: z.string() })),
  }),
  z.object({ kind: z.literal('pushed'), ...changes, url: z.string() }),
  z.object({ kind: z.literal('kept'), why: z.string() }),
]);
export type Settlement = z.infer<typeof settlement>;

/** Called before an agent waits for the lock of a working tree. */
export type OnLockWait = (holder: string, path: string) => void;

export interface OpenWorktreeOptions {
  readonly session: string;
  readonly agent: string;
  /** Working directory of the parent. Must be in a git repository. */
  readonly cwd: string;
  readonly onWait?: OnLockWait;
}

export interface SettleOptions {
  readonly agent: string;
  readonly place: WorktreeLocation;
  /** The agent's last merged commit. If set, the branch is kept. */
  readonly merged?: string | undefined;
  /** Absolute paths of ignored files that belong to the work. */
  readonly ignoredFiles: readonly string[];
  /** True if the agent is idle and will continue in the same folder, from the merged state. */
  readonly keepsFolder?: boolean;
  readonly onWait?: OnLockWait;
  /** Called with the absolute paths of files that the merge will change, before it changes them. */
  readonly beforeMerge: (paths: readonly string[]) => Promise<void>;
}

export interface SettleResult {
  readonly settlement: Settlement;
  /** The work as a patch, or its beginning. Empty if there is no work. */
  readonly diff: Uint8Array;
}

export interface Worktrees {
  /**
   * Creates the worktree of an agent. Idempotent: finds an existing worktree again, even after a merge
   * or after a crash before it was journaled. Rejects with WorktreeRefusal.
   */
  open(options: OpenWorktreeOptions): Promise<WorktreeLocation>;
  /**
   * Restores the worktree of a journaled agent if it is missing. Its base is the last merged commit, if
   * there is one. Rejects with WorktreeRefusal.
   */
  reopen(
    options: Omit<OpenWorktreeOptions, 'cwd' | 'waits'>,
    location: WorktreeLocation,
  ): Promise<void>;
  /**
   * Commits the contents of the folder to its branch and merges the branch into the parent's tree.
   * Idempotent. Never rejects: on failure, folder and branch are kept.
   */
  settle(options: SettleOptions): Promise<SettleResult>;
}

export interface MoveOptions {
  readonly session: string;
  readonly agent: string;
  /** Earlier location of the agent, on any machine. Undefined if it has not worked in a clone before. */
  readonly before: CloneLocation | undefined;
}

export interface DeliverOptions {
  readonly agent: string;
  readonly cloned: CloneLocation;
  /** Absolute paths of ignored files that belong to the work. */
  readonly ignoredFiles: readonly string[];
  /** True if the agent is handed over to another process, so the folder is kept. */
  readonly keepsFolder?: boolean;
}

/** Clones of a remote, for agents on machines without the lead's workspace. */
export interface Clones {
  /** True if the lead's workspace is not on this machine. */
  readonly lacksWorkspace: boolean;
  /** True if the folder is on this machine and complete. */
  isHere(cloned: CloneLocation): boolean;
  /**
   * Creates a folder for the agent on this machine, from its last push, or from the lead's first commit
   * if it has not pushed. Rejects with WorktreeRefusal if the agent cannot work here.
   */
  move(options: MoveOptions): Promise<CloneLocation>;
  /**
   * Commits the contents of the folder to its branch and pushes it, without force. If the folder is on
   * another machine, reports that machine's last push. Idempotent. Never rejects.
   */
  deliver(options: DeliverOptions): Promise<SettleResult>;
}

/** Why an agent cannot have a worktree. The message may be shown to the model. */
export class WorktreeRefusal extends SkeinError {
  readonly code = 'worktree-refusal';
}
