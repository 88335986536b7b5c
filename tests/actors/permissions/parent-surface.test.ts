import { describe, expect, test } from 'vitest';
import { askSurfaces } from '../../../src/actors/permissions/ask-surfaces.js';
import { inputDigest } from '../../../src/actors/permissions/input-digest.js';
import { modeSwitch } from '../../../src/actors/permissions/mode-switch.js';
import { parentSurface } from '../../../src/actors/permissions/parent-surface.js';
import { permissionManager } from '../../../src/actors/permissions/permission-manager.js';
import { signingSurface } from '../../../src/actors/permissions/signing-surface.js';
import type {
  PermissionQuestion,
  Surface,
} from '../../../src/protocol/permission/permission-question.js';
import type { PermissionRule } from '../../../src/protocol/permission/permission-rule.js';
import type {
  KnownSurface,
  SurfaceOutcome,
} from '../../../src/protocol/permission/signed-answer.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { toolbox } from '../../../src/tools/toolbox.js';
import { allows, denies, scriptedSurface } from '../../fakes/agents/scripted-surface.js';
import { virtualClock } from '../../fakes/virtual-clock.js';

const questionOf = (input: unknown, agent = 'a_child'): PermissionQuestion => ({
  id: 'q_1',
  agent,
  call: 'c_1',
  tool: 'Bash',
  input,
  cwd: '/repo',
  risk: 'medium',
  inputDigest: inputDigest(input),
  description: 'x',
  reason: 'No rule.',
});

/** Parent with its own permissions, and a function that asks it a question of its child. */
const parentAndChild = (rules: readonly PermissionRule[], ...people: readonly Surface[]) => {
  const clock = virtualClock();
  const managerWith = (surfaces: readonly KnownSurface[]) =>
    permissionManager({
      policy: {
        rules,
        roots: ['/repo'],
        home: '/home/ada',
        skeinHome: '/home/ada/.skein',
        realPath: (path) => path,
      },
      mode: modeSwitch('default'),
      surfaces,
      permissionTimeoutMs: 60_000,
      keepRule: () => undefined,
    });
  const permissions = managerWith(
    people.map((person, at) => signingSurface(`p${at}`, person, clock)),
  );
  const tools = toolbox(builtinTools);
  const parent = parentSurface({ agent: 'a_parent', permissions, toolbox: tools, clock });
  const outcomes: SurfaceOutcome[] = [];
  const askUp = (input: unknown, surfaces: readonly KnownSurface[] = [parent], of = 'a_parent') =>
    askSurfaces(surfaces, questionOf(input), {
      clock,
      timeoutMs: 60_000,
      signal: new AbortController().signal,
      parent: of,
      onAnswer: (outcome) => outcomes.push(outcome),
    });
  return { askUp, outcomes, parent, clock, permissions, tools };
};

const rule = (behavior: PermissionRule['behavior'], text: string): PermissionRule => ({
  behavior,
  text,
  source: 'user',
});

describe('a parent that gets a question of its child', () => {
  test('allows a call that its rules allow, and asks no surface', async () => {
    const person = scriptedSurface();
    const { askUp } = parentAndChild([rule('allow', 'Bash(make)')], person);
    const decision = await askUp({ command: 'make' });
    expect(decision).toMatchObject({ behavior: 'allow', scope: 'once', by: 'desk of a_parent' });
    expect(person.questions).toEqual([]);
  });

  test('denies a call that its rules deny, with the rule as reason', async () => {
    const { askUp } = parentAndChild([rule('deny', 'Bash(make)')], scriptedSurface());
    const decision = await askUp({ command: 'make' });
    expect(decision).toMatchObject({ behavior: 'deny', by: 'desk of a_parent' });
    expect(decision).toHaveProperty('reason', expect.stringContaining('Bash(make)'));
  });

  test('forwards an undecided call to its surface and returns the signed answer', async () => {
    const person = scriptedSurface(allows);
    const { askUp, outcomes } = parentAndChild([], person);
    expect(await askUp({ command: 'make' })).toMatchObject({ behavior: 'allow', by: 'p0' });
    expect(person.questions).toMatchObject([{ agent: 'a_child', id: 'q_1' }]);
    expect(outcomes).toMatchObject([{ surface: 'p0', outcome: 'accepted' }]);
  });

  test('allows a call that a person allowed for the session to a child', async () => {
    const person = scriptedSurface();
    const { askUp, permissions, parent } = parentAndChild([], person);
    const child = permissions.forChild({ tools: undefined, mode: 'bubble', surfaces: [parent] });
    const subject = { action: 'execute', target: 'make' } as const;
    child.allowForSession({ tool: 'Bash', subject, cwd: '/repo', readOnly: false }, 'person');
    expect(await askUp({ command: 'make' })).toMatchObject({ by: 'desk of a_parent' });
    expect(person.questions).toEqual([]);
  });

  test('does not allow a call that a hook of its child allowed for the session', async () => {
    const person = scriptedSurface(denies('No.'));
    const { askUp, permissions, parent } = parentAndChild([], person);
    const child = permissions.forChild({ tools: undefined, mode: 'bubble', surfaces: [parent] });
    const subject = { action: 'execute', target: 'make' } as const;
    child.allowForSession({ tool: 'Bash', subject, cwd: '/repo', readOnly: false }, 'hook');
    expect(await askUp({ command: 'make' })).toMatchObject({ behavior: 'deny', by: 'p0' });
  });

  test('denies without an answerer if no surface answers', async () => {
    const { askUp, outcomes } = parentAndChild([]);
    expect(await askUp({ command: 'make' })).toMatchObject({ behavior: 'deny' });
    const silent = parentAndChild([], scriptedSurface(new Error('gone')));
    expect(await silent.askUp({ command: 'make' })).not.toHaveProperty('by');
    expect(outcomes).toHaveLength(1);
  });

  test('denies an invalid tool input', async () => {
    const { askUp } = parentAndChild([], scriptedSurface());
    expect(await askUp({ command: 7 })).toMatchObject({ behavior: 'deny', by: 'desk of a_parent' });
  });

  test('does not answer for the child of another parent', async () => {
    const { askUp, outcomes, parent } = parentAndChild([rule('allow', 'Bash(make)')]);
    const decision = await askUp({ command: 'make' }, [parent], 'a_other');
    expect(decision).toMatchObject({ behavior: 'deny' });
    expect(outcomes).toMatchObject([{ refusal: 'not-the-parent' }]);
  });

  test('forwards the question to its own parent', async () => {
    const person = scriptedSurface(allows);
    const { parent: top, clock, tools, askUp } = parentAndChild([], person);
    const middle = parentAndChild([]).permissions;
    const permissions = { ...middle, surfaces: [top], rule: withPerson(middle.rule) };
    const up = { agent: 'a_middle', parent: 'a_parent', permissions, toolbox: tools, clock };
    const decision = await askUp({ command: 'make' }, [parentSurface(up)], 'a_middle');
    expect(decision).toMatchObject({ behavior: 'allow', by: 'p0' });
  });
});

/** Turns rejections into questions, because the middle agent has no surface of its own. */
const withPerson =
  (rule: ReturnType<typeof permissionManager>['rule']): typeof rule =>
  (request, said) => {
    const ruling = rule(request, said);
    return ruling.step === 'reject' ? { ...ruling, behavior: 'ask' } : ruling;
  };
