import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/protocol/clock.js';
import { UsageError } from '../../../../src/protocol/skein-error.js';
import { FileMailbox } from '../../../../src/store/files/mailbox/file-mailbox.js';
import { describeMailbox } from '../../contracts/mailbox.js';
import { temporaryFolder } from '../../session-folder.js';

describeMailbox('in files', () => {
  const folder = temporaryFolder();
  return { sender: () => new FileMailbox(folder, systemClock) };
});

const LETTER = { id: 'l_1', from: 'a_1', to: 'a_2', body: null, sentAt: 1 };

describe('the file mailbox', () => {
  test.each(['mail', 'mail/a_2', 'mail/a_2/new'])(
    'rejects sending and reading with the blocking path if %s is a file',
    async (name) => {
      const folder = temporaryFolder();
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), '');
      const mail = new FileMailbox(folder, systemClock);
      const refusal = new UsageError(
        `${join(folder, name)} is in the way of the mailbox and is not a folder; move it away.`,
      );
      await expect(mail.send(LETTER)).rejects.toThrow(refusal);
      const inbox = await mail.open('a_2');
      await expect(inbox.next(new AbortController().signal)).rejects.toThrow(refusal);
      await mail.close();
    },
  );
});
