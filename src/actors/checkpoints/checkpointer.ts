/**
 * Checkpoints: keeps the files that a call may change in blobs before it runs, and determines its
 * changes afterwards. Both are recorded, so a crash in between loses no change.
 */
import { resolveLanding } from '../../host/files/file-contents.js';
import type {
  CallWatch,
  Checkpoints,
  FileChange,
  FileState,
  WatchedCall,
} from '../../protocol/session/checkpoints.js';
import type { JournalBody, JournalRecord } from '../../protocol/session/journal-record.js';
import { StorageError } from '../../protocol/skein-error.js';
import {
  type CoverageGap,
  isSameState,
  type WorkspaceSnapshot,
  WorkspaceTracker,
  type WorkspaceTrackerOptions,
} from './workspace-tracker.js';

export interface Checkpointer extends Checkpoints {
  /** Records the changes of calls that a process crash interrupted. */
  settle(records: readonly JournalRecord[]): Promise<void>;
}

interface KeptFile {
  readonly path: string;
  readonly before: FileState;
}

interface CheckpointerOptions extends WorkspaceTrackerOptions {
  /** Called with a sentence for people, once for each kind of file that cannot be kept. */
  readonly notify: (sentence: string) => void;
  /** Writes to the journal. Throws StorageError. */
  readonly record: (body: JournalBody) => void;
}

export const checkpointer = (options: CheckpointerOptions): Checkpointer => {
  const { notify, record } = options;
  const tracker = new WorkspaceTracker(options);
  const reported = new Set<CoverageGap['kind']>();
  const reportOnce = ({ kind, limit, detail }: CoverageGap) => {
    if (reported.has(kind)) return;
    reported.add(kind);
    record({ type: 'bound.hit', what: `checkpoint-${kind}`, limit, detail });
    notify(detail);
  };
  const watchAll = async (call: string): Promise<CallWatch> => {
    const before = await tracker.takeSnapshot();
    record({ type: 'files.watched', call, manifest: before.manifest });
    before.gaps.forEach(reportOnce);
    return { changes: emptyOnStorageError(() => tracker.changes(before)) };
  };
  const watchPaths = async (call: string, paths: readonly string[]): Promise<CallWatch> => {
    const files = paths.flatMap((path) => keepFilesAt(tracker, path));
    record({ type: 'files.watched', call, files: [...files] });
    return { changes: emptyOnStorageError(async () => changesOf(tracker, files)) };
  };
  return {
    async watch({ call, paths }: WatchedCall) {
      try {
        return await (paths === undefined ? watchAll(call) : watchPaths(call, paths));
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        notify(
          `The files were not kept before this call, so its changes cannot be rewound: ${error.message}`,
        );
        recordIfPossible(record, { type: 'files.watched', call, why: error.message });
        return { changes: async () => [] };
      }
    },
    async settle(records) {
      for (const watched of unsettledWatches(records)) {
        const changes = await emptyOnStorageError(() => changesSince(tracker, watched))();
        if (changes.length === 0) continue;
        record({ type: 'files.changed', call: watched.call, changes: [...changes] });
      }
    },
  };
};

/** Ignores StorageError, because the start record of the call meets the same failure. */
const recordIfPossible = (record: CheckpointerOptions['record'], body: JournalBody): void => {
  try {
    record(body);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
  }
};

/** Keeps the file that a write at the path changes, and notes the folders that it creates. */
const keepFilesAt = (tracker: WorkspaceTracker, path: string): readonly KeptFile[] => {
  const { path: realPath, missing } = resolveLanding(path);
  const folders = missing.map((folder) => ({ path: folder, before: { kind: 'absent' } as const }));
  return [...folders, { path: realPath, before: tracker.stateAt(realPath) }];
};

const changesOf = (tracker: WorkspaceTracker, files: readonly KeptFile[]): readonly FileChange[] =>
  files.flatMap(({ path, before }) => {
    const after = tracker.stateAt(path);
    return isSameState(before, after) ? [] : [{ path, before, after }];
  });

/** Returns no changes after StorageError: the call has had its effect and must not fail. */
const emptyOnStorageError =
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
  tracker: WorkspaceTracker,
  { manifest, files }: Watched,
): Promise<readonly FileChange[]> => {
  if (files !== undefined) return changesOf(tracker, files);
  const before: Pick<WorkspaceSnapshot, 'files' | 'couldSee'> | undefined =
    manifest === undefined ? undefined : tracker.readSnapshot(manifest);
  return before === undefined ? [] : tracker.changes(before);
};

/** Returns the watches of calls without an end record or a change record. */
const unsettledWatches = (records: readonly JournalRecord[]): readonly Watched[] => {
  const open = new Map<string, Watched>();
  for (const record of records) {
    if (record.type === 'files.watched') open.set(record.call, record);
    if (record.type === 'files.changed' || record.type === 'call.ended') open.delete(record.call);
  }
  return [...open.values()];
};
