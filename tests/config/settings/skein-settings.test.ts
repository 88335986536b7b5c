import { describe, expect, test } from 'vitest';
import { splitRules } from '../../../src/config/settings/flag-settings.js';
import { MODEL_ALIASES, resolveModel } from '../../../src/config/settings/model-aliases.js';
import { environmentName, SKEIN_KEYS } from '../../../src/config/settings/skein-settings.js';
import { temporaryFolder } from '../temporary-folder.js';

describe('the environment variable of a setting', () => {
  test('is SKEIN_ with the key in upper case and underscores', () => {
    expect(Object.keys(SKEIN_KEYS).map(environmentName)).toEqual([
      'SKEIN_MAX_AGENTS',
      'SKEIN_MAX_CONCURRENT_AGENTS',
      'SKEIN_MAX_DEPTH',
      'SKEIN_MAX_CALLS_PER_MESSAGE',
      'SKEIN_REFUSED_TURNS_BEFORE_WARNING',
      'SKEIN_MAX_REFUSED_TURNS',
      'SKEIN_MAX_REPEATED_CALLS',
      'SKEIN_MAX_CONCURRENT_REQUESTS',
      'SKEIN_MAX_BUDGET_USD',
      'SKEIN_MAX_BUDGET_TOKENS',
      'SKEIN_AGENT_IDLE_TIMEOUT_MS',
      'SKEIN_AGENT_WALL_TIMEOUT_MS',
      'SKEIN_PERMISSION_TIMEOUT_MS',
      'SKEIN_TEAMMATES',
      'SKEIN_STORE',
      'SKEIN_LEASE_MS',
      'SKEIN_QUEUE_PRIORITY',
      'SKEIN_QUEUE_DELAY_MS',
      'SKEIN_PERSON_KEYS',
      'SKEIN_SHARED_PATHS',
      'SKEIN_WORKSPACE_REMOTE',
      'SKEIN_EFFORT',
      'SKEIN_THINKING',
      'SKEIN_CONTEXT_WINDOW',
      'SKEIN_MAX_OUTPUT_TOKENS',
      'SKEIN_STREAM_IDLE_TIMEOUT_MS',
      'SKEIN_MAX_RETRIES',
      'SKEIN_MODEL_ALIASES',
      'SKEIN_SIMPLE',
      'SKEIN_DISABLE_MEMORY_FILES',
      'SKEIN_AUTO_MEMORY',
      'SKEIN_TEAM_MEMORY',
      'SKEIN_DISABLE_EXPERIMENTAL_BETAS',
      'SKEIN_CACHE_HOUR_FOR',
      'SKEIN_CACHE_BREAKER',
      'SKEIN_MCP_INSTRUCTIONS_DELTA',
      'SKEIN_WEB_SEARCH',
      'SKEIN_ALLOW_PRIVATE_ADDRESSES',
      'SKEIN_REDACT_SECRETS',
      'SKEIN_SANDBOX',
      'SKEIN_SESSION_RETENTION_DAYS',
      'SKEIN_CHECKPOINT_RETENTION_DAYS',
      'SKEIN_WORKTREE_RETENTION_DAYS',
    ]);
  });

  test.each([
    ['SKEIN_MAX_BUDGET_USD', '2.5', { maxBudgetUsd: 2.5 }],
    ['SKEIN_MAX_BUDGET_TOKENS', '90000', { maxBudgetTokens: 90_000 }],
    ['SKEIN_MAX_AGENTS', '0', { maxAgents: 0 }],
    ['SKEIN_MAX_CONCURRENT_AGENTS', '0', { maxConcurrentAgents: 0 }],
    ['SKEIN_MAX_CONCURRENT_REQUESTS', '0', { maxConcurrentRequests: 0 }],
    ['SKEIN_MAX_DEPTH', '0', { maxDepth: 0 }],
    ['SKEIN_THINKING', 'adaptive', { thinking: 'adaptive' }],
    ['SKEIN_THINKING', '4096', { thinking: 4096 }],
    ['SKEIN_MODEL_ALIASES', '{"fast":"haiku"}', { modelAliases: { fast: 'haiku' } }],
    ['SKEIN_MAX_AGENTS', '', { maxAgents: 200 }],
    ['SKEIN_WEB_SEARCH', 'false', { webSearch: false }],
    ['SKEIN_ALLOW_PRIVATE_ADDRESSES', 'a, [::1]:80', { allowPrivateAddresses: ['a', '[::1]:80'] }],
    [
      'SKEIN_ALLOW_PRIVATE_ADDRESSES',
      '["wiki.corp:1"]',
      { allowPrivateAddresses: ['wiki.corp:1'] },
    ],
    ['SKEIN_REDIS_URL', 'redis://host', { store: 'redis://host' }],
    ['SKEIN_SHARED_PATHS', '/nfs, /srv/x', { sharedPaths: ['/nfs', '/srv/x'] }],
    ['SKEIN_WORKSPACE_REMOTE', 'origin', { workspaceRemote: 'origin' }],
    ['SKEIN_SIMPLE', 'true', { simple: true }],
    ['SKEIN_SIMPLE', '1', { simple: true }],
    ['SKEIN_WEB_SEARCH', '0', { webSearch: false }],
    ['SKEIN_CACHE_HOUR_FOR', 'repl*, sdk', { cacheHourFor: ['repl*', 'sdk'] }],
    ['SKEIN_CACHE_HOUR_FOR', '["*"]', { cacheHourFor: ['*'] }],
    ['SKEIN_CACHE_BREAKER', '7', { cacheBreaker: '7' }],
    ['SKEIN_MCP_INSTRUCTIONS_DELTA', 'false', { mcpInstructionsDelta: false }],
  ])('is read with the type of its setting: %s=%s', (name, value, expected) => {
    expect(temporaryFolder().load({ env: { [name]: value } }).skein).toMatchObject(expected);
  });

  test('SKEIN_STORE overrides SKEIN_REDIS_URL', () => {
    const env = { SKEIN_STORE: 'embedded', SKEIN_REDIS_URL: 'redis://host' };
    expect(temporaryFolder().load({ env }).skein.store).toBe('embedded');
  });

  test.each([
    ['SKEIN_MAX_AGENTS', '1.5'],
    ['SKEIN_MAX_BUDGET_USD', '-1'],
    ['SKEIN_MAX_BUDGET_TOKENS', '1.5'],
    ['SKEIN_MAX_BUDGET_USD', 'Infinity'],
    ['SKEIN_AGENT_IDLE_TIMEOUT_MS', '0'],
    ['SKEIN_TEAMMATES', 'iterm'],
    ['SKEIN_STORE', 'mysql://me:hush@host'],
    ['SKEIN_SHARED_PATHS', 'nfs'],
    ['SKEIN_WORKSPACE_REMOTE', '--upload-pack=evil'],
    ['SKEIN_WORKSPACE_REMOTE', 'ext::sh -c evil'],
    ['SKEIN_WEB_SEARCH', 'off'],
    ['SKEIN_DISABLE_MEMORY_FILES', '2'],
    ['SKEIN_CACHE_HOUR_FOR', 're*pl'],
    ['SKEIN_CACHE_HOUR_FOR', 'repl,'],
    ['SKEIN_CACHE_BREAKER', 'x'.repeat(201)],
    ['SKEIN_ALLOW_PRIVATE_ADDRESSES', '*'],
    ['SKEIN_ALLOW_PRIVATE_ADDRESSES', 'http://localhost'],
    ['SKEIN_ALLOW_PRIVATE_ADDRESSES', 'localhost,,x'],
  ])('ends the command if it is invalid, without showing secrets: %s=%s', (name, value) => {
    const load = () => temporaryFolder().load({ env: { [name]: value } });
    expect(load).toThrow(`${name} cannot be used: expected `);
    expect(load).not.toThrow('hush');
  });
});

