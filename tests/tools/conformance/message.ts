/** SendMessage, with scripted receipts. */
import { expect } from 'vitest';
import { AgentRefusal } from '../../../src/protocol/agent/agents.js';
import type { MessageReceipt } from '../../../src/protocol/agent/team-message.js';
import type { Bench } from './bench.js';
import type { Entry } from './entry.js';

const letter = { to: 'ada', message: 'Look at the parser.' };
const receipt = (outcome: MessageReceipt['outcome'], name = 'ada'): MessageReceipt => ({
  agent: 'ag_1',
  name,
  outcome,
});
const withReceipts = (...receipts: MessageReceipt[]) => {
  return (bench: Bench) => {
    bench.agents.receipts = receipts;
  };
};
const expectNoneSent = ({ agents }: Bench) => expect(agents.sent).toEqual([]);

export const message: Entry = {
  tool: 'SendMessage',
  first: withReceipts(receipt('delivered')),
  sample: letter,
  cases: {
    'a running agent': {
      first: withReceipts(receipt('delivered')),
      input: letter,
      end: 'ok',
      says: /^ada has it and reads it in its next step\.$/,
      after: ({ agents }) =>
        expect(agents.sent).toMatchObject([
          { to: 'ada', message: { kind: 'message', text: letter.message } },
        ]),
    },
    'an ended agent, by resuming it': {
      first: withReceipts(receipt('resumed')),
      input: letter,
      end: 'ok',
      says: /resumes with it/,
    },
    'an agent that a user stopped': {
      first: withReceipts(receipt('refused')),
      input: letter,
      end: 'failed',
      says: /the user stopped it/,
    },
    'several agents, with a lost agent': {
      first: withReceipts(receipt('delivered'), receipt('lost', 'bob')),
      input: { ...letter, to: '*' },
      end: 'ok',
      says: /ada has it.*\nbob does not get it/,
    },
    'an unknown agent': {
      first: ({ agents }) => {
        agents.send = async () => {
          throw new AgentRefusal('There is no agent "eve". There are: ada.');
        };
      },
      input: { ...letter, to: 'eve' },
      end: 'failed',
      says: /^There is no agent "eve"/,
    },
    'a request, with the id for its answer': {
      first: withReceipts({ ...receipt('delivered'), request: 'shutdown_x' }),
      input: { to: 'ada', message: 'All is done.', type: 'shutdown_request' },
      end: 'ok',
      says: /\(request shutdown_x\)/,
    },
    'a blank message': {
      input: { ...letter, message: ' \n' },
      end: 'invalid',
      says: /"message"/,
      after: expectNoneSent,
    },
    'a message above the limit': {
      input: { ...letter, message: 'x'.repeat(200_000) },
      end: 'invalid',
      says: /"message"/,
      after: expectNoneSent,
    },
    'an unknown type of request': {
      input: { ...letter, type: 'promotion_request' },
      end: 'invalid',
      says: /"type"/,
      after: expectNoneSent,
    },
    'a response without a request id': {
      input: { ...letter, type: 'shutdown_response', approve: true },
      end: 'invalid',
      says: /a response needs request_id and approve/,
      after: expectNoneSent,
    },
  },
};
