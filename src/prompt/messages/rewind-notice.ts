/** Notice for an agent after a rewind of the files alone or of the conversation alone. */
import { pathList } from '../escape-tags.js';
import { systemReminder } from './system-reminder.js';

/** `rewound` says which half went back; the other half still shows the later state. */
export const rewindNotice = (
  rewound: 'files' | 'conversation',
  paths: readonly string[],
): string => {
  const list = pathList(paths).map((path) => `- ${path}`);
  return systemReminder(`${NOTICES[rewound]}\n${list.join('\n')}`);
};

const NOTICES = {
  files:
    'The user restored these files to an earlier state. What you know of them is out of date: read them again before you change them, and do not repeat the changes unless you are asked to.',
  conversation:
    'The user removed later parts of this conversation, but kept the changes made to these files. Read them again before you rely on them.',
} as const;
