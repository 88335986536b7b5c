import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeCall } from '../../../src/actors/permissions/judge-call.js';
import { permissionManager } from '../../../src/actors/permissions/permission-manager.js';
import { resolveModel } from '../../../src/config/settings/model-aliases.js';
import { ruleProblems } from '../../../src/policy/rules/compile-rules.js';
import type { RuleBehavior } from '../../../src/protocol/permission/permission-rule.js';
import type { KnownSurface } from '../../../src/protocol/permission/signed-answer.js';
import { knownTools } from '../../../src/sdk/assembly/options/known-tools.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';
import { inputSchemaOf, toolbox } from '../../../src/tools/toolbox.js';
import { mcp, policyOf, rule } from '../policy-fixtures.js';

interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
}

const TOOLS = toolbox(builtinTools);
const KNOWN = knownTools(builtinTools, true);
const WORD = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 4, maxLength: 9 });

/** Returns values of a parameter. */
const valuesOf = (schema: Schema, name: string): fc.Arbitrary<unknown> => {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'integer' || schema.type === 'number') return fc.integer({ min: 1, max: 9 });
  if (schema.type === 'array') {
    const items = { minLength: Math.max(1, schema.minItems ?? 1), maxLength: 3 };
    return fc.array(valuesOf(schema.items ?? {}, name), items);
  }
  if (schema.type === 'object') return inputsOf(schema);
  return name === 'url' ? WORD.map((word) => `https://${word}.example/${word}`) : WORD;
};

/** Returns inputs with all required and some optional parameters. */
const inputsOf = ({ properties = {}, required = [] }: Schema) =>
  fc.record(
    Object.fromEntries(
      Object.entries(properties).map(([name, schema]) => [name, valuesOf(schema, name)]),
    ),
    { requiredKeys: [...required] },
  ) as fc.Arbitrary<Record<string, unknown>>;

const SURFACE = {} as KnownSurface;

const judge = (tool: string, input: object, rules: readonly [RuleBehavior, string][] = []) => {
  const permissions = permissionManager({
    policy: {
      rules: rules.map(([behavior, text]) => rule(behavior, text)),
      roots: ['/repo'],
      home: '/home/ada',
      skeinHome: '/home/ada/.skein',
      realPath: (path) => path,
      modelNamed: resolveModel,
    },
    mode: {
      mode: tool === 'ExitPlanMode' ? 'plan' : 'default',
      change: () => undefined,
      leavePlan: () => 'default',
    },
    surfaces: [SURFACE],
    permissionTimeoutMs: 1,
    keepRule: () => undefined,
  });
  return judgeCall({ id: 'c1', tool, input }, TOOLS, permissions, '/repo');
};

const rulingOf = (...args: Parameters<typeof judge>): string => {
  const judgement = judge(...args);
  if (judgement.kind === 'invalid') return judgement.message;
  return `${judgement.ruling.behavior}@${judgement.ruling.step}`;
};

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

const parameters = builtinTools.flatMap((tool) => {
  const schema: Schema = inputSchemaOf(tool);
  return Object.entries(schema.properties ?? {}).map(([name, own]) => ({
    tool: tool.name,
    name,
    inputs: inputsOf(schema),
    values: valuesOf(own, name),
    isOptional: !schema.required?.includes(name),
  }));
});

