/** TaskCreate, TaskUpdate, TaskGet and TaskList, with a list that others change too. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Bench } from './bench.js';
import type { Entry } from './entry.js';

const order = { subject: 'Count the geese', description: 'All of them, at the pond.' };
const create = (bench: Bench, subject = order.subject) =>
  bench.call('TaskCreate', { ...order, subject });
const two = async (bench: Bench) => {
  await create(bench);
  await create(bench, 'Feed them');
};
const waiting = async (bench: Bench) => {
  await two(bench);
  await bench.call('TaskUpdate', { taskId: '2', addBlockedBy: ['1'] });
};
const listed = async (bench: Bench) => (await bench.call('TaskList', {})).text;
const ids = { taskId: fc.constantFrom('1', '2', '#2', ' 1 ', '7', '__proto__', '', '1e3') };
const lists = fc.array(fc.constantFrom('1', '2', '7', ''), { maxLength: 3 });
const metadata = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 });

export const taskCreate: Entry = {
  tool: 'TaskCreate',
  sample: order,
  shapes: { metadata },
  draws: () => ({ metadata }),
  cases: {
    'a task': { input: order, end: 'ok', says: /^Task 1 created: Count the geese$/ },
    'facts of its own': {
      input: { ...order, activeForm: 'Counting', metadata: { pond: 3 } },
      end: 'ok',
      says: /^Task 1 created/,
      after: async (bench) =>
        expect((await bench.call('TaskGet', { taskId: '1' })).text).toContain('{"pond":3}'),
    },
    'a task that says nothing': {
      input: { ...order, subject: ' \n' },
      end: 'invalid',
      says: /"subject"/,
    },
    'a subject of a page': {
      input: { ...order, subject: 'x'.repeat(201) },
      end: 'invalid',
      says: /"subject"/,
    },
    'metadata of megabytes': {
      input: { ...order, metadata: { x: 'x'.repeat(1e6) } },
      end: 'failed',
      says: /^The metadata has 1000008 characters as JSON; 4000 is the most\./,
    },
    'more than there may be': {
      first: async (bench) => {
        for (let at = 0; at < 1_000; at += 1) await create(bench);
      },
      input: order,
      end: 'failed',
      says: /^The list has 1000 tasks, which is the most\./,
    },
  },
};

export const taskUpdate: Entry = {
  tool: 'TaskUpdate',
  first: two,
  sample: { taskId: '1', status: 'in_progress' },
  shapes: { metadata },
  draws: () => ({ ...ids, metadata, addBlocks: lists, addBlockedBy: lists }),
  cases: {
    'whose it is now': {
      first: two,
      input: { taskId: '1', status: 'in_progress' },
      end: 'ok',
      says: /^Task 1 is now: in_progress, owner a_1\.$/,
    },
    'what it waits for': {
      first: two,
      input: { taskId: '#2', addBlockedBy: ['#1'] },
      end: 'ok',
      says: /^Task 2 is now: pending, no owner; waits for 1\.$/,
    },
    'one that is deleted, by forgetting it': {
      first: two,
      input: { taskId: '1', status: 'deleted' },
      end: 'ok',
      says: /^Task 1 is deleted\.$/,
      after: async (bench) => expect(await listed(bench)).toBe('2. [pending] Feed them'),
    },
    'one that somebody else has': {
      first: async (bench) => {
        await create(bench);
        await bench.call('TaskUpdate', { taskId: '1', owner: 'bob' });
      },
      input: { taskId: '1', status: 'in_progress' },
      end: 'failed',
      says: /^Task 1 is owned by bob \(pending\), so only bob or the lead can change that\./,
    },
    'one that must wait': {
      first: waiting,
      input: { taskId: '2', status: 'in_progress' },
      end: 'failed',
      says: /^Task 2 cannot start yet: it waits for 1 \(pending\)\.$/,
    },
    'a circle': {
      first: waiting,
      input: { taskId: '2', addBlocks: ['1'] },
      end: 'failed',
      says: /^Then task 2 would wait for itself \(2 → 1 → 2\)/,
    },
    'one that is not there': {
      first: two,
      input: { taskId: '9', status: 'completed' },
      end: 'failed',
      says: /^There is no task "9"\. The tasks are: 1, 2\.$/,
    },
    'no change': {
      first: two,
      input: { taskId: '1' },
      end: 'failed',
      says: /^No change is given for task 1\./,
    },
    'a status that there is not': {
      input: { taskId: '1', status: 'done' },
      end: 'invalid',
      says: /"status"/,
    },
    'an owner in two lines': {
      input: { taskId: '1', owner: 'bob\nann' },
      end: 'invalid',
      says: /"owner"/,
    },
  },
};

export const taskGet: Entry = {
  tool: 'TaskGet',
  first: waiting,
  sample: { taskId: '1' },
  draws: () => ids,
  cases: {
    'all about a task': {
      first: waiting,
      input: { taskId: '1' },
      end: 'ok',
      says: /^Task 1: Count the geese\nStatus: pending, no owner\nBlocks: 2\nCreated by a_1\.\n\nAll of them, at the pond\.$/,
    },
    'a task by its number with a mark': {
      first: waiting,
      input: { taskId: ' #2 ' },
      end: 'ok',
      says: /waits for 1\nCreated/,
    },
    'one that is not there': {
      first: two,
      input: { taskId: 'x'.repeat(100) },
      end: 'failed',
      says: /^There is no task "x{80}"\. The tasks are: 1, 2\.$/,
    },
    'an empty list': { input: { taskId: '1' }, end: 'failed', says: /The list is empty\.$/ },
  },
};

export const taskList: Entry = {
  tool: 'TaskList',
  first: waiting,
  sample: {},
  cases: {
    'all tasks': {
      first: waiting,
      input: {},
      end: 'ok',
      says: /^1\. \[pending\] Count the geese\n2\. \[pending\] Feed them \(waits for 1\)$/,
    },
    'no tasks': { input: {}, end: 'ok', says: /^The list is empty\.$/ },
    'a subject that looks like the next one, in one line': {
      first: (bench) => create(bench, 'a\n2. [completed] b'),
      input: {},
      end: 'ok',
      says: /^1\. \[pending\] a 2\. \[completed\] b$/,
    },
    'the longest list there may be, without what is done': {
      first: async (bench) => {
        for (let at = 0; at < 1_000; at += 1) await create(bench, 'x'.repeat(200));
        for (let at = 1; at <= 850; at += 1) {
          await bench.call('TaskUpdate', { taskId: String(at), status: 'completed' });
        }
      },
      input: {},
      end: 'ok',
      says: /^801\. \[completed\][\s\S]*\n1000\. \[pending\]/,
      after: (_, { text }) => expect(text).toMatch(/\n\(800 more; TaskGet shows one/),
    },
  },
};
