/** Opens a question in full length in a pager. */

import { fullInputRows } from '../../terminal/format/format-question.js';
import type { Paint } from '../../terminal/terminal.js';
import { exactText } from '../../terminal/text/sanitize.js';
import { Pager, type PagerText } from '../screen/pager.js';
import type { Size } from '../screen/painter.js';
import type { SceneStack } from '../screen/scene-stack.js';
import { questionRows } from './inbox-lines.js';
import type { InboxEntry, QuestionInbox } from './question-inbox.js';

interface FullQuestionOptions {
  readonly inbox: QuestionInbox;
  readonly scenes: SceneStack;
  readonly paint: Paint;
  readonly size: () => Size;
}

/**
 * Opens a pager that closes with its question. Closing restarts the inbox's grace time, so keys that were meant for
 * the pager answer no question.
 */
export const openFullQuestion = (entry: InboxEntry, options: FullQuestionOptions): void => {
  const { inbox, scenes, paint, size } = options;
  scenes.open((leave) => {
    const close = () => {
      stopWatching();
      inbox.restartGrace();
      leave();
    };
    const stopWatching = inbox.watch(() => {
      if (!inbox.entries.includes(entry)) close();
    });
    return new Pager(textOf(entry), { paint, size, close });
  });
};

const textOf = (entry: InboxEntry): PagerText => {
  const title = `Full question of ${entry.asker}`;
  if (entry.kind === 'permission') {
    return { title, lines: (columns) => fullInputRows(entry.question, columns) };
  }
  const { question, options } = entry.question;
  const texts = options.map(({ label, description = '' }, at) =>
    `${at + 1}. ${exactText(label)}\n${exactText(description)}`.trimEnd(),
  );
  return { title, lines: (columns) => questionRows([question, ...texts].join('\n\n'), columns) };
};
