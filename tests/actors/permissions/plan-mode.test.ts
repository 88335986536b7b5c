import { describe, expect, test } from 'vitest';
import type { PermissionAnswer } from '../../../src/protocol/permission/permission-question.js';
import type { PermissionRule } from '../../../src/protocol/permission/permission-rule.js';
import { exitPlanMode } from '../../../src/tools/dialog/exit-plan-mode.js';
import { type Answer, calls, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { allows, denies, scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { type LeadOptions, leadHarness } from '../session/lead-harness.js';
import { type Conversation, swarmHarness, task } from '../swarm/swarm-harness.js';

const leaves = (id: string) => calls(id, 'ExitPlanMode', { plan: '1. Fly' });
const change = (id: string) => calls(id, 'Change', { name: 'a' });

const planning = async (
  answers: readonly PermissionAnswer[],
  turns: readonly Answer[],
  options: Partial<LeadOptions> = {},
) => {
  const surface = scriptedSurface(...answers);
  const model = scriptedModel(...turns, [says('Done.')]);
  const harness = await leadHarness({
    model,
    surface,
    mode: 'plan',
    tools: [exitPlanMode],
    ...options,
  });
  await harness.say('Go');
  await harness.lead.stopped;
  return { ...harness, surface };
};

describe('plan mode', () => {
  test('denies a call with effects without a question', async () => {
    const { callLog, surface, results } = await planning([], [[change('c1')]]);
    expect(callLog).toEqual([]);
    expect(surface.questions).toEqual([]);
    expect(results().c1).toContain('plan mode allows none');
  });

  test('allows a read-only call', async () => {
    const { callLog } = await planning([], [[calls('c1', 'Look', { name: 'a' })]]);
    expect(callLog).toEqual(['start a', 'end a']);
  });

  test('ends if a person approves the plan, and calls with effects can be allowed', async () => {
    const { callLog, surface, lead } = await planning(
      [allows, allows],
      [[leaves('c1')], [change('c2')]],
    );
    expect(surface.questions.map(({ tool }) => tool)).toEqual(['ExitPlanMode', 'Change']);
    expect(callLog).toEqual(['start a', 'end a']);
    expect(lead.mode).toBe('default');
  });

  test('continues if a person rejects the plan, and the model gets the reason', async () => {
    const { lead, results } = await planning([denies('Too short.')], [[leaves('c1')]]);
    expect(lead.mode).toBe('plan');
    expect(results().c1).toContain('Too short.');
  });

  test.each(['allow', 'ask'] as const)(
    'is not left without a question under an %s rule',
    async (kind) => {
      const rules: PermissionRule[] = [{ behavior: kind, text: 'ExitPlanMode', source: 'user' }];
      const { lead, surface } = await planning([denies('No.')], [[leaves('c1')]], { rules });
      expect(surface.questions).toHaveLength(1);
      expect(lead.mode).toBe('plan');
    },
  );

  test('asks again at the next plan after an approval for the session', async () => {
    const surface = scriptedSurface({ behavior: 'allow', scope: 'session' }, denies('Not again.'));
    const model = scriptedModel([leaves('c1')], [says('One.')], [leaves('c2')], [says('Two.')]);
    const { lead, say } = await leadHarness({
      model,
      surface,
      mode: 'plan',
      tools: [exitPlanMode],
      staysIdle: true,
    });
    await say('Go');
    expect(lead.mode).toBe('default');
    lead.changeMode('plan');
    await say('Think again');
    expect(surface.questions.map(({ grant }) => grant)).toEqual([undefined, undefined]);
    expect(lead.mode).toBe('plan');
  });

  test('continues if no surface can be asked', async () => {
    const model = scriptedModel([leaves('c1')], [says('Done.')]);
    const harness = await leadHarness({ model, mode: 'plan', tools: [exitPlanMode] });
    await harness.say('Go');
    await harness.lead.stopped;
    expect(harness.lead.mode).toBe('plan');
    expect(harness.results().c1).toContain('Only the user can end plan mode.');
  });
});

test('ExitPlanMode fails outside of plan mode', async () => {
  const { results, surface } = await planning([], [[leaves('c1')]], { mode: 'default' });
  expect(results().c1).toContain('This is not plan mode');
  expect(surface.questions).toEqual([]);
});

test('an allow rule does not let a child of a planning agent make calls with effects', async () => {
  const answer = ({ said, last, turn }: Conversation): Answer => {
    if (last.includes('Go')) return [calls('c1', 'Task', task('write', EXPLORER))];
    return said[0]?.includes('write') && turn === 0 ? [change('c2')] : [says('Done.')];
  };
  const rules: PermissionRule[] = [{ behavior: 'allow', text: 'Change', source: 'user' }];
  const swarm = { definitions: [agentDefinition({ tools: ['Change'] })] };
  const harness = await swarmHarness(answer, { mode: 'plan', rules, swarm });
  await harness.say('Go');
  await harness.lead.stopped;
  expect(harness.requests).toHaveLength(4);
  expect(harness.callLog).toEqual([]);
});

const EXPLORER = { subagent_type: 'explorer' };
