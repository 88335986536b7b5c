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
import { isSameState } from './is-same-state.js';
import type {
  CoverageGap,
  WorkspaceTracker,
  WorkspaceTrackerOptions,
} from './workspace-tracker.js';

export interface Checkpointer extends Checkpoints {
  /** Records the changes of calls that a process crash interrupted. */
  settle(records: readonly JournalRecord[]): Promise<void>;
  /** Ends the threads. Call it after the last call has ended. */
  close(): void;
}

interface CheckpointerOptions extends WorkspaceTrackerOptions {
  /** Called with a sentence for people, once for each kind of file that cannot be kept. */
  readonly notify: (sentence: string) => void;
  /** Writes to the journal. Throws StorageError. */
  readonly record: (body: JournalBody) => void;
}

const UNWATCHED: CallWatch = { isDeferred: false, changes: async () => [], cancel() {} };

export const checkpointer = (options: CheckpointerOptions): Checkpointer => {
  const { notify, record } = options;
  let loading: Promise<WorkspaceTracker> | undefined;
  let isClosed = false;
  // The first request does not need it.
  const loadTracker = () => {
    loading ??= import('./workspace-tracker.js').then(
      ({ WorkspaceTracker }) => new WorkspaceTracker(options),
    );
    return loading;
  };
  const reported = new Set<CoverageGap['kind']>();
  const reportOnce = ({ kind, limit, detail }: CoverageGap) => {
    if (reported.has(kind)) return;
    reported.add(kind);
    record({ type: 'bound.hit', what: `checkpoint-${kind}`, limit, detail });
    notify(detail);
  };
  const watchAll = async (call: string): Promise<CallWatch> => {
    const tracker = await loadTracker();
    const before = await tracker.takeSnapshot();
    record({ type: 'files.watched', call, manifest: before.scan.manifest, isDeferred: true });
    before.gaps.forEach(reportOnce);
    return {
      isDeferred: true,
      changes: emptyOnStorageError(() => tracker.changes(before)),
      cancel: () => tracker.release(before),
    };
  };
  const watchPaths = async (call: string, paths: readonly string[]): Promise<CallWatch> => {
    const tracker = await loadTracker();
    const fileCall = tracker.beginFileCall(paths.flatMap(writtenPaths));
    const files = [...fileCall.before].map(([path, before]) => ({ path, before }));
    record({ type: 'files.watched', call, files });
    const changes = emptyOnStorageError(async () => tracker.endFileCall(fileCall));
    return { isDeferred: false, changes, cancel: () => void tracker.endFileCall(fileCall) };
  };
  return {
    prepare() {
      if (!isClosed) void loadTracker().then((tracker) => tracker.prepare());
    },
    async watch({ call, paths }: WatchedCall) {
      try {
        return await (paths === undefined ? watchAll(call) : watchPaths(call, paths));
      } catch (error) {
        if (!(error instanceof StorageError)) throw error;
        notify(
          `The files were not kept before this call, so its changes cannot be rewound: ${error.message}`,
        );
        recordIfPossible(record, { type: 'files.watched', call, why: error.message });
        return UNWATCHED;
      }
    },
    async settle(records) {
      const unsettled = unsettledWatches(records);
      if (unsettled.length === 0) return;
      const tracker = await loadTracker();
      for (const watched of unsettled) {
        const changes = await emptyOnStorageError(() => changesSince(tracker, watched))();
        if (changes.length === 0 && watched.isDeferred !== true) continue;
        record({ type: 'files.changed', call: watched.call, changes: [...changes] });
      }
    },
    close() {
      isClosed = true;
      void loading?.then((tracker) => tracker.close());
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

/** Returns the folders and the file that a write at the path creates or changes, with links followed. */
const writtenPaths = (path: string): readonly string[] => {
  const { path: realPath, missing } = resolveLanding(path);
  return [...missing, realPath];
};

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
  if (manifest !== undefined) return tracker.changesSince(manifest);
  return (files ?? []).flatMap(({ path, before }): readonly FileChange[] => {
    const after: FileState = tracker.stateAt(path);
    return isSameState(before, after) ? [] : [{ path, before, after }];
  });
};

/**
 * Returns the watches whose changes are not recorded. The end of a call closes its watch; a deferred watch
 * is closed by the next answer or the end of the run, before which its changes are recorded.
 */
const unsettledWatches = (records: readonly JournalRecord[]): readonly Watched[] => {
  const open = new Map<string, Watched>();
  const ended = new Set<string>();
  for (const record of records) {
    switch (record.type) {
      case 'files.watched':
        open.set(record.call, record);
        break;
      case 'files.changed':
        open.delete(record.call);
        break;
      case 'call.ended':
        if (open.get(record.call)?.isDeferred === true) ended.add(record.call);
        else open.delete(record.call);
        break;
      case 'assistant.received':
      case 'run.ended':
        for (const call of ended) open.delete(call);
        ended.clear();
        break;
      default:
    }
  }
  return [...open.values()];
};
