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

/** A parent with its own permissions, and the question of a child to it. */
const family = (rules: readonly PermissionRule[], ...people: readonly Surface[]) => {
  const clock = virtualClock();
  const deskWith = (surfaces: readonly KnownSurface[]) =>
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
  const permissions = deskWith(people.map((person, at) => signingSurface(`p${at}`, person, clock)));
  const tools = toolbox(builtinTools);
  const parent = parentSurface({ agent: 'a_parent', permissions, toolbox: tools, clock });
  const heard: SurfaceOutcome[] = [];
  const askUp = (input: unknown, surfaces: readonly KnownSurface[] = [parent], of = 'a_parent') =>
    askSurfaces(surfaces, questionOf(input), {
      clock,
      timeoutMs: 60_000,
      signal: new AbortController().signal,
      parent: of,
      onAnswer: (what) => heard.push(what),
    });
  return { askUp, heard, parent, clock, desk: permissions, tools };
};

const rule = (behavior: PermissionRule['behavior'], text: string): PermissionRule => ({
  behavior,
  text,
  source: 'user',
});

describe('a parent that is asked by its child', () => {
  test('allows what its own rules allow, and asks nobody', async () => {
    const person = scriptedSurface();
    const { askUp } = family([rule('allow', 'Bash(make)')], person);
    const decision = await askUp({ command: 'make' });
    expect(decision).toMatchObject({ behavior: 'allow', scope: 'once', by: 'desk of a_parent' });
    expect(person.questions).toEqual([]);
  });

  test('denies what its own rules deny, with the reason', async () => {
    const { askUp } = family([rule('deny', 'Bash(make)')], scriptedSurface());
    const decision = await askUp({ command: 'make' });
    expect(decision).toMatchObject({ behavior: 'deny', by: 'desk of a_parent' });
    expect(decision).toHaveProperty('reason', expect.stringContaining('Bash(make)'));
  });

  test('passes on what its rules leave open, and hands the answer back as it was signed', async () => {
    const person = scriptedSurface(allows);
    const { askUp, heard } = family([], person);
    expect(await askUp({ command: 'make' })).toMatchObject({ behavior: 'allow', by: 'p0' });
    expect(person.questions).toMatchObject([{ agent: 'a_child', id: 'q_1' }]);
    expect(heard).toMatchObject([{ surface: 'p0', outcome: 'accepted' }]);
  });

  test('allows what a child was allowed for the session, so that the next one is not asked about', async () => {
    const person = scriptedSurface();
    const { askUp, desk: permissions, parent } = family([], person);
    const child = permissions.forChild({ tools: undefined, mode: 'bubble', surfaces: [parent] });
    const subject = { action: 'execute', target: 'make' } as const;
    child.allowForSession({ tool: 'Bash', subject, cwd: '/repo', readOnly: false }, 'person');
    expect(await askUp({ command: 'make' })).toMatchObject({ by: 'desk of a_parent' });
    expect(person.questions).toEqual([]);
  });

  test('is not bound by what a hook of its child allowed for the session', async () => {
    const person = scriptedSurface(denies('No.'));
    const { askUp, desk: permissions, parent } = family([], person);
    const child = permissions.forChild({ tools: undefined, mode: 'bubble', surfaces: [parent] });
    const subject = { action: 'execute', target: 'make' } as const;
    child.allowForSession({ tool: 'Bash', subject, cwd: '/repo', readOnly: false }, 'hook');
    expect(await askUp({ command: 'make' })).toMatchObject({ behavior: 'deny', by: 'p0' });
  });

  test('has not answered when nobody answers it', async () => {
    const { askUp, heard } = family([]);
    expect(await askUp({ command: 'make' })).toMatchObject({ behavior: 'deny' });
    const silent = family([], scriptedSurface(new Error('gone')));
    expect(await silent.askUp({ command: 'make' })).not.toHaveProperty('by');
    expect(heard).toHaveLength(1);
  });

  test('denies an input that no tool takes', async () => {
    const { askUp } = family([], scriptedSurface());
    expect(await askUp({ command: 7 })).toMatchObject({ behavior: 'deny', by: 'desk of a_parent' });
  });

  test('does not answer for the child of another', async () => {
    const { askUp, heard, parent } = family([rule('allow', 'Bash(make)')]);
    const decision = await askUp({ command: 'make' }, [parent], 'a_other');
    expect(decision).toMatchObject({ behavior: 'deny' });
    expect(heard).toMatchObject([{ refusal: 'not-the-parent' }]);
  });

  test('asks its own parent in turn', async () => {
    const person = scriptedSurface(allows);
    const { parent: top, clock, tools, askUp } = family([], person);
    const middle = family([]).desk;
    const permissions = { ...middle, surfaces: [top], rule: withPerson(middle.rule) };
    const up = { agent: 'a_middle', parent: 'a_parent', permissions, toolbox: tools, clock };
    const decision = await askUp({ command: 'make' }, [parentSurface(up)], 'a_middle');
    expect(decision).toMatchObject({ behavior: 'allow', by: 'p0' });
  });
});

/** The middle agent has no surface of its own; its questions go to its parent. */
const withPerson =
  (rule: ReturnType<typeof permissionManager>['rule']): typeof rule =>
  (request, said) => {
    const ruling = rule(request, said);
    return ruling.step === 'reject' ? { ...ruling, behavior: 'ask' } : ruling;
  };
