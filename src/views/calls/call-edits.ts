/** Files that a call changed, and earlier calls that changed the same files. */
import type { FileChange, FileState } from '../../protocol/session/checkpoints.js';
import type { ListedCall } from './list-calls.js';

export interface FileEditHistory {
  readonly path: string;
  readonly change: 'made' | 'changed' | 'removed' | 'unknown';
  /** Newest first. `earlierMore` further calls are not listed. */
  readonly earlier: readonly {
    readonly number: number;
    readonly tool: string;
    readonly ts: number;
  }[];
  readonly earlierMore: number;
}

const MAX_FILES = 50;
const MAX_EARLIER_EDITS = 5;
const WRITING_TOOLS: readonly string[] = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** If the changes were not recorded, uses the declared files of a writing tool that succeeded. */
export const callEdits = (
  calls: readonly ListedCall[],
  target: ListedCall,
  changes: readonly FileChange[] | undefined,
): readonly FileEditHistory[] => {
  const own =
    changes?.map(({ path, before, after }) => ({ path, change: kindOf(before, after) })) ??
    writtenFiles(target).map((path) => ({ path, change: 'unknown' as const }));
  const before = calls.slice(0, target.number - 1);
  return own.slice(0, MAX_FILES).map(({ path, change }) => {
    const edits = before.filter((call) => (call.changed ?? writtenFiles(call)).includes(path));
    const earlier = edits
      .slice(-MAX_EARLIER_EDITS)
      .reverse()
      .map(({ number, tool, endedAt, ts }) => ({ number, tool, ts: endedAt ?? ts }));
    return { path, change, earlier, earlierMore: edits.length - earlier.length };
  });
};

const writtenFiles = ({ tool, outcome, subject }: ListedCall): readonly string[] =>
  outcome === 'ok' && WRITING_TOOLS.includes(tool) ? subject.files : [];

const kindOf = (before: FileState, after: FileState): FileEditHistory['change'] => {
  if (before.kind === 'unknown' || after.kind === 'unknown') return 'unknown';
  if (before.kind === 'absent') return 'made';
  return after.kind === 'absent' ? 'removed' : 'changed';
};
