/** SendMessage, with a post office that says what it is told to. */
import { expect } from 'vitest';
import { SpawnRefusal } from '../../../src/protocol/agent/agents.js';
import type { MessageReceipt } from '../../../src/protocol/agent/team-message.js';
import type { Bench } from './bench.js';
import type { Entry } from './entry.js';

const letter = { to: 'ada', message: 'Look at the parser.' };
const receipt = (came: MessageReceipt['outcome'], name = 'ada'): MessageReceipt => ({
  agent: 'ag_1',
  name,
  outcome: came,
});
const coming = (...receipts: MessageReceipt[]) => {
  return (bench: Bench) => {
    bench.agents.receipts = receipts;
  };
};
const sentNone = ({ agents }: Bench) => expect(agents.sent).toEqual([]);

export const message: Entry = {
  tool: 'SendMessage',
  first: coming(receipt('delivered')),
  sample: letter,
  cases: {
    'one that is at work': {
      first: coming(receipt('delivered')),
      input: letter,
      end: 'ok',
      says: /^ada has it and reads it in its next step\.$/,
      after: ({ agents }) =>
        expect(agents.sent).toMatchObject([
          { to: 'ada', message: { kind: 'message', text: letter.message } },
        ]),
    },
    'one that had ended': {
      first: coming(receipt('resumed')),
      input: letter,
      end: 'ok',
      says: /resumes with it/,
    },
    'one that a person stopped': {
      first: coming(receipt('refused')),
      input: letter,
      end: 'failed',
      says: /a person stopped it/,
    },
    'several, of whom one is gone': {
      first: coming(receipt('delivered'), receipt('lost', 'bob')),
      input: { ...letter, to: '*' },
      end: 'ok',
      says: /ada has it.*\nbob does not get it/,
    },
    nobody: {
      first: ({ agents }) => {
        agents.send = async () => {
          throw new SpawnRefusal('There is no agent "eve". There are: ada.');
        };
      },
      input: { ...letter, to: 'eve' },
      end: 'failed',
      says: /^There is no agent "eve"/,
    },
    'a request, with what an answer has to name': {
      first: coming({ ...receipt('delivered'), request: 'shutdown_x' }),
      input: { to: 'ada', message: 'All is done.', type: 'shutdown_request' },
      end: 'ok',
      says: /\(request shutdown_x\)/,
    },
    'words that say nothing': {
      input: { ...letter, message: ' \n' },
      end: 'invalid',
      says: /"message"/,
      after: sentNone,
    },
    'more words than anybody reads': {
      input: { ...letter, message: 'x'.repeat(200_000) },
      end: 'invalid',
      says: /"message"/,
      after: sentNone,
    },
    'a request that there is not': {
      input: { ...letter, type: 'promotion_request' },
      end: 'invalid',
      says: /"type"/,
      after: sentNone,
    },
    'an answer that names no request': {
      input: { ...letter, type: 'shutdown_response', approve: true },
      end: 'invalid',
      says: /a response needs request_id and approve/,
      after: sentNone,
    },
  },
};
