/** Hooks, mode and turn limit that a lead takes from its agent definition. */
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { AgentDefinition } from '../../../src/protocol/agent/agent-definition.js';
import type { PermissionMode } from '../../../src/protocol/permission/permission-mode.js';
import type { QueryOptions } from '../../../src/sdk/api/query-options.js';
import { leadAgentSettings } from '../../../src/sdk/assembly/lead-agent-settings.js';
import { calls, type Rules } from '../../fakes/skein-process.js';
import { all, program } from '../api/program.js';

const TOUCH: Rules = [
  { match: { turn: 0 }, reply: calls('Bash', { command: 'touch by-shell' }) },
  { reply: 'Done.' },
];

const BLOCKS = 'hooks: { PreToolUse: [{ matcher: Bash, hooks: [{ command: exit 2 }] }] }\n';

interface Setup {
  /** True to define the agent in the home directory instead of the workspace. */
  readonly isOwn?: boolean;
  readonly rules?: Rules;
}

/** Runs a lead as an agent with these fields, in a trusted workspace. */
const run = async (lines: string, options: QueryOptions = {}, setup: Setup = {}) => {
  const { home, workspace, ask, bodies } = await program(setup.rules ?? TOUCH);
  const file = join(setup.isOwn ? home : workspace, '.claude/agents/one.md');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `---\nname: one\ndescription: One\n${lines}---\nYou are one.\n`);
  const again = async (more: QueryOptions) => {
    const messages = await all(ask('Go.', { agent: 'one', trust: true, ...more }));
    const init = messages.find((it) => it.type === 'system' && it.subtype === 'init');
    const mode = init?.type === 'system' && init.subtype === 'init' ? init.permissionMode : '';
    const notices = messages.flatMap((it) =>
      it.type === 'system' && it.subtype === 'notice' ? [it.text] : [],
    );
    const result = messages.at(-1);
    const made = existsSync(join(workspace, 'by-shell'));
    return { mode, notices, made, result, turns: bodies().length, file };
  };
  return { ...(await again(options)), again };
};

const BYPASS: QueryOptions = { permissionMode: 'bypassPermissions' };

describe('a lead that works as an agent', () => {
  test('runs the hooks of the agent', async () => {
    expect((await run('', BYPASS)).made).toBe(true);
    expect((await run(BLOCKS, BYPASS)).made).toBe(false);
  });

  test('runs the hooks when it is resumed as that agent', async () => {
    const { again } = await run(BLOCKS, { sessionId: 'old' }, { rules: RESUMED });
    const { made, turns } = await again({ ...BYPASS, resume: 'old' });
    expect({ made, turns }).toEqual({ made: false, turns: 3 });
  });

  test('runs no hooks if settings disable hooks', async () => {
    const settings = { disableAllHooks: true };
    expect((await run(BLOCKS, { ...BYPASS, settings })).made).toBe(true);
  });

  test('stops after maxTurns of the agent, unless a flag names another limit', async () => {
    const { result, turns } = await run('maxTurns: 1\n', BYPASS);
    expect(result).toMatchObject({ subtype: 'error_max_turns' });
    expect(turns).toBe(1);
    expect((await run('maxTurns: 1\n', { ...BYPASS, maxTurns: 5 })).result).toMatchObject({
      subtype: 'success',
    });
  });

  test('uses a stricter mode of the agent, unless a flag names a mode', async () => {
    const settings = { permissions: { allow: ['Bash'] } };
    expect(await run('permissionMode: plan\n', {})).toMatchObject({ mode: 'plan', made: false });
    expect(await run('permissionMode: plan\n', { ...BYPASS, settings })).toMatchObject({
      mode: 'bypassPermissions',
      made: true,
      notices: [],
    });
  });

  test('uses a looser mode only from an agent of the person', async () => {
    const own = await run('permissionMode: acceptEdits\n', {}, { isOwn: true });
    expect(own).toMatchObject({ mode: 'acceptEdits', notices: [] });
    const { mode, notices, file } = await run('permissionMode: acceptEdits\n');
    expect(mode).toBe('default');
    expect(notices).toEqual([
      `The permissionMode acceptEdits of ${file} does not apply: a project's agent can only tighten your mode default; pass --permission-mode to use it anyway.`,
    ]);
  });

  test('uses neither hooks nor mode of an agent in an untrusted workspace', async () => {
    const lines = `${BLOCKS}permissionMode: plan\n`;
    const { mode, made, notices } = await run(lines, { trust: false, allowedTools: ['Bash'] });
    expect({ mode, made }).toEqual({ mode: 'default', made: true });
    expect(notices).toEqual([
      expect.stringMatching(/so its agents' permissionMode and hooks \(\w+\) do/),
    ]);
  });
});

const RESUMED: Rules = [
  { match: { turn: 0 }, reply: 'Done.' },
  { match: { turn: 1 }, reply: calls('Bash', { command: 'touch by-shell' }) },
  { reply: 'Done.' },
];

describe('the mode of a lead that works as an agent', () => {
  const settingsFor = (
    source: 'command' | 'flag' | 'policy' | 'user',
    permissionMode: PermissionMode,
  ) =>
    leadAgentSettings({}, { mode: { value: 'default', source } }, {
      permissionMode,
      path: '/a.md',
      source: 'command',
    } as AgentDefinition);

  test.each(['command', 'flag'] as const)(
    'comes from the source %s if that names a mode',
    (source) => {
      expect(settingsFor(source, 'plan')).toMatchObject({
        mode: { value: 'default' },
        notices: [],
      });
    },
  );

  test('comes from the managed policy, with a notice if the agent has another', () => {
    expect(settingsFor('policy', 'default').notices).toEqual([]);
    expect(settingsFor('policy', 'plan')).toMatchObject({
      mode: { value: 'default', source: 'policy' },
      notices: [
        'The permissionMode plan of /a.md does not apply: the managed policy sets the mode default.',
      ],
    });
  });
});
