/** Tools that affect only the agent and its user: TodoWrite, TodoRead, AskUser and ExitPlanMode. */
import { expect } from 'vitest';
import type { PersonAnswer } from '../../../src/protocol/permission/permission-question.js';
import type { Bench } from './bench.js';
import type { Entry } from './entry.js';

const todo = (content: string, status = 'pending') => ({ content, status });
const todos = { todos: [todo('Fly', 'in_progress'), todo('Land')] };
const hasTodos = (bench: Bench) => bench.call('TodoWrite', todos);

export const todoWrite: Entry = {
  tool: 'TodoWrite',
  sample: todos,
  cases: {
    'a list': { input: todos, end: 'ok', says: /1 in progress, 1 pending/ },
    'an empty list': { first: hasTodos, input: { todos: [] }, end: 'ok', says: /0 pending/ },
    'two items in progress, by keeping the old list': {
      first: hasTodos,
      input: { todos: [todo('A', 'in_progress'), todo('B', 'in_progress')] },
      end: 'failed',
      says: /More than one/,
      after: async (bench) => expect((await bench.call('TodoRead', {})).text).toContain('Fly'),
    },
    'a repeated id': {
      input: {
        todos: [
          { ...todo('A'), id: 'x' },
          { ...todo('B'), id: 'x' },
        ],
      },
      end: 'failed',
      says: /id "x"/,
    },
    'ten thousand items': {
      input: { todos: Array.from({ length: 10_000 }, (_, index) => todo(`Item ${index}`)) },
      end: 'invalid',
      says: /"todos"/,
    },
    'empty items': { input: { todos: [todo(' \n ')] }, end: 'invalid', says: /empty/ },
    'an unknown status': {
      input: { todos: [todo('A', 'done')] },
      end: 'invalid',
      says: /"todos\.0\.status"/,
    },
  },
};

export const todoRead: Entry = {
  tool: 'TodoRead',
  first: hasTodos,
  sample: {},
  cases: {
    'a list': { first: hasTodos, input: {}, end: 'ok', says: /1\. \[in_progress\] Fly\n2\./ },
    'no list': { input: {}, end: 'ok', says: /empty/ },
    'a list of the maximum size': {
      first: (bench) =>
        bench.call('TodoWrite', {
          todos: Array.from({ length: 200 }, () => todo('x'.repeat(1_000))),
        }),
      input: {},
      end: 'ok',
      says: /200\. \[pending\]/,
    },
  },
};

const question = { question: 'Which?', options: [{ label: 'This' }, { label: 'That' }] };
const answers = (answer: PersonAnswer) => (bench: Bench) => {
  bench.answer = () => Promise.resolve(answer);
};

export const askUser: Entry = {
  tool: 'AskUser',
  first: answers({ chosen: ['This'] }),
  sample: question,
  endless: question,
  runs: 20,
  cases: {
    'a choice': {
      first: answers({ chosen: ['That'] }),
      input: question,
      end: 'ok',
      says: /chose: That$/,
    },
    'a text answer': {
      first: answers({ chosen: [], text: 'Neither.' }),
      input: question,
      end: 'ok',
      says: /said: Neither\.$/,
    },
    'a text answer of a megabyte': {
      first: answers({ chosen: [], text: 'w'.repeat(1_000_000) }),
      input: question,
      end: 'ok',
      says: /cut after 20000/,
    },
    'no answer': { input: question, end: 'failed', says: /No answer came.*Decide it yourself/ },
    'a rejected question': {
      first: (bench) => {
        bench.answer = () => Promise.reject(new Error('No time.'));
      },
      input: question,
      end: 'failed',
      says: /No time\. Decide it yourself/,
    },
    'an answer that is not an option': {
      first: answers({ chosen: ['Third'] }),
      input: question,
      end: 'failed',
      says: /does not fit/,
    },
    'two answers to a single-choice question': {
      first: answers({ chosen: ['This', 'That'] }),
      input: question,
      end: 'failed',
      says: /does not fit/,
    },
    'a single option': {
      input: { ...question, options: [{ label: 'This' }] },
      end: 'invalid',
      says: /"options"/,
    },
    'two equal options': {
      input: { ...question, options: [{ label: 'This' }, { label: 'This' }] },
      end: 'invalid',
      says: /same label/,
    },
  },
};

const plan = { plan: '1. Fly\n2. Land' };

export const exitPlanMode: Entry = {
  tool: 'ExitPlanMode',
  first: (bench) => bench.plan(),
  sample: plan,
  cases: {
    'an approved plan, by leaving plan mode': {
      first: (bench) => bench.plan(),
      input: plan,
      end: 'ok',
      says: /The mode is now bypassPermissions/,
    },
    'a call outside plan mode': { input: plan, end: 'denied', says: /not plan mode/ },
    'an empty plan': { input: { plan: ' \n' }, end: 'invalid', says: /"plan"/ },
    'a plan of a megabyte': { input: { plan: 'x'.repeat(1e6) }, end: 'invalid', says: /"plan"/ },
  },
};