describe('a model name', () => {
  test('is an alias or is used unchanged', () => {
    expect(MODEL_ALIASES).toEqual({
      default: 'claude-sonnet-5-5',
      opus: 'claude-opus-5-5',
      sonnet: 'claude-sonnet-5-5',
      haiku: 'claude-haiku-5-5',
      fable: 'claude-fable-5-1',
    });
    expect(resolveModel('Opus')).toBe('claude-opus-5-5');
    expect(resolveModel('Some-Model-9')).toBe('Some-Model-9');
    expect(resolveModel('constructor')).toBe('constructor');
  });

  test('may be an alias of the user for an id or for another alias', () => {
    const own = { fast: 'haiku', opus: 'my-opus', sonnet: 'sonnet' };
    expect(['fast', 'opus', 'sonnet'].map((name) => resolveModel(name, own))).toEqual([
      'claude-haiku-5-5',
      'my-opus',
      'claude-sonnet-5-5',
    ]);
  });
});

test.each([
  ['Read,Edit', ['Read', 'Edit']],
  ['Bash(npm run test:*) Read', ['Bash(npm run test:*)', 'Read']],
  ['Bash(echo (a, b)), Read', ['Bash(echo (a, b))', 'Read']],
  ['  ', []],
  ['Bash(broken, Read', ['Bash(broken, Read']],
])('a list of rules is split outside parentheses: %s', (text, rules) => {
  expect(splitRules(text)).toEqual(rules);
});
