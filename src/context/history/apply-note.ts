/** What a call changes of what its agent knows. */
import type { ToolNote } from '../../protocol/tools/tool.js';
import type { History } from './history.js';

export const applyNote = (
  history: Pick<History, 'cwd' | 'seen' | 'jobs' | 'todos' | 'letters' | 'family'>,
  note: ToolNote,
): void => {
  switch (note.type) {
    case 'cwd.changed':
      history.cwd = note.cwd;
      break;
    case 'file.seen':
      history.seen.set(note.path, note.stamp);
      break;
    case 'job.read':
      // Of two looks in one message, the one that was asked for last may have ended first.
      history.jobs.set(note.job, Math.max(note.upTo, history.jobs.get(note.job) ?? 0));
      break;
    case 'letter.told':
      history.letters.tell(note.letter);
      history.family.reports.add(note.letter);
      break;
    case 'todos.written':
      history.todos = note.todos;
  }
};
