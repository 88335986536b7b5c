import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Preamble } from '../../../src/protocol/model/context-provider.js';
import { type PromptHead, ZONES, type Zone } from '../../../src/protocol/model/prompt-head.js';
import { capabilitiesOf } from '../../../src/protocol/model/providers.js';
import type { DryRunPrompt } from '../../../src/sdk/sessions/dry-run-prompt.js';
import { promptReport } from '../../../src/sdk/sessions/prompt-report.js';

const mark = (ttl?: string) => ({ cache_control: { type: 'ephemeral', ...(ttl && { ttl }) } });
const digest = (text: string) => createHash('sha256').update(text).digest('hex').slice(0, 16);

const READ = { name: 'Read', description: 'Looks.' };
const SYSTEM = [
  { type: 'text', text: 'skein 1' },
  { type: 'text', text: 'Be kind.\n\nBe brief.', ...mark() },
  { type: 'text', text: 'You are at home.', ...mark('1h') },
];

/** Returns the report of a small prompt. */
const reportOn = (head: Partial<PromptHead> = {}, opening: Partial<Preamble> = {}) => {
  const section = { source: 'skein', block: 1, start: 0, end: 8 } as const;
  return promptReport(
    {
      cwd: '/work',
      model: 'm',
      notices: ['Mind the gap.'],
      settings: {} as DryRunPrompt['settings'],
      head: {
        tools: JSON.stringify([READ]),
        system: JSON.stringify(SYSTEM),
        ttl: '5m',
        sections: [
          { ...section, name: 'attribution', zone: 'attribution', block: 0, end: 7 },
          { ...section, name: 'manners', zone: 'static' },
          { ...section, name: 'length', zone: 'static', start: 10, end: 19 },
          {
            ...section,
            name: 'place',
            zone: 'dynamic',
            block: 2,
            end: 16,
            source: 'agent',
            path: '/work/a.md',
            mayChange: 'People move.',
          },
        ],
        ...head,
      },
      preamble: { text: 'Today is a day.', facts: {}, ...opening },
      capabilities: capabilitiesOf('firstParty'),
    },
    'reviewer',
  );
};

describe('the report of a prompt', () => {
  test('shows the sections of each block with their exact text', () => {
    const { system, agent, notices } = reportOn();
    expect(agent).toBe('reviewer');
    expect(notices).toEqual(['Mind the gap.']);
    expect(system.map(({ block, zones, text }) => [block, zones, text])).toEqual([
      [1, ['attribution'], 'skein 1'],
      [2, ['static'], 'Be kind.\n\nBe brief.'],
      [3, ['dynamic'], 'You are at home.'],
    ]);
    expect(system[1]?.sections.map(({ name, text }) => [name, text])).toEqual([
      ['manners', 'Be kind.'],
      ['length', 'Be brief.'],
    ]);
    expect(system[2]?.sections[0]).toEqual({
      name: 'place',
      zone: 'dynamic',
      source: 'agent',
      path: '/work/a.md',
      mayChange: 'People move.',
      tokens: 4,
      digest: digest('You are at home.'),
      text: 'You are at home.',
    });
  });

  test('lists breakpoints with their lifetime and the tokens before them', () => {
    const { marks, system } = reportOn();
    expect(system.map((block) => block.mark)).toEqual([
      null,
      { ttl: '5m', scope: null },
      { ttl: '1h', scope: null },
    ]);
    expect(marks).toEqual([
      { after: 'system block 2', ttl: '5m', scope: null, tokens: 17 },
      { after: 'system block 3', ttl: '1h', scope: null, tokens: 21 },
    ]);
  });

  test('lists the breakpoint of the opening, unless the system prompt has two', () => {
    const text = 'You are at home.';
    const moved = JSON.stringify([SYSTEM[0], SYSTEM[1], { type: 'text', text }]);
    const { opening, marks } = reportOn({ system: moved });
    expect(opening.mark).toEqual({ ttl: '5m', scope: null });
    expect(marks.map(({ after }) => after)).toEqual(['system block 2', 'the opening']);
    expect(reportOn().opening.mark).toBeNull();
  });

  test('has digests that do not depend on breakpoints', () => {
    const text = 'You are at home.';
    const moved = [SYSTEM[0], SYSTEM[1], { type: 'text', text }];
    const [before, after] = [reportOn(), reportOn({ system: JSON.stringify(moved) })];
    expect(after.system[2]?.mark).toBeNull();
    expect(after.system[2]?.digest).toBe(before.system[2]?.digest);
    expect(after.system[2]?.digest).toBe(digest(JSON.stringify({ type: 'text', text })));
  });

  test('has the tools as they are sent, with their breakpoints', () => {
    const tools = JSON.stringify([READ, { name: 'Write', ...mark('1h') }]);
    const report = reportOn({ tools });
    expect(report.tools).toEqual([
      {
        name: 'Read',
        tokens: 10,
        digest: digest(JSON.stringify(READ)),
        mark: null,
        text: JSON.stringify(READ),
      },
      {
        name: 'Write',
        tokens: 4,
        digest: digest('{"name":"Write"}'),
        mark: { ttl: '1h', scope: null },
        text: '{"name":"Write"}',
      },
    ]);
    expect(report.marks[0]).toMatchObject({ after: 'tool Write', tokens: 14 });
  });

  test('adds up the tokens of each part and of the shared part', () => {
    const { tokens, tools } = reportOn();
    expect(tokens.all).toBe(tokens.tools + tokens.system + tokens.opening);
    expect(tokens.shared).toBe(tokens.tools + 2 + 3);
    expect(tools).toHaveLength(1);
    const who = { name: 'who', source: 'skein', block: 1, start: 0, end: 8 };
    const sharedIn = (zone: Zone) => reportOn({ sections: [{ ...who, zone }] }).tokens.shared;
    expect(ZONES.map(sharedIn).map((shared) => shared - tokens.tools)).toEqual([0, 2, 2, 0]);
  });

  test('lists the files of the preamble by layer, without their text', () => {
    const file = { layer: 'project', path: '/work/AGENTS.md', parent: null } as const;
    const text = 'Be kind to all.';
    const { opening } = reportOn({}, { files: [{ ...file, fate: 'told', text }] });
    expect(opening.files).toEqual([{ ...file, fate: 'told', tokens: 4, digest: digest(text) }]);
    expect(opening).toMatchObject({ text: 'Today is a day.', digest: digest('Today is a day.') });
    expect(reportOn({}, { text: '' }).opening.tokens).toBe(0);
  });
});
