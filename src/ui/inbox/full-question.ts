/** All of what a question is about, however long it is, on a screen of its own. */

import { wholeInput } from '../../terminal/format/format-question.js';
import type { Paint } from '../../terminal/terminal.js';
import { exactText } from '../../terminal/text/sanitize.js';
import { Pager, type Pages } from '../screen/pager.js';
import type { Size } from '../screen/painter.js';
import type { SceneStack } from '../screen/scene-stack.js';
import type { Inbox, InboxEntry } from './inbox.js';
import { questionRows } from './inbox-lines.js';

export interface WholeEntryOptions {
  readonly inbox: Inbox;
  readonly scenes: SceneStack;
  readonly paint: Paint;
  readonly size: () => Size;
}

/** It goes with its question; what is pressed when it has gone answers nothing for a moment. */
export const openEntry = (entry: InboxEntry, options: WholeEntryOptions): void => {
  const { inbox, scenes, paint, size } = options;
  scenes.open((leave) => {
    const close = () => {
      forget();
      inbox.rearm();
      leave();
    };
    const forget = inbox.watch(() => {
      if (!inbox.entries.includes(entry)) close();
    });
    return new Pager(pagesOf(entry), { paint, size, close });
  });
};

const pagesOf = (entry: InboxEntry): Pages => {
  const title = `All that ${entry.asker} asks for`;
  if (entry.kind === 'permission') {
    return { title, lines: (columns) => wholeInput(entry.question, columns) };
  }
  const { question, options } = entry.question;
  const texts = options.map(({ label, description = '' }, at) =>
    `${at + 1}. ${exactText(label)}\n${exactText(description)}`.trimEnd(),
  );
  return { title, lines: (columns) => questionRows([question, ...texts].join('\n\n'), columns) };
};