describe('a rule about a parameter', () => {
  test.each(parameters)(
    'applies to exactly the calls of $tool with the value: $name',
    ({ tool, name, inputs, values, isOptional }) => {
      fc.assert(
        fc.property(inputs, values, values, (some, value, other) => {
          const hit = { ...some, [name]: value };
          const isHit = (input: object) => TOOLS.find(tool).input.safeParse(input).success;
          fc.pre(isHit(hit));
          const { [name]: _, ...without } = hit;
          const misses = [
            ...(textOf(other) === textOf(value) ? [] : [{ ...some, [name]: other }]),
            ...(isOptional ? [without] : []),
          ].filter(isHit);
          const text = `${tool}(${name}:${textOf(value)})`;
          expect(ruleProblems([rule('deny', text)], KNOWN)).toEqual([]);
          expect(rulingOf(tool, hit, [['deny', text]])).toBe('deny@deny');
          expect(rulingOf(tool, hit, [['ask', text]])).toBe('ask@ask');
          // A person must always agree to a plan.
          const allowed = tool === 'ExitPlanMode' ? 'ask@ask' : 'allow@';
          expect(rulingOf(tool, hit, [['allow', text]])).toMatch(allowed);
          for (const behavior of ['deny', 'ask', 'allow'] as const) {
            for (const miss of misses) {
              expect(rulingOf(tool, miss, [[behavior, text]])).toBe(rulingOf(tool, miss));
            }
          }
        }),
        { numRuns: 10 },
      );
    },
  );

  test.each([
    ['Task(model:opus)', 'Task', { model: 'claude-opus-5-5' }],
    ['Task(model:claude-opus-5-5)', 'Task', { model: 'Opus' }],
    ['Agent(model:*)', 'Task', { model: 'haiku' }],
    ['Task(name:a)', 'Task', { name: ' a ' }],
    ['Task( model : opus )', 'Task', { model: 'opus' }],
    ['*(model:opus)', 'Task', { model: 'opus' }],
    ['Bash(timeout:5e3)', 'Bash', { command: 'ls', timeout: 5000 }],
    ['Bash(timeout:*)', 'Bash', { command: 'ls', timeout: 5 }],
    ['Bash(timeout:*)', 'Bash', { command: 'timeout 5 ls' }],
    ['Bash(command:rm *)', 'Bash', { command: 'true; sudo rm a' }],
    ['Read(file_path:/etc/hosts)', 'Read', { file_path: '../etc/./hosts' }],
    ['Read(file_path:secrets/*)', 'Bash', { command: 'cat secrets/a' }],
    ['Read(file_path:/repo/*.key)', 'Grep', { pattern: 'a', path: 'b/c.key' }],
    ['WebFetch(url:https://a.example/b)', 'WebFetch', { url: 'http://A.example.:80/x/../b#c' }],
    ['WebFetch(url:https://a.example/*)', 'WebFetch', { url: 'HTTP://A.example/%62' }],
    ['WebFetch(https://a.example/b)', 'WebFetch', { url: 'http://a.example/%62' }],
    ['WebSearch(allowed_domains:b)', 'WebSearch', { query: 'ab', allowed_domains: ['a', 'b'] }],
    ['TodoWrite(todos:*secret*)', 'TodoWrite', { todos: [todo('a'), todo('my secret')] }],
    ['Grep(pattern:*password*)', 'Grep', { pattern: '(?i)password=' }],
    ['SendMessage(to:bob)', 'SendMessage', { to: 'bob', message: 'a', summary: 'b' }],
  ])('denies another spelling of the same value: %s for %s %j', (text, tool, input) => {
    const whole = tool === 'Task' ? { description: 'a', prompt: 'b', ...input } : input;
    expect(rulingOf(tool, whole, [['deny', text]])).toBe('deny@deny');
  });

  test.each([
    ['Bash(timeout:*)', 'Bash', { command: 'touch a', timeout: 5 }],
    ['Bash(command:*)', 'Bash', { command: 'touch a' }],
    ['Bash(command:npm *)', 'Bash', { command: 'npm test; touch a' }],
    [
      'Edit(file_path:src/*)',
      'Edit',
      { file_path: 'src/../../b', old_string: 'a', new_string: 'b' },
    ],
    ['Edit(file_path:a)', 'Write', { file_path: 'a', content: 'b' }],
    ['WebFetch(url:https://a.example/b)', 'WebFetch', { url: 'https://a.example/x/../c' }],
    ['WebSearch(allowed_domains:b)', 'WebSearch', { query: 'ab', allowed_domains: ['a', 'b'] }],
    ['WebSearch(allowed_domains:b)', 'WebSearch', { query: 'ab' }],
  ])('allows no other call: %s for %s %j', (text, tool, input) => {
    expect(rulingOf(tool, input, [['allow', text]])).toBe('ask@callback');
  });

  test('allows what the tool itself compares in another way', () => {
    const npm = { command: 'npm  test && npm run build' };
    expect(rulingOf('Bash', npm, [['allow', 'Bash(command:npm *)']])).toBe('allow@allow');
  });

  test('is matched against MCP tools, whose parameters are unknown when the rules are checked', () => {
    const rules = [rule('deny', 'mcp__git__push(branch:main)'), rule('deny', 'mcp__*(force:true)')];
    expect(ruleProblems(rules, KNOWN)).toEqual([]);
    const denied = (...inputs: Record<string, unknown>[]) =>
      policyOf({ rules }).rule({ ...mcp('mcp__git__push'), inputs }).step === 'deny';
    expect(denied({ branch: 'main' })).toBe(true);
    expect(denied({ branch: 'dev', force: true })).toBe(true);
    expect(denied({ branch: 'dev' })).toBe(false);
  });

  test('asks every time, because a stored answer would leave the parameter out', () => {
    const input = { command: 'touch a', run_in_background: true };
    const judgement = judge('Bash', input, [
      ['ask', 'Bash(touch:*)'],
      ['ask', 'Bash(run_in_background:true)'],
    ]);
    expect(judgement).toMatchObject({ ruling: { behavior: 'ask' }, call: { mayLast: false } });
    const rules = [rule('ask', 'Bash(timeout:5)'), rule('allow', 'Bash(touch a)', 'session')];
    const request = { ...mcp('Bash'), subject: { action: 'execute', target: 'touch a' } as const };
    const inputs = [{ command: 'touch a', timeout: 5 }];
    expect(policyOf({ rules }).rule({ ...request, inputs }).behavior).toBe('ask');
    expect(policyOf({ rules }).rule(request).behavior).toBe('allow');
  });
});

