/** A working tree of an agent's own: where it is, how it comes to be, and what becomes of the work in it. */
import { z } from 'zod';
import { SkeinError } from '../errors.js';

/** Where an agent works, as its journal has it: one that is taken up again is in the same place. */
export const worktreePlace = z.object({
  /** Absolute: its own folder. */
  path: z.string(),
  branch: z.string(),
  /** The commit that it began with: what its parent had then, be it committed or not. */
  base: z.string(),
  /** The tree that its work goes back to. */
  top: z.string(),
  /** Its working directory: in its own folder, what that of its parent is in `top`. */
  cwd: z.string(),
});
export type WorktreePlace = z.infer<typeof worktreePlace>;

/** Where an agent works that was taken to a machine without its lead's workspace: in a clone of a remote. */
export const clonedPlace = z.object({
  /** The machine. */
  host: z.string(),
  place: worktreePlace,
  /** What it was cloned from, and where its work goes. */
  url: z.string(),
  /** What was in its folder at first: the base, or what it had pushed before. */
  tip: z.string(),
});
export type ClonedPlace = z.infer<typeof clonedPlace>;

/** Something is in the folder that git does not take along, so that stays. */
const isLeft = z.boolean().optional();

const changes = {
  /** Paths below the top of all that the agent changed. */
  files: z.array(z.string()),
  /** Its work, on its branch. */
  commit: z.string(),
};

/**
 * What became of the work. `unchanged`: there was none, and folder and branch are gone. `merged`: it is in
 * the tree of the parent; the branch is kept. `conflict`: both sides are as they were, and so are folder
 * and branch. `pushed`: it is on its branch at the remote, and in no tree of anybody. `kept`: it could
 * not be brought back for another reason, and all is where it was.
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

/** Told before somebody waits: who has the tree now, and which one that is. */
export type TellLock = (holder: string, place: string) => void;

export interface WorktreeOrder {
  readonly session: string;
  readonly agent: string;
  /** Where its parent works: in a git repository, or it is refused. */
  readonly cwd: string;
  readonly waits?: TellLock;
}

export interface SettleOrder {
  readonly agent: string;
  readonly place: WorktreePlace;
  /** The commit of its that was last merged, if any was: then its branch stays. */
  readonly merged?: string | undefined;
  /** Absolute: files that count although git ignores them. */
  readonly wanted: readonly string[];
  /** The agent only rests: it goes on in the same folder, from what is merged now. */
  readonly stays?: boolean;
  readonly waits?: TellLock;
  /** Told of the files that are about to change, absolute, before the first one does. */
  readonly beforeMerge: (paths: readonly string[]) => Promise<void>;
}

export interface Settled {
  readonly settlement: Settlement;
  /** The work as a patch, whole or its beginning; empty when there is none. */
  readonly diff: Uint8Array;
}

export interface Worktrees {
  /**
   * Makes the folder of an agent, or finds it again: also one that was merged and goes on, and one that a
   * process left behind before it was written down. Rejects with a WorktreeRefusal.
   */
  open(order: WorktreeOrder): Promise<WorktreePlace>;
  /**
   * Makes sure that the folder of an agent on record is there; its base is what was last merged, if
   * anything was. Rejects with a WorktreeRefusal.
   */
  reopen(order: Omit<WorktreeOrder, 'cwd' | 'waits'>, known: WorktreePlace): Promise<void>;
  /**
   * Puts what is in the folder on its branch, and that into the tree of the parent. Doing it again does
   * nothing twice. Never rejects: what cannot be done, all is kept.
   */
  settle(order: SettleOrder): Promise<Settled>;
}

export interface MoveOrder {
  readonly session: string;
  readonly agent: string;
  /** Of one that worked in a clone before, wherever that was. */
  readonly before: ClonedPlace | undefined;
}

export interface DeliverOrder {
  readonly agent: string;
  readonly cloned: ClonedPlace;
  /** Absolute: files that count although git ignores them. */
  readonly wanted: readonly string[];
  /** It is only handed over: the folder stays. */
  readonly stays?: boolean;
}

/** Workspaces on machines that do not have the lead's: clones of a remote that all of them reach. */
export interface Clones {
  /** The lead's own workspace is not on this machine. */
  readonly isAway: boolean;
  /** Its folder is on this machine, and whole. */
  isHere(cloned: ClonedPlace): boolean;
  /**
   * A folder for it on this machine, with what it had pushed last, or else with what the lead began with.
   * Rejects with a WorktreeRefusal: then it cannot work here.
   */
  move(order: MoveOrder): Promise<ClonedPlace>;
  /**
   * Puts what is in the folder on its branch, and that to the remote; of one whose folder is on another
   * machine it says what that one has pushed. Doing it again does nothing twice. Never rejects, and never
   * forces.
   */
  deliver(order: DeliverOrder): Promise<Settled>;
}

/** Why an agent cannot have a working tree of its own, in a sentence that may be shown to the model. */
export class WorktreeRefusal extends SkeinError {
  readonly code = 'worktree-refusal';
}
