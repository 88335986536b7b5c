import { describe, expect, test } from 'vitest';
import type { SessionChoice } from '../../../src/actors/session/begin-session.js';
import type { AnswerScope } from '../../../src/protocol/permission/permission-question.js';
import { calls, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import { leadHarness } from '../session/lead-harness.js';

const done = [says('Done.')];
const asksFor = (call: string, name = 'a') => [calls(call, 'Change', { name })];

/** Session with an allowed call, and the calls that ran after its resume. */
const resumeAfter = async (
  scope: AnswerScope,
  choiceOf: (id: string) => SessionChoice,
  next = asksFor('c2'),
) => {
  const surface = scriptedSurface({ behavior: 'allow', scope });
  const first = await leadHarness({
    model: scriptedModel(asksFor('c1'), done),
    surface,
    mode: 'default',
  });
  await first.say('Go');
  await first.lead.stopped;
  await first.lead.close();
  const asked: string[] = [];
  const again = await leadHarness({
    model: scriptedModel(next, done),
    store: first.store,
    mode: 'default',
    choice: choiceOf(first.lead.id),
    surface: {
      async ask({ call }) {
        asked.push(call);
        return { behavior: 'deny', reason: 'Not now.' };
      },
    },
  });
  await again.say('Go on');
  await again.lead.stopped;
  return { asked, callLog: again.callLog };
};

const resume = (id: string): SessionChoice => ({ kind: 'resume', id });

describe('an allow answer for the session', () => {
  test('is valid in the resumed session', async () => {
    expect(await resumeAfter('session', resume)).toEqual({
      asked: [],
      callLog: ['start a', 'end a'],
    });
  });

  test('is valid for the same call only', async () => {
    const { asked, callLog } = await resumeAfter('session', resume, asksFor('c2', 'b'));
    expect({ asked, callLog }).toEqual({ asked: ['c2'], callLog: [] });
  });

  test('is not valid in a forked session', async () => {
    const fork = (from: string): SessionChoice => ({ kind: 'fork', from, id: 's_fork' });
    expect(await resumeAfter('session', fork)).toEqual({ asked: ['c2'], callLog: [] });
  });
});

describe('an allow answer that is not for the session', () => {
  test.each(['once', 'project'] as const)('(%s) is not kept in the session', async (scope) => {
    // A rule for the project is stored in the project settings.
    expect(await resumeAfter(scope, resume)).toEqual({ asked: ['c2'], callLog: [] });
  });
});