describe('a rule that can never match', () => {
  test.each([
    ['Bsah', 'there is no tool named "Bsah"; did you mean Bash?'],
    ['Shell(rm *)', 'there is no tool named "Shell"'],
    ['Task(modle:opus)', 'Task has no parameter "modle"; did you mean model?'],
    ['Agent(subagent_typ:a)', 'did you mean subagent_type?'],
    ['Bash(cmd:rm *)', 'write Bash(cmd:*) for the command cmd'],
    ['Bash(npm:run test:*)', 'Bash has no parameter "npm"'],
    ['Read(path:.env)', 'write Read(./path:.env) for a file of this name'],
    ['Grep(regex:a)', 'Grep has no parameter "regex"'],
    ['TodoRead(a:b)', 'TodoRead has no parameter "a"'],
    ['TodoRead(a)', 'write TodoRead'],
    ['WebSearch(weather)', 'write WebSearch or WebSearch(query:…)'],
    ['WebSearch(domain:a.example)', 'WebSearch has no parameter "domain"'],
    ['WebFetch(example.com)', 'write WebFetch(domain:example.com)'],
    ['WebFetch(url:example.com/*)', 'begins with http:// or https://'],
    ['WebFetch(ftp://example.com/*)', 'begins with http:// or https://'],
    ['Bash(run_in_background:yes)', 'its values are true, false'],
    ['Bash(timeout:soon)', '"soon" is no value of the parameter "timeout"'],
    ['Bash(timeout:1.5)', '"1.5" is no value'],
    ['Task(isolation:container)', 'its values are worktree'],
    ['Task(model:)', 'the value after "model:" is missing'],
    ['SendMessage(form:bob)', 'SendMessage has no parameter "form"'],
  ])('is reported with its reason: %s', (text, reason) => {
    for (const behavior of ['deny', 'ask', 'allow'] as const) {
      const problems = ruleProblems([rule(behavior, text)], KNOWN);
      expect(problems).toMatchObject([
        { fatal: behavior !== 'allow', message: expect.stringContaining(reason) },
      ]);
    }
  });

  test.each([
    'Bash(npm run test:*)',
    'Bash(docker-compose:*)',
    'Bash(gtimeout:*)',
    'Bash(git * main)',
    'Read(src/**)',
    'Read(./a:b)',
    'Edit',
    'WebFetch(domain:example.com)',
    'WebFetch(http*)',
    'WebFetch(*internal*)',
    'Task(Explore)',
    'Task(plugin:reviewer)',
    'Agent(model:*)',
    'KillShell',
    'Skill(deploy:*)',
    'PowerShell(rm *)',
    'SendMessage(bob)',
    'TodoRead(*)',
    'mcp__git',
    'mcp__*',
    '*',
    '*(rm *)',
  ])('is no rule that other tools, agents and servers may need: %s', (text) => {
    expect(ruleProblems([rule('deny', text)], KNOWN)).toEqual([]);
  });

  test('may name a tool of the host program on a worker, which does not know it', () => {
    const elsewhere = knownTools(builtinTools, false);
    expect(ruleProblems([rule('deny', 'Deploy')], KNOWN)).toHaveLength(1);
    expect(ruleProblems([rule('deny', 'Deploy')], elsewhere)).toEqual([]);
  });
});

/** Returns an item of a todo list. */
function todo(content: string) {
  return { content, status: 'pending', activeForm: content };
}
