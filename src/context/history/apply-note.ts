/** Applies a note of a tool call to the history of its agent. */
import type { ToolNote } from '../../protocol/tools/tool.js';
import type { History } from './history.js';

export const applyNote = (
  history: Pick<History, 'cwd' | 'fileStamps' | 'jobReadTo' | 'todos' | 'letters' | 'relations'>,
  note: ToolNote,
): void => {
  switch (note.type) {
    case 'cwd.changed':
      history.cwd = note.cwd;
      break;
    case 'file.seen':
      history.fileStamps.set(note.path, note.stamp);
      break;
    case 'job.read':
      // Parallel reads may end in any order, so the offset never goes back.
      history.jobReadTo.set(note.job, Math.max(note.upTo, history.jobReadTo.get(note.job) ?? 0));
      break;
    case 'letter.told':
      history.letters.markReported(note.letter);
      history.relations.reports.add(note.letter);
      break;
    case 'todos.written':
      history.todos = note.todos;
  }
};
