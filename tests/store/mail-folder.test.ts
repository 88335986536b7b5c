import { systemClock } from '../../src/protocol/clock.js';
import { MailFolder } from '../../src/store/mail-folder.js';
import { describeMailbox } from './contracts/mailbox.js';
import { temporaryFolder } from './session-folder.js';

describeMailbox('in files', () => {
  const folder = temporaryFolder();
  return { sender: () => new MailFolder(folder, systemClock) };
});
