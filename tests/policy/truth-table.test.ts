import { describe, expect, test } from 'vitest';
import { PERMISSION_MODES, type PermissionRequest } from '../../src/protocol/permission.js';
import {
  bash,
  fetchUrl,
  hostTool,
  look,
  mcp,
  ownAffair,
  policyOf,
  read,
  rule,
  write,
} from './workshop.js';

/**
 * Every mode, against every set of rules that match the call, for every kind of call, with and
 * without a surface. Each cell is behaviour@step, first with a surface and then without.
 */
const CALLS: Record<string, { request: PermissionRequest; text: string }> = {
  'read inside': { request: read('src/a.ts'), text: 'Read(src/**)' },
  'read outside': { request: read('/etc/hosts'), text: 'Read(//etc/**)' },
  'write inside': { request: write('src/a.ts'), text: 'Edit(src/**)' },
  'write outside': { request: write('/etc/hosts'), text: 'Edit(//etc/**)' },
  'command that reads': { request: look('ls src'), text: 'Bash(ls:*)' },
  'command with effects': { request: bash('npm test'), text: 'Bash(npm test)' },
  address: { request: fetchUrl('https://example.com/a'), text: 'WebFetch(domain:example.com)' },
  'its own affair': { request: ownAffair('TodoWrite'), text: 'TodoWrite' },
  'mcp tool that touches nothing, it says': {
    request: { ...mcp('mcp__git__todo'), subject: { action: 'none', target: '' } },
    text: 'mcp__git',
  },
  'mcp tool': { request: mcp('mcp__git__push'), text: 'mcp__git' },
  'tool of the program': { request: hostTool('Deploy', 'rm -rf .env'), text: 'Deploy(rm:*)' },
  'tool of the program that reads': { request: hostTool('Look', '', true), text: 'Look' },
};

const A = 'allow@mode allow@mode';
const ASKED = 'ask@callback deny@reject';
const NEVER = 'deny@reject deny@reject';
const PLAN = 'deny@mode deny@mode';

/** No rule matches. Columns: default, acceptEdits, plan, dontAsk, bypassPermissions. */
const WITHOUT_RULES: Record<string, readonly string[]> = {
  'read inside': [A, A, A, A, A],
  'read outside': [ASKED, ASKED, ASKED, NEVER, A],
  'write inside': [ASKED, A, PLAN, NEVER, A],
  'write outside': [ASKED, ASKED, PLAN, NEVER, A],
  'command that reads': [A, A, A, A, A],
  'command with effects': [ASKED, ASKED, PLAN, NEVER, A],
  address: [ASKED, ASKED, ASKED, NEVER, A],
  'its own affair': [A, A, A, A, A],
  'mcp tool that touches nothing, it says': [ASKED, ASKED, PLAN, NEVER, A],
  'mcp tool': [ASKED, ASKED, PLAN, NEVER, A],
  'tool of the program': [ASKED, ASKED, PLAN, NEVER, A],
  'tool of the program that reads': [ASKED, ASKED, ASKED, NEVER, A],
};

const DENIED = 'deny@deny deny@deny';
const BY_RULE = 'allow@allow allow@allow';
const BY_PERSON = 'ask@ask deny@reject';

const cell = (
  name: string,
  mode: (typeof PERMISSION_MODES)[number],
  behaviors: readonly string[],
) => {
  const { request, text } = CALLS[name] ?? { request: read('x'), text: 'x' };
  const rules = (['allow', 'ask', 'deny'] as const)
    .filter((behavior) => behaviors.includes(behavior))
    .map((behavior) => rule(behavior, text));
  return [true, false]
    .map((surface) => policyOf({ mode, rules, surface }).rule(request))
    .map(({ behavior, step }) => `${behavior}@${step}`)
    .join(' ');
};

const expected = (name: string, column: number, behaviors: readonly string[]): string => {
  const mode = PERMISSION_MODES[column];
  const free = WITHOUT_RULES[name]?.[column] ?? '';
  if (behaviors.includes('deny')) return DENIED;
  if (behaviors.includes('ask')) {
    if (free === PLAN) return PLAN;
    return mode === 'dontAsk' ? 'deny@ask deny@ask' : BY_PERSON;
  }
  if (behaviors.includes('allow') && (free === ASKED || free === NEVER)) return BY_RULE;
  return free;
};

const RULE_SETS = [
  [],
  ['allow'],
  ['ask'],
  ['deny'],
  ['allow', 'ask'],
  ['allow', 'deny'],
  ['ask', 'deny'],
];

describe('the truth table of mode, rule, call and surface', () => {
  for (const name of Object.keys(CALLS)) {
    for (const [column, mode] of PERMISSION_MODES.entries()) {
      for (const behaviors of RULE_SETS) {
        const rules = behaviors.length === 0 ? 'no rule' : `${behaviors.join(' and ')} rules`;
        test(`${name}, ${mode}, ${rules}`, () => {
          expect(cell(name, mode, behaviors)).toBe(expected(name, column, behaviors));
        });
      }
    }
  }
});
