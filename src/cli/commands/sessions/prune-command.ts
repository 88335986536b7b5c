/** `skein sessions prune`: removes old sessions, and prints which sessions it kept and why. */
import { createInterface } from 'node:readline/promises';
import type {
  SessionMeta,
  SessionStore,
  SessionSurvey,
} from '../../../protocol/session/session-store.js';
import { UsageError } from '../../../protocol/skein-error.js';
import { commandSettings } from '../../../sdk/assembly/options/command-settings.js';
import { openExistingStore } from '../../../sdk/assembly/options/open-store.js';
import { summarizeSession } from '../../../sdk/sessions/session-summary.js';
import { sweepCheckpoints } from '../../../sdk/sessions/sweep-checkpoints.js';
import { sweepWorktrees } from '../../../sdk/sessions/sweep-worktrees.js';
import type { TerminalHost } from '../../../terminal/terminal-host.js';
import { formatBytes, plural } from '../../../terminal/text/format-number.js';
import { DAY_MS, formatAgo, parseAge } from '../../../terminal/text/format-time.js';
import { plainText } from '../../../terminal/text/sanitize.js';
import { cachedJobs, withCachedJobs } from '../../../views/swarm/cached-jobs.js';
import { isLiveSession } from '../../../views/swarm/live-sessions.js';
import { ExitCode } from '../../session/exit-code.js';
import type { RunFlags } from '../../session/run-flags.js';
import { withSessionStore } from '../../session/with-session-store.js';

export interface PruneFlags extends RunFlags {
  readonly olderThan?: string;
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

interface KeptSession {
  readonly id: string;
  readonly reason: string;
}

type OldSession = Pick<SessionMeta, 'id' | 'updatedAt' | 'title'>;

interface PrunePlan {
  readonly old: readonly OldSession[];
  readonly kept: readonly KeptSession[];
}

export const pruneCommand = (flags: PruneFlags, host: TerminalHost): Promise<number> =>
  withSessionStore(host, flags, (store) => pruneIn(store, flags, host));

const pruneIn = async (
  store: SessionStore,
  flags: PruneFlags,
  host: TerminalHost,
): Promise<number> => {
  const oldest = Date.now() - retentionOf(flags, host);
  const plan = await planPrune(store, await store.survey(), oldest);
  const print = flags.json === true ? () => undefined : host.out;
  if (flags.dryRun === true || plan.old.length > 0) {
    const fateText = flags.dryRun === true ? 'would be removed' : 'to remove';
    const end = plan.old.length === 0 ? '.' : ':';
    print(`${plural(plan.old.length, 'session')} ${fateText}${end}\n`);
    for (const { id, updatedAt, title } of plan.old) {
      print(`  ${id}  ${formatAgo(updatedAt, Date.now())}  ${plainText(title, 60)}\n`);
    }
  }
  const isConfirmed =
    plan.old.length === 0 || flags.dryRun === true || (await isAgreed(flags, host));
  if (!isConfirmed) {
    host.err('Nothing was removed.\n');
    return ExitCode.done;
  }
  const { removed, freed, refused } = await removeAll(store, flags.dryRun === true ? [] : plan.old);
  if (flags.dryRun !== true) await store.jobs.prune?.();
  const kept = [...plan.kept, ...refused];
  const { skein } = commandSettings(host, flags, host.cwd);
  // Checkpoints and worktrees on this machine may belong to sessions of either store.
  const stores = [store, await openExistingStore(host, { store: 'embedded' })];
  const swept = await sweepCheckpoints(
    host,
    stores,
    skein.checkpointRetentionDays,
    flags.dryRun === true,
  );
  const { worktreeRetentionDays } = skein;
  const trees = await sweepWorktrees(host, stores, worktreeRetentionDays, flags.dryRun === true);
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
    host.out(`${JSON.stringify(document, null, 2)}\n`);
  } else {
    for (const { id, reason } of kept) host.err(`kept ${id}: ${reason}\n`);
    for (const { path, reason } of trees.kept) host.err(`kept ${path}: ${reason}\n`);
    if (flags.dryRun !== true) {
      print(`${plural(removed.length, 'session')} removed, ${formatBytes(freed)} freed.\n`);
    }
    if (swept.removed > 0) {
      const fateText = flags.dryRun === true ? 'would be removed' : 'removed';
      const versions = `${plural(swept.removed, 'unused file version')}`;
      print(`${versions} ${fateText}, ${formatBytes(swept.freedBytes)}.\n`);
    }
    if (trees.removed.length > 0) {
      const fateText = flags.dryRun === true ? 'would be removed' : 'removed';
      print(`${plural(trees.removed.length, 'unused worktree')} ${fateText}.\n`);
    }
  }
  return refused.length > 0 ? ExitCode.failed : ExitCode.done;
};

