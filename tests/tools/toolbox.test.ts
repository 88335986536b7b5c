import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineTool, type ToolKind } from '../../src/protocol/tools/tool.js';
import { builtinTools } from '../../src/tools/builtin-tools.js';
import { toolbox } from '../../src/tools/toolbox.js';

const tool = (name: string, kind: ToolKind = 'builtin') =>
  defineTool({
    name,
    kind,
    prompt: `About ${name}.`,
    input: z.strictObject({ path: z.string().describe('Where.') }),
    describe: () => name,
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    subject: ({ path }) => ({ action: 'read', target: path }),
    interruptBehavior: 'cancel',
    call: () => Promise.resolve({ content: '' }),
  });

const names = (tools: readonly { readonly name: string }[]) => tools.map(({ name }) => name);

describe('a toolbox', () => {
  test('rejects two tools with the same name', () => {
    expect(() => toolbox([tool('A'), tool('A', 'mcp')])).toThrow('Two tools are named "A"');
  });

  test('rejects an unknown name with the list of known names', () => {
    expect(() => toolbox([tool('A'), tool('B')]).find('C')).toThrow(
      'There is no tool named "C". The tools are: A, B.',
    );
  });

  test('does not treat object properties as tools', () => {
    expect(toolbox([tool('A')]).has('constructor')).toBe(false);
  });

  test('puts built-in tools first and other tools in the order of their names', () => {
    const kinds: ToolKind[] = ['mcp', 'sdk', 'hook'];
    const others = kinds.map((kind, n) => tool(`x${9 - n}`, kind));
    expect(names(toolbox([...others, tool('B'), tool('A')]).all)).toEqual([
      'B',
      'A',
      'x7',
      'x8',
      'x9',
    ]);
    expect(names(toolbox([...others].reverse()).all)).toEqual(['x7', 'x8', 'x9']);
  });

  test('sends the same bytes for any order of connections and reconnections (K16)', () => {
    const servers = ['files', 'Git', 'web_2', 'web-10'];
    const others = () =>
      servers.flatMap((server) => [
        tool(`mcp__${server}__find`, 'mcp'),
        tool(`mcp__${server}__Get`, 'mcp'),
        tool(`hook_${server}`, 'hook'),
        tool(`sdk_${server}`, 'sdk'),
      ]);
    const bytes = (tools: Parameters<typeof toolbox>[0]) =>
      JSON.stringify(toolbox(tools).wireTools());
    const first = others();
    const expected = bytes([...builtinTools, ...first]);
    const shuffled = fc.shuffledSubarray(first, { minLength: first.length });
    const again = others();
    const reconnected = fc.shuffledSubarray(again, { minLength: again.length });
    const place = fc.integer({ min: 0, max: first.length });
    fc.assert(
      fc.property(shuffled, reconnected, place, (first, second, at) => {
        expect(bytes([...first.slice(0, at), ...builtinTools, ...first.slice(at)])).toBe(expected);
        expect(bytes([...second.slice(0, at), ...builtinTools, ...second.slice(at)])).toBe(
          expected,
        );
      }),
    );
  });

  test('orders names by their bytes, independent of the locale', () => {
    const given = ['b', 'B', 'a', '_', 'A', 'i', 'I', '10', '9', '-', 'z', 'Z'];
    const boxed = names(toolbox(given.map((name) => tool(name, 'mcp'))).wireTools());
    const bytewise = ['-', '10', '9', 'A', 'B', 'I', 'Z', '_', 'a', 'b', 'i', 'z'];
    expect(boxed).toEqual(bytewise);
    for (const language of ['en', 'tr', 'sv']) {
      expect(bytewise.toSorted(new Intl.Collator(language).compare)).not.toEqual(bytewise);
    }
  });

  test('can execute a hidden tool and show a tool that is not executable', () => {
    const box = toolbox([
      { tool: tool('hidden'), visible: false, executable: true },
      { tool: tool('shown'), visible: true, executable: false },
    ]);
    expect(names(box.wireTools())).toEqual(['shown']);
    expect(box.executable('hidden').name).toBe('hidden');
    expect(() => box.executable('shown')).toThrow('cannot be used by this agent');
  });

  test('shows the same tools after a limit on execution', () => {
    const box = toolbox(builtinTools);
    const limited = box.limitedTo((candidate) => candidate.name === 'Read');
    expect(limited.wireTools()).toEqual(box.wireTools());
    expect(() => limited.executable('Bash')).toThrow('cannot be used');
  });

  test('builds the schemas for the wire once, without $schema', () => {
    const box = toolbox([tool('A')]);
    expect(box.wireTools()).toEqual([
      {
        name: 'A',
        description: 'About A.',
        input_schema: {
          type: 'object',
          properties: { path: { type: 'string', description: 'Where.' } },
          required: ['path'],
          additionalProperties: false,
        },
      },
    ]);
    expect(box.wireTools()).toBe(box.wireTools());
  });
});

