/** Which files a call changed, and which earlier calls had changed the same ones. */
import type { FileChange, FileState } from '../../protocol/session/checkpoint.js';
import type { ListedCall } from './call-list.js';

export interface FileHistory {
  readonly path: string;
  readonly change: 'made' | 'changed' | 'removed' | 'unknown';
  /** The newest first; `earlierMore` are not listed. */
  readonly earlier: readonly {
    readonly number: number;
    readonly tool: string;
    readonly ts: number;
  }[];
  readonly earlierMore: number;
}

const MOST_FILES = 50;
const MOST_EDITS = 5;
const WRITERS: readonly string[] = ['Write', 'Edit', 'MultiEdit', 'NotebookEdit'];

/** Where nobody watched, a tool that says which file it writes is believed when it succeeded. */
export const editsOf = (
  calls: readonly ListedCall[],
  target: ListedCall,
  changes: readonly FileChange[] | undefined,
): readonly FileHistory[] => {
  const own =
    changes?.map(({ path, before, after }) => ({ path, change: kindOf(before, after) })) ??
    writtenBy(target).map((path) => ({ path, change: 'unknown' as const }));
  const before = calls.slice(0, target.number - 1);
  return own.slice(0, MOST_FILES).map(({ path, change }) => {
    const edits = before.filter((call) => (call.changed ?? writtenBy(call)).includes(path));
    const earlier = edits
      .slice(-MOST_EDITS)
      .reverse()
      .map(({ number, tool, endedAt, ts }) => ({ number, tool, ts: endedAt ?? ts }));
    return { path, change, earlier, earlierMore: edits.length - earlier.length };
  });
};

const writtenBy = ({ tool, outcome, subject }: ListedCall): readonly string[] =>
  outcome === 'ok' && WRITERS.includes(tool) ? subject.files : [];

const kindOf = (before: FileState, after: FileState): FileHistory['change'] => {
  if (before.kind === 'unknown' || after.kind === 'unknown') return 'unknown';
  if (before.kind === 'absent') return 'made';
  return after.kind === 'absent' ? 'removed' : 'changed';
};
