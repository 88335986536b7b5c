/**
 * Fills the port of checkpoints: before a call that writes, what it may change is kept in blobs; after
 * it, what has changed is told. Both are for the journal, so that a crash in between loses nothing.
 */
import { landingPlace } from '../../host/files/file-contents.js';
import { StorageError } from '../../protocol/errors.js';
import type {
  CallWatch,
  Checkpoints,
  FileChange,
  FileState,
  WatchedCall,
} from '../../protocol/session/checkpoint.js';
import type { JournalBody, JournalRecord } from '../../protocol/session/journal.js';
import {
  type Gap,
  isEqual,
  type TreeBefore,
  type TreeOptions,
  TreeWatch,
} from './workspace-tracker.js';

export interface Checkpointer extends Checkpoints {
  /** Journals what those calls have changed during which a process was killed. */
  settle(records: readonly JournalRecord[]): Promise<void>;
}

interface Kept {
  readonly path: string;
  readonly before: FileState;
}

export interface CheckpointerOptions extends TreeOptions {
  /** Lets a person know, once, of what cannot be kept. */
  readonly tell: (sentence: string) => void;
  /** Writes to the journal. Throws a StorageError. */
  readonly record: (body: JournalBody) => void;
}

export const checkpointer = (options: CheckpointerOptions): Checkpointer => {
  const { tell, record } = options;
  const tree = new TreeWatch(options);
  const told = new Set<Gap['kind']>();
  const sayOnce = ({ kind, limit, detail }: Gap) => {
    if (told.has(kind)) return;
    told.add(kind);
    record({ type: 'bound.hit', what: `checkpoint-${kind}`, limit, detail });
    tell(detail);
  };
  const watchAll = async (call: string): Promise<CallWatch> => {
    const before = await tree.before();
    record({ type: 'files.watched', call, manifest: before.manifest });
    before.gaps.forEach(sayOnce);
    return { changes: orNothing(() => tree.changes(before)) };
  };
  const watchPaths = async (call: string, paths: readonly string[]): Promise<CallWatch> => {
    const files = paths.flatMap((path) => keptAt(tree, path));
    record({ type: 'files.watched', call, files: [...files] });
    return { changes: orNothing(async () => changesOf(tree, files)) };
  };
  return {
    async watch({ call, paths }: WatchedCall) {
      try {
        return await (paths === undefined ? watchAll(call) : watchPaths(call, paths));
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        tell(
          `The files are not kept before this call, so it cannot be taken back: ${error.message}`,
        );
        recordIfPossible(record, { type: 'files.watched', call, why: error.message });
        return { changes: async () => [] };
      }
    },
    async settle(records) {
      for (const watched of unsettled(records)) {
        const changes = await orNothing(() => changesSince(tree, watched))();
        if (changes.length === 0) continue;
        record({ type: 'files.changed', call: watched.call, changes: [...changes] });
      }
    },
  };
};

/** When the disk refuses this too, it will refuse the start of the call. */
const recordIfPossible = (record: CheckpointerOptions['record'], body: JournalBody): void => {
  try {
    record(body);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
};

/** The file that a write at the path lands in, and the folders that it makes. */
const keptAt = (tree: TreeWatch, path: string): readonly Kept[] => {
  const { path: real, missing } = landingPlace(path);
  const folders = missing.map((folder) => ({ path: folder, before: { kind: 'absent' } as const }));
  return [...folders, { path: real, before: tree.stateAt(real) }];
};

const changesOf = (tree: TreeWatch, files: readonly Kept[]): readonly FileChange[] =>
  files.flatMap(({ path, before }) => {
    const after = tree.stateAt(path);
    return isEqual(before, after) ? [] : [{ path, before, after }];
  });

/** A disk that keeps nothing more must not undo the call: what it changed is not known then. */
const orNothing =
  (work: () => Promise<readonly FileChange[]>) => async (): Promise<readonly FileChange[]> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof StorageError) return [];
      throw error;
    }
  };

type Watched = JournalRecord & { readonly type: 'files.watched' };

const changesSince = async (
  tree: TreeWatch,
  { manifest, files }: Watched,
): Promise<readonly FileChange[]> => {
  if (files !== undefined) return changesOf(tree, files);
  const before: Pick<TreeBefore, 'files' | 'couldSee'> | undefined =
    manifest === undefined ? undefined : tree.recall(manifest);
  return before === undefined ? [] : tree.changes(before);
};

/** Watches of calls that neither ended nor told what they changed. */
const unsettled = (records: readonly JournalRecord[]): readonly Watched[] => {
  const open = new Map<string, Watched>();
  for (const record of records) {
    if (record.type === 'files.watched') open.set(record.call, record);
    if (record.type === 'files.changed' || record.type === 'call.ended') open.delete(record.call);
  }
  return [...open.values()];
};
