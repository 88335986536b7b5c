import { MailMemory } from '../../src/store/mail-memory.js';
import { describeMailbox } from './contracts/mailbox.js';

describeMailbox('in memory', () => {
  const box = new MailMemory();
  return { sender: () => box };
});
