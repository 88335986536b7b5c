/** `skein sessions prune`: takes old sessions away, and says what it kept and why. */
import { createInterface } from 'node:readline/promises';
import { UsageError } from '../../../protocol/errors.js';
import type { SessionMeta, SessionStore, SessionSurvey } from '../../../protocol/session/store.js';
import { settingsFor } from '../../../sdk/assembly/options/command-settings.js';
import { openArchive } from '../../../sdk/assembly/options/open-store.js';
import { isWorkedOn } from '../../../sdk/control/remote-commands.js';
import { sweepCheckpoints } from '../../../sdk/sessions/checkpoint-retention.js';
import { summarise } from '../../../sdk/sessions/session-summary.js';
import { sweepWorktrees } from '../../../sdk/sessions/worktree-retention.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { bytes, plural } from '../../../terminal/text/format-numbers.js';
import { ago, DAY, parseAge } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { cachedJobs, withCachedJobs } from '../../../views/swarm/cached-job-list.js';
import { EXIT } from '../../run/exit-code.js';
import type { RunFlags } from '../../run/run-flags.js';
import { withSessions } from './with-session-store.js';

export interface PruneFlags extends RunFlags {
  readonly olderThan?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface Kept {
  readonly id: string;
  readonly reason: string;
}

type Old = Pick<SessionMeta, 'id' | 'updatedAt' | 'title'>;

interface Plan {
  readonly old: readonly Old[];
  readonly kept: readonly Kept[];
}

export const pruneSessions = (flags: PruneFlags, machine: TerminalHost): Promise<number> =>
  withSessions(machine, flags, (store) => pruneIn(store, flags, machine));

const pruneIn = async (
  store: SessionStore,
  flags: PruneFlags,
  machine: TerminalHost,
): Promise<number> => {
  const oldest = Date.now() - ageOf(flags, machine);
  const plan = await planOf(store, await store.survey(), oldest);
  const say = flags.json === true ? () => undefined : machine.out;
  if (flags.dryRun === true || plan.old.length > 0) {
    const would = flags.dryRun === true ? 'would be removed' : 'to remove';
    const end = plan.old.length === 0 ? '.' : ':';
    say(`${plural(plan.old.length, 'session')} ${would}${end}\n`);
    for (const { id, updatedAt, title } of plan.old) {
      say(`  ${id}  ${ago(updatedAt, Date.now())}  ${plainText(title, 60)}\n`);
    }
  }
  const mayGo = plan.old.length === 0 || flags.dryRun === true || (await isAgreed(flags, machine));
  if (!mayGo) {
    machine.err('Nothing was removed.\n');
    return EXIT.done;
  }
  const { removed, freed, refused } = await removeAll(store, flags.dryRun === true ? [] : plan.old);
  if (flags.dryRun !== true) await store.jobs.tidy?.();
  const kept = [...plan.kept, ...refused];
  const { skein } = settingsFor(machine, flags, machine.cwd);
  // Files of this machine belong to sessions of either store.
  const stores = [store, await openArchive(machine, { store: 'embedded' })];
  const swept = await sweepCheckpoints(
    machine,
    stores,
    skein.checkpointRetentionDays,
    flags.dryRun === true,
  );
  const { worktreeRetentionDays } = skein;
  const trees = await sweepWorktrees(machine, stores, worktreeRetentionDays, flags.dryRun === true);
  if (flags.json === true) {
    const wouldRemove = flags.dryRun === true ? plan.old.map(({ id }) => id) : [];
    const checkpoints = { removed: swept.removed, freedBytes: swept.freedBytes };
    const document = {
      removed,
      wouldRemove,
      kept,
      freedBytes: freed,
      checkpoints,
      worktrees: trees,
    };
    machine.out(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    for (const { id, reason } of kept) machine.err(`kept ${id}: ${reason}\n`);
    for (const { path, reason } of trees.kept) machine.err(`kept ${path}: ${reason}\n`);
    if (flags.dryRun !== true) {
      say(`${plural(removed.length, 'session')} removed, ${bytes(freed)} freed.\n`);
    }
    if (swept.removed > 0) {
      const gone = flags.dryRun === true ? 'would be removed' : 'removed';
      const what = `${plural(swept.removed, 'file version')} that nothing needs`;
      say(`${what} ${gone}, ${bytes(swept.freedBytes)}.\n`);
    }
    if (trees.removed.length > 0) {
      const gone = flags.dryRun === true ? 'would be removed' : 'removed';
      say(`${plural(trees.removed.length, 'worktree')} that nothing needs ${gone}.\n`);
    }
  }
  return refused.length > 0 ? EXIT.failed : EXIT.done;
};

const ageOf = (flags: PruneFlags, machine: TerminalHost): number =>
  flags.olderThan === undefined
    ? settingsFor(machine, flags, machine.cwd).skein.sessionRetentionDays * DAY
    : parseAge(flags.olderThan);

/**
 * A session that lives stays, and so does one whose files a younger fork still names. Of one that cannot be
 * read nobody will need anything, if it is known to be old.
 */
const planOf = async (
  store: SessionStore,
  { sessions, unreadable }: SessionSurvey,
  oldest: number,
): Promise<Plan> => {
  const old = new Map<string, Old>();
  const kept: Kept[] = [];
  const source = withCachedJobs(store);
  for (const meta of sessions) {
    if (meta.updatedAt >= oldest) continue;
    const { state, pid, lastActiveAt } = await summarise(source, meta);
    const who = pid === null ? 'on workers' : `pid ${pid}`;
    if (state === 'running') kept.push({ id: meta.id, reason: `it is running (${who})` });
    else if (lastActiveAt < oldest) old.set(meta.id, meta);
  }
  for (const { id, reason, updatedAt } of unreadable) {
    if (updatedAt === undefined || updatedAt >= oldest) kept.push({ id, reason });
    else if (await isWorkedOn(source, id)) kept.push({ id, reason: `it is running; ${reason}` });
    else old.set(id, { id, updatedAt, title: 'It cannot be read, so nobody can go on with it.' });
  }
  // Grows while it is gone through: a parent that stays may have a parent of its own.
  const staying = sessions.filter(({ id }) => !old.has(id));
  for (const { id, parentId } of staying) {
    const parent = parentId === null ? undefined : old.get(parentId);
    if (parent === undefined) continue;
    old.delete(parent.id);
    staying.push(...sessions.filter((session) => session.id === parent.id));
    kept.push({ id: parent.id, reason: `${id} was forked from it and may name its files` });
  }
  return { old: [...old.values()].sort((a, b) => a.updatedAt - b.updatedAt), kept };
};

const isAgreed = async ({ yes, json }: PruneFlags, machine: TerminalHost): Promise<boolean> => {
  if (yes === true) return true;
  if (!machine.stdin.isTTY || json === true) {
    throw new UsageError(
      'Removing sessions cannot be undone: add --yes, or --dry-run to see what would go.',
    );
  }
  machine.err('Remove them for good? [y/N] ');
  const lines = createInterface({ input: machine.stdin });
  const stop = machine.onInterrupt(() => lines.close());
  try {
    const answer = await new Promise<string>((resolve) => {
      lines.once('line', resolve);
      lines.once('close', () => resolve(''));
    });
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    stop();
    lines.close();
  }
};

const removeAll = async (store: SessionStore, sessions: readonly Old[]) => {
  const ids = sessions.map(({ id }) => id);
  await withdrawJobs(store, ids);
  const removed: string[] = [];
  const refused: Kept[] = [];
  let freed = 0;
  for (const [at, end] of (await store.removeAll(ids)).entries()) {
    const id = ids[at] ?? '';
    // Somebody opened it meanwhile, or the disk refuses: the others go nevertheless.
    if (typeof end !== 'number') refused.push({ id, reason: end.message });
    else {
      freed += end;
      removed.push(id);
    }
  }
  return { removed, freed, refused };
};

/** A worker would find nothing of a job whose session is gone. */
const withdrawJobs = async (store: SessionStore, ids: readonly string[]): Promise<void> => {
  if (store.jobs.own !== undefined) return;
  const seen = cachedJobs(store.jobs);
  for (const id of ids) {
    for (const job of await seen.list(id)) await store.jobs.withdraw(job);
  }
};
