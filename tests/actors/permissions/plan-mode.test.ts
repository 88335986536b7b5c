import { describe, expect, test } from 'vitest';
import type { PermissionAnswer } from '../../../src/protocol/permission/permission-question.js';
import type { PermissionRule } from '../../../src/protocol/permission/permission-rule.js';
import { exitPlanMode } from '../../../src/tools/dialog/exit-plan-mode.js';
import { type Answer, calls, says, scriptedModel } from '../../fakes/agents/scripted-model.js';
import { allows, denies, scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import { agentDefinition } from '../../fakes/agents/swarm-setup.js';
import { type LeadOptions, leadInHand } from '../session/lead-in-hand.js';
import { swarmInHand, type Talk, task } from '../swarm/swarm-in-hand.js';

const leaves = (id: string) => calls(id, 'ExitPlanMode', { plan: '1. Fly' });
const change = (id: string) => calls(id, 'Change', { name: 'a' });

const planning = async (
  answers: readonly PermissionAnswer[],
  turns: readonly Answer[],
  options: Partial<LeadOptions> = {},
) => {
  const surface = scriptedSurface(...answers);
  const model = scriptedModel(...turns, [says('Done.')]);
  const hand = await leadInHand({
    model,
    surface,
    mode: 'plan',
    tools: [exitPlanMode],
    ...options,
  });
  await hand.say('Go');
  await hand.lead.stopped;
  return { ...hand, surface };
};

describe('in plan mode', () => {
  test('a call with effects is denied, and nobody is asked', async () => {
    const { deeds, surface, results } = await planning([], [[change('c1')]]);
    expect(deeds).toEqual([]);
    expect(surface.questions).toEqual([]);
    expect(results().c1).toContain('plan mode allows none');
  });

  test('reading goes on', async () => {
    const { deeds } = await planning([], [[calls('c1', 'Look', { name: 'a' })]]);
    expect(deeds).toEqual(['start a', 'end a']);
  });

  test('a person who agrees with the plan ends it, and what was denied is possible', async () => {
    const { deeds, surface, lead } = await planning(
      [allows, allows],
      [[leaves('c1')], [change('c2')]],
    );
    expect(surface.questions.map(({ tool }) => tool)).toEqual(['ExitPlanMode', 'Change']);
    expect(deeds).toEqual(['start a', 'end a']);
    expect(lead.mode).toBe('default');
  });

  test('a person who does not agree keeps it, and the model reads why', async () => {
    const { lead, results } = await planning([denies('Too short.')], [[leaves('c1')]]);
    expect(lead.mode).toBe('plan');
    expect(results().c1).toContain('Too short.');
  });

  test.each(['allow', 'ask'] as const)(
    'no %s rule lets the model leave by itself',
    async (kind) => {
      const rules: PermissionRule[] = [{ behavior: kind, text: 'ExitPlanMode', source: 'user' }];
      const { lead, surface } = await planning([denies('No.')], [[leaves('c1')]], { rules });
      expect(surface.questions).toHaveLength(1);
      expect(lead.mode).toBe('plan');
    },
  );

  test('an answer is never kept for the next time', async () => {
    const surface = scriptedSurface({ behavior: 'allow', scope: 'session' }, denies('Not again.'));
    const model = scriptedModel([leaves('c1')], [says('One.')], [leaves('c2')], [says('Two.')]);
    const { lead, say } = await leadInHand({
      model,
      surface,
      mode: 'plan',
      tools: [exitPlanMode],
      lingers: true,
    });
    await say('Go');
    expect(lead.mode).toBe('default');
    lead.changeMode('plan');
    await say('Think again');
    expect(surface.questions.map(({ grant }) => grant)).toEqual([undefined, undefined]);
    expect(lead.mode).toBe('plan');
  });

  test('nobody to ask means that it stays', async () => {
    const model = scriptedModel([leaves('c1')], [says('Done.')]);
    const hand = await leadInHand({ model, mode: 'plan', tools: [exitPlanMode] });
    await hand.say('Go');
    await hand.lead.stopped;
    expect(hand.lead.mode).toBe('plan');
    expect(hand.results().c1).toContain('Only a person can end plan mode.');
  });
});

test('outside of plan mode there is nothing to leave', async () => {
  const { results, surface } = await planning([], [[leaves('c1')]], { mode: 'default' });
  expect(results().c1).toContain('This is not plan mode');
  expect(surface.questions).toEqual([]);
});

test('no rule lets an agent of one that plans do what has effects', async () => {
  const answer = ({ said, last, turn }: Talk): Answer => {
    if (last.includes('Go')) return [calls('c1', 'Task', task('write', EXPLORER))];
    return said[0]?.includes('write') && turn === 0 ? [change('c2')] : [says('Done.')];
  };
  const rules: PermissionRule[] = [{ behavior: 'allow', text: 'Change', source: 'user' }];
  const swarm = { definitions: [agentDefinition({ tools: ['Change'] })] };
  const hand = await swarmInHand(answer, { mode: 'plan', rules, swarm });
  await hand.say('Go');
  await hand.lead.stopped;
  expect(hand.requests).toHaveLength(4);
  expect(hand.deeds).toEqual([]);
});

const EXPLORER = { subagent_type: 'explorer' };