const retentionOf = (flags: PruneFlags, host: TerminalHost): number =>
  flags.olderThan === undefined
    ? commandSettings(host, flags, host.cwd).skein.sessionRetentionDays * DAY_MS
    : parseAge(flags.olderThan);

/**
 * Plans which sessions to remove. Keeps running sessions, and sessions whose files a younger fork may name.
 * Removes unreadable sessions that are known to be old.
 */
const planPrune = async (
  store: SessionStore,
  { sessions, unreadable }: SessionSurvey,
  oldest: number,
): Promise<PrunePlan> => {
  const old = new Map<string, OldSession>();
  const kept: KeptSession[] = [];
  const source = withCachedJobs(store);
  for (const meta of sessions) {
    if (meta.updatedAt >= oldest) continue;
    const { state, pid, lastActiveAt } = await summarizeSession(source, meta);
    const where = pid === null ? 'on workers' : `pid ${pid}`;
    if (state === 'running') kept.push({ id: meta.id, reason: `it is running (${where})` });
    else if (lastActiveAt < oldest) old.set(meta.id, meta);
  }
  for (const { id, reason, updatedAt } of unreadable) {
    if (updatedAt === undefined || updatedAt >= oldest) kept.push({ id, reason });
    else if (await isLiveSession(source, id)) kept.push({ id, reason: `it is running; ${reason}` });
    else old.set(id, { id, updatedAt, title: 'It cannot be read, so it cannot be resumed.' });
  }
  // The list grows during the loop, because a kept parent may have a parent itself.
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

const isAgreed = async ({ yes, json }: PruneFlags, host: TerminalHost): Promise<boolean> => {
  if (yes === true) return true;
  if (!host.stdin.isTTY || json === true) {
    throw new UsageError(
      'Removing sessions cannot be undone: add --yes, or --dry-run to see what would be removed.',
    );
  }
  host.err('Remove them permanently? [y/N] ');
  const lines = createInterface({ input: host.stdin });
  const stop = host.onInterrupt(() => lines.close());
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

const removeAll = async (store: SessionStore, sessions: readonly OldSession[]) => {
  const ids = sessions.map(({ id }) => id);
  await withdrawJobs(store, ids);
  const removed: string[] = [];
  const refused: KeptSession[] = [];
  let freed = 0;
  for (const [at, end] of (await store.removeAll(ids)).entries()) {
    const id = ids[at] ?? '';
    // The session was opened meanwhile, or the disk failed. Other sessions are removed anyway.
    if (typeof end !== 'number') refused.push({ id, reason: end.message });
    else {
      freed += end;
      removed.push(id);
    }
  }
  return { removed, freed, refused };
};

/** Withdraws the jobs of removed sessions, because a worker could not run them. */
const withdrawJobs = async (store: SessionStore, ids: readonly string[]): Promise<void> => {
  if (store.jobs.local !== undefined) return;
  const jobs = cachedJobs(store.jobs);
  for (const id of ids) {
    for (const job of await jobs.list(id)) await store.jobs.withdraw(job);
  }
};