const GREP_INPUTS =
  'pattern path glob type output_mode -A -B -C -n -i multiline head_limit offset'.split(' ');

const NOTEBOOK_INPUTS = 'notebook_path cell_id cell_number new_source cell_type edit_mode'.split(
  ' ',
);

describe('the built-in tools', () => {
  test('have the names and inputs that models and rules use', () => {
    const inputs = toolbox(builtinTools)
      .wireTools()
      .map(({ name, input_schema }) => [name, Object.keys(input_schema.properties as object)]);
    expect(inputs).toEqual([
      ['Read', ['file_path', 'offset', 'limit']],
      ['Edit', ['file_path', 'old_string', 'new_string', 'replace_all']],
      ['MultiEdit', ['file_path', 'edits']],
      ['Write', ['file_path', 'content']],
      ['NotebookEdit', NOTEBOOK_INPUTS],
      ['Glob', ['pattern', 'path']],
      ['Grep', GREP_INPUTS],
      ['LS', ['path', 'ignore']],
      ['Bash', ['command', 'timeout', 'run_in_background', 'description']],
      [
        'Task',
        [
          'description',
          'prompt',
          'subagent_type',
          'run_in_background',
          'name',
          'team_name',
          'isolation',
          'model',
          'preview',
        ],
      ],
      ['TaskOutput', ['task_id', 'block', 'timeout']],
      ['TaskStop', ['task_id']],
      ['TaskCreate', ['subject', 'description', 'activeForm', 'metadata']],
      [
        'TaskUpdate',
        [
          'taskId',
          'status',
          'subject',
          'description',
          'activeForm',
          'owner',
          'addBlocks',
          'addBlockedBy',
          'metadata',
        ],
      ],
      ['TaskGet', ['taskId']],
      ['TaskList', []],
      ['SendMessage', ['to', 'message', 'type', 'request_id', 'approve', 'summary']],
      ['WebFetch', ['url', 'prompt']],
      ['WebSearch', ['query', 'allowed_domains', 'blocked_domains']],
      ['TodoWrite', ['todos']],
      ['TodoRead', []],
      ['AskUser', ['question', 'options', 'multiple']],
      ['ExitPlanMode', ['plan']],
    ]);
  });

  test('describe each input', () => {
    const fields = toolbox(builtinTools)
      .wireTools()
      .flatMap(({ input_schema }) => Object.values(input_schema.properties as object));
    expect(fields.filter(({ description = '' }) => description.length <= 10)).toEqual([]);
  });

  test.each([
    ['Read', true, true, 'cancel', { action: 'read', target: 'x' }],
    ['Edit', false, false, 'block', { action: 'write', target: 'x' }],
    ['MultiEdit', false, false, 'block', { action: 'write', target: 'x' }],
    ['Write', false, false, 'block', { action: 'write', target: 'x' }],
    ['NotebookEdit', false, false, 'block', { action: 'write', target: 'x' }],
    ['LS', true, true, 'cancel', { action: 'read', target: 'x' }],
    ['Bash', false, false, 'cancel', { action: 'execute', target: 'x' }],
  ])(
    'declare the subject and the concurrency of %s',
    (name, readOnly, safe, interrupt, subject) => {
      const found = toolbox(builtinTools).find(name);
      const input = { file_path: 'x', notebook_path: 'x', path: 'x', command: 'x' };
      expect(found.isReadOnly(input)).toBe(readOnly);
      expect(found.isConcurrencySafe(input)).toBe(safe);
      expect(found.interruptBehavior).toBe(interrupt);
      expect(found.subject(input)).toEqual(subject);
      expect(found.describe(input)).toBe(`${name} x`);
    },
  );

  test.each([
    ['TaskOutput', true, true, 'cancel'],
    ['TaskStop', false, true, 'block'],
    ['TaskCreate', false, false, 'cancel'],
    ['TaskUpdate', false, false, 'cancel'],
    ['TaskGet', true, true, 'block'],
    ['TaskList', true, true, 'block'],
    ['TodoWrite', false, false, 'block'],
    ['TodoRead', true, true, 'block'],
    ['AskUser', false, false, 'cancel'],
    ['ExitPlanMode', false, false, 'block'],
  ])('declare that %s has no subject outside the agent', (name, readOnly, safe, interrupt) => {
    const found = toolbox(builtinTools).find(name);
    expect(found.isReadOnly({})).toBe(readOnly);
    expect(found.isConcurrencySafe({})).toBe(safe);
    expect(found.interruptBehavior).toBe(interrupt);
    expect(found.subject({})).toEqual({ action: 'none', target: '' });
  });
});
