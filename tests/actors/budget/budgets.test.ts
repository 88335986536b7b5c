import { describe, expect, test } from 'vitest';
import type { SessionChoice } from '../../../src/actors/session/begin-session.js';
import type { AnswerScope } from '../../../src/protocol/permission/permission-question.js';
import { calls, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import { leadHarness } from '../session/lead-harness.js';

const done = [says('Done.')];
const wants = (call: string, name = 'a') => [calls(call, 'Change', { name })];

/** Session with an allowed call, and the calls that ran after its resume. */
const goOn = async (scope: AnswerScope, how: (id: string) => SessionChoice, next = wants('c2')) => {
  const surface = scriptedSurface({ behavior: 'allow', scope });
  const first = await leadHarness({
    model: scriptedModel(wants('c1'), done),
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
    choice: how(first.lead.id),
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

describe('an answer for the session', () => {
  test('still holds when the session is resumed', async () => {
    expect(await goOn('session', resume)).toEqual({ asked: [], callLog: ['start a', 'end a'] });
  });

  test('holds for that call only', async () => {
    const { asked, callLog } = await goOn('session', resume, wants('c2', 'b'));
    expect({ asked, callLog }).toEqual({ asked: ['c2'], callLog: [] });
  });

  test('is none for a session that is forked from it', async () => {
    const fork = (from: string): SessionChoice => ({ kind: 'fork', from, id: 's_fork' });
    expect(await goOn('session', fork)).toEqual({ asked: ['c2'], callLog: [] });
  });
});

describe('an answer that is not for the session', () => {
  test.each(['once', 'project'] as const)('(%s) is not kept in the session', async (scope) => {
    // A rule for the project is in its settings, and ends when it is removed there.
    expect(await goOn(scope, resume)).toEqual({ asked: ['c2'], callLog: [] });
  });
});
