import { expect, test } from 'vitest';
import { postedQuestion } from '../../src/protocol/session/question-board.js';

test('the fields of a posted question do not change', () => {
  expect(Object.keys(postedQuestion.shape)).toEqual([
    'id',
    'agent',
    'call',
    'tool',
    'input',
    'inputDigest',
    'description',
    'reason',
    'risk',
    'cwd',
    'grant',
    'isAlwaysAsked',
    'blockedPath',
    'replaces',
    'askedAt',
    'personKeys',
  ]);
  expect(Object.keys(postedQuestion.shape.replaces.unwrap().shape)).toEqual([
    'bytes',
    'lines',
    'text',
  ]);
});
