import { describe, expect, test } from 'vitest';
import { type AgentMode, PERMISSION_MODES } from '../../src/protocol/permission/permission-mode.js';
import type { RuleBehavior } from '../../src/protocol/permission/permission-rule.js';
import type { PermissionRequest } from '../../src/protocol/permission/ruling.js';
import {
  bash,
  fetchUrl,
  hostTool,
  mcp,
  ownState,
  policyOf,
  read,
  readOnlyBash,
  rule,
  write,
} from './policy-fixtures.js';

/**
 * Every mode with every set of matching rules, every decision of a hook and finding of the tool, for every
 * kind of call, with and without a surface. Each cell is behaviour@step.
 */
const CALLS: Record<string, { request: PermissionRequest; text: string }> = {
  'read inside': { request: read('src/a.ts'), text: 'Read(src/**)' },
  'read outside': { request: read('/etc/hosts'), text: 'Read(//etc/**)' },
  'write inside': { request: write('src/a.ts'), text: 'Edit(src/**)' },
  'write outside': { request: write('/etc/hosts'), text: 'Edit(//etc/**)' },
  'read-only command': { request: readOnlyBash('ls src'), text: 'Bash(ls:*)' },
  'command with effects': { request: bash('npm test'), text: 'Bash(npm test)' },
  url: { request: fetchUrl('https://example.com/a'), text: 'WebFetch(domain:example.com)' },
  'own state': { request: ownState('TodoWrite'), text: 'TodoWrite' },
  'mcp tool without effects by its own account': {
    request: { ...mcp('mcp__git__todo'), subject: { action: 'none', target: '' } },
    text: 'mcp__git',
  },
  'mcp tool': { request: mcp('mcp__git__push'), text: 'mcp__git' },
  'host tool': { request: hostTool('Deploy', 'rm -rf .env'), text: 'Deploy(rm:*)' },
  'read-only host tool': { request: hostTool('Look', '', true), text: 'Look' },
};

/** Decision of the mode itself: allowed, denied, or left to the later steps. */
type ByMode = 'free' | 'refused' | 'open';

/** Columns: default, acceptEdits, plan, dontAsk, bypassPermissions, bubble. */
const BY_MODE: Record<string, readonly ByMode[]> = {
  'read inside': ['free', 'free', 'free', 'free', 'free', 'free'],
  'read outside': ['open', 'open', 'open', 'open', 'free', 'open'],
  'write inside': ['open', 'free', 'refused', 'open', 'free', 'open'],
  'write outside': ['open', 'open', 'refused', 'open', 'free', 'open'],
  'read-only command': ['free', 'free', 'free', 'free', 'free', 'free'],
  'command with effects': ['open', 'open', 'refused', 'open', 'free', 'open'],
  url: ['open', 'open', 'open', 'open', 'free', 'open'],
  'own state': ['free', 'free', 'free', 'free', 'free', 'free'],
  'mcp tool without effects by its own account': [
    'open',
    'open',
    'refused',
    'open',
    'free',
    'open',
  ],
  'mcp tool': ['open', 'open', 'refused', 'open', 'free', 'open'],
  'host tool': ['open', 'open', 'refused', 'open', 'free', 'open'],
  'read-only host tool': ['open', 'open', 'open', 'open', 'free', 'open'],
};

const MODES = [...PERMISSION_MODES, 'bubble'] as const;
const RULE_SETS = [
  [],
  ['allow'],
  ['ask'],
  ['deny'],
  ['allow', 'ask'],
  ['allow', 'deny'],
  ['ask', 'deny'],
  ['allow', 'ask', 'deny'],
] as readonly (readonly RuleBehavior[])[];
const HOOKS = [undefined, 'allow', 'ask', 'deny'] as const;
const FINDINGS = ['none', 'mild', 'doubt', 'ask', 'deny'] as const;

interface Row {
  readonly mode: AgentMode;
  readonly byMode: ByMode;
  readonly rules: readonly RuleBehavior[];
  readonly hook: (typeof HOOKS)[number];
  readonly finding: (typeof FINDINGS)[number];
  readonly surface: boolean;
  /** True if the allow rule has a pattern. */
  readonly narrow: boolean;
}

/** Law 5, written independently of the pipeline: the first line that holds decides. */
const lawOf = ({ mode, byMode, rules, hook, finding, surface, narrow }: Row): string => {
  const canAsk = surface || mode === 'bubble';
  const waived = mode === 'bypassPermissions' || (rules.includes('allow') && narrow);
  const isDoubtAsked = finding === 'doubt' && mode !== 'bypassPermissions';
  const asks = rules.includes('ask') || hook === 'ask' || finding === 'ask' || isDoubtAsked;
  if (hook === 'deny') return 'deny@hooks';
  if (rules.includes('deny') || finding === 'deny') return 'deny@deny';
  if (byMode === 'refused') return 'deny@mode';
  if (asks || (finding === 'mild' && !waived)) {
    if (mode === 'dontAsk') return 'deny@ask';
    return canAsk ? 'ask@ask' : 'deny@reject';
  }
  if (byMode === 'free') return 'allow@mode';
  if (rules.includes('allow')) return 'allow@allow';
  if (hook === 'allow') return 'allow@hooks';
  return canAsk && mode !== 'dontAsk' ? 'ask@callback' : 'deny@reject';
};

const HOOK = { reason: 'It says so.', hook: './check.sh' };
const FINDING = { none: undefined, mild: 'ask', doubt: 'ask', ask: 'ask', deny: 'deny' } as const;

const rulingOf = (request: PermissionRequest, text: string, row: Row): string => {
  const behavior = FINDING[row.finding];
  const { reason, instead, ...ruling } = policyOf({
    mode: row.mode,
    surface: row.surface,
    rules: row.rules.map((kind) => rule(kind, text)),
  }).rule(request, {
    hook: row.hook && { behavior: row.hook, ...HOOK },
    finding: behavior && {
      behavior,
      reason: 'It is so.',
      mild: row.finding === 'mild',
      doubt: row.finding === 'doubt',
    },
  });
  // Every ruling has a reason and tells how it could change.
  const isExplained = [reason, instead].every((words) => /^.+\.$/s.test(words));
  return `${ruling.behavior}@${ruling.step}${isExplained ? '' : ' without explanation'}`;
};

describe('the truth table of hook, rule, finding, mode, call and surface', () => {
  const cases = Object.entries(CALLS).flatMap(([name, call]) =>
    MODES.map((mode, column) => ({ name, ...call, mode, column })),
  );
  test.each(cases)('$name in mode $mode', ({ name, request, text, mode, column }) => {
    const byMode = BY_MODE[name]?.[column] ?? 'open';
    const narrow = text.includes('(');
    for (const rules of RULE_SETS) {
      for (const hook of HOOKS) {
        for (const finding of FINDINGS) {
          for (const surface of [true, false]) {
            const row = { mode, byMode, rules, hook, finding, surface, narrow };
            const where = JSON.stringify(row);
            expect(`${where} ${rulingOf(request, text, row)}`).toBe(`${where} ${lawOf(row)}`);
          }
        }
      }
    }
  });
});
