/** TaskCreate, TaskUpdate, TaskGet and TaskList with a task list in memory. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type { Bench } from './bench.js';
import type { Entry } from './entry.js';

const order = { subject: 'Count the geese', description: 'All of them, at the pond.' };
const create = (bench: Bench, subject = order.subject) =>
  bench.call('TaskCreate', { ...order, subject });
const createTwo = async (bench: Bench) => {
  await create(bench);
  await create(bench, 'Feed them');
};
const createWaiting = async (bench: Bench) => {
  await createTwo(bench);
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
    'a task with metadata': {
      input: { ...order, activeForm: 'Counting', metadata: { pond: 3 } },
      end: 'ok',
      says: /^Task 1 created/,
      after: async (bench) =>
        expect((await bench.call('TaskGet', { taskId: '1' })).text).toContain('{"pond":3}'),
    },
    'a blank subject': {
      input: { ...order, subject: ' \n' },
      end: 'invalid',
      says: /"subject"/,
    },
    'a too long subject': {
      input: { ...order, subject: 'x'.repeat(201) },
      end: 'invalid',
      says: /"subject"/,
    },
    'metadata of megabytes': {
      input: { ...order, metadata: { x: 'x'.repeat(1e6) } },
      end: 'failed',
      says: /^The metadata has 1000008 characters as JSON; the limit is 4000\./,
    },
    'too many tasks': {
      first: async (bench) => {
        for (let at = 0; at < 1_000; at += 1) await create(bench);
      },
      input: order,
      end: 'failed',
      says: /^The list has 1000 tasks, which is the limit\./,
    },
  },
};

export const taskUpdate: Entry = {
  tool: 'TaskUpdate',
  first: createTwo,
  sample: { taskId: '1', status: 'in_progress' },
  shapes: { metadata },
  draws: () => ({ ...ids, metadata, addBlocks: lists, addBlockedBy: lists }),
  cases: {
    'a start of a task, with the new owner': {
      first: createTwo,
      input: { taskId: '1', status: 'in_progress' },
      end: 'ok',
      says: /^Task 1 is now: in_progress, owner a_1\.$/,
    },
    'a dependency': {
      first: createTwo,
      input: { taskId: '#2', addBlockedBy: ['#1'] },
      end: 'ok',
      says: /^Task 2 is now: pending, no owner; waits for 1\.$/,
    },
    'a deletion': {
      first: createTwo,
      input: { taskId: '1', status: 'deleted' },
      end: 'ok',
      says: /^Task 1 is deleted\.$/,
      after: async (bench) => expect(await listed(bench)).toBe('2. [pending] Feed them'),
    },
    'a task of another owner': {
      first: async (bench) => {
        await create(bench);
        await bench.call('TaskUpdate', { taskId: '1', owner: 'bob' });
      },
      input: { taskId: '1', status: 'in_progress' },
      end: 'failed',
      says: /^Task 1 is owned by bob \(pending\), so only bob or the lead can change that\./,
    },
    'a task that waits for another task': {
      first: createWaiting,
      input: { taskId: '2', status: 'in_progress' },
      end: 'failed',
      says: /^Task 2 cannot start yet: it waits for 1 \(pending\)\.$/,
    },
    'a dependency cycle': {
      first: createWaiting,
      input: { taskId: '2', addBlocks: ['1'] },
      end: 'failed',
      says: /^Then task 2 would wait for itself \(2 → 1 → 2\)/,
    },
    'an unknown task': {
      first: createTwo,
      input: { taskId: '9', status: 'completed' },
      end: 'failed',
      says: /^There is no task "9"\. The tasks are: 1, 2\.$/,
    },
    'no change': {
      first: createTwo,
      input: { taskId: '1' },
      end: 'failed',
      says: /^No change is given for task 1\./,
    },
    'an unknown status': {
      input: { taskId: '1', status: 'done' },
      end: 'invalid',
      says: /"status"/,
    },
    'an owner with a line break': {
      input: { taskId: '1', owner: 'bob\nann' },
      end: 'invalid',
      says: /"owner"/,
    },
  },
};

export const taskGet: Entry = {
  tool: 'TaskGet',
  first: createWaiting,
  sample: { taskId: '1' },
  draws: () => ids,
  cases: {
    'a task with all details': {
      first: createWaiting,
      input: { taskId: '1' },
      end: 'ok',
      says: /^Task 1: Count the geese\nStatus: pending, no owner\nBlocks: 2\nCreated by a_1\.\n\nAll of them, at the pond\.$/,
    },
    'a task number with a # sign': {
      first: createWaiting,
      input: { taskId: ' #2 ' },
      end: 'ok',
      says: /waits for 1\nCreated/,
    },
    'an unknown task': {
      first: createTwo,
      input: { taskId: 'x'.repeat(100) },
      end: 'failed',
      says: /^There is no task "x{80}"\. The tasks are: 1, 2\.$/,
    },
    'an empty list': { input: { taskId: '1' }, end: 'failed', says: /The list is empty\.$/ },
  },
};

export const taskList: Entry = {
  tool: 'TaskList',
  first: createWaiting,
  sample: {},
  cases: {
    'all tasks': {
      first: createWaiting,
      input: {},
      end: 'ok',
      says: /^1\. \[pending\] Count the geese\n2\. \[pending\] Feed them \(waits for 1\)$/,
    },
    'no tasks': { input: {}, end: 'ok', says: /^The list is empty\.$/ },
    'a subject that looks like another task, on a single line': {
      first: (bench) => create(bench, 'a\n2. [completed] b'),
      input: {},
      end: 'ok',
      says: /^1\. \[pending\] a 2\. \[completed\] b$/,
    },
    'a list of the maximum length, without old completed tasks': {
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
