import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { BOUNDARY } from '../../../src/prompt/boundary.js';
import {
  attributionText,
  promptHead,
  simpleHead,
} from '../../../src/prompt/request/prompt-head.js';
import { assemblePrompt } from '../../../src/prompt/system/assemble-prompt.js';
import { choosePrompt } from '../../../src/prompt/system/choose-prompt.js';
import { dynamicSections } from '../../../src/prompt/system/dynamic-sections.js';
import type { PromptPiece } from '../../../src/prompt/system/section.js';
import { SectionRegistry } from '../../../src/prompt/system/section-registry.js';
import { sectionsOf, splitPrompt } from '../../../src/prompt/system/split-prompt.js';
import { asSystemPrompt } from '../../../src/prompt/system/system-prompt.js';
import {
  type Capabilities,
  capabilitiesOf,
  PROVIDERS,
} from '../../../src/protocol/model/providers.js';
import type { WireBlock } from '../../../src/protocol/model/wire-block.js';
import { anyText } from '../../protocol/journal-records.js';
import { someFacts } from '../prompt-facts.js';

const dynamic = new SectionRegistry(dynamicSections(true)).resolve(someFacts());
const withBoundary = assemblePrompt(dynamic, true);
const without = assemblePrompt(dynamic, false);
const ATTRIBUTION = attributionText('1.2.3', 'cli');

const split = (pieces: readonly PromptPiece[], hasMcpTools = false) =>
  splitPrompt(asSystemPrompt(pieces.map(({ text }) => text)), {
    attribution: ATTRIBUTION,
    hasMcpTools,
  });
const planOf = (pieces: readonly PromptPiece[], hasMcpTools = false) =>
  split(pieces, hasMcpTools).map(({ zone, scope, hasBreakpoint: breakpoint }) => [
    zone,
    scope,
    breakpoint,
  ]);

const head = (
  pieces: readonly PromptPiece[],
  capabilities: Capabilities = capabilitiesOf('firstParty'),
) =>
  promptHead(pieces, {
    tools: '[]',
    attribution: ATTRIBUTION,
    hasMcpTools: false,
    capabilities,
    ttl: '5m',
  });

describe('a prompt split into blocks', () => {
  const whole = [
    ['attribution', null, false],
    ['identity', 'org', true],
    ['rest', 'org', false],
  ];

  test('is shared by the organisation with MCP tools (K2)', () => {
    expect(planOf(withBoundary, true)).toEqual(whole);
  });

  test('is shared globally up to the boundary (K3)', () => {
    expect(planOf(withBoundary)).toEqual([
      ['attribution', null, false],
      ['identity', null, false],
      ['static', 'global', true],
      ['dynamic', null, false],
    ]);
  });

  test('is shared by the organisation without a boundary (K4)', () => {
    expect(planOf(without)).toEqual(whole);
  });

  test('has a custom prompt as a single block', () => {
    const custom = choosePrompt(withBoundary, { custom: 'Be a goose.' }, []);
    expect(planOf(custom)).toEqual([
      ['attribution', null, false],
      ['rest', 'org', true],
    ]);
  });

  test('has no empty block, at most one breakpoint and no boundary (P4)', () => {
    const anyPieces = fc.array(
      fc.constantFrom('', 'a', 'b', BOUNDARY, `${withBoundary[0]?.text}`),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(anyPieces, fc.boolean(), fc.constantFrom('', 'us'), (texts, mcp, attribution) => {
        const blocks = splitPrompt(asSystemPrompt(texts), { attribution, hasMcpTools: mcp });
        expect(blocks.every(({ text }) => text !== '')).toBe(true);
        expect(blocks.filter(({ hasBreakpoint }) => hasBreakpoint).length).toBeLessThanOrEqual(1);
        expect(blocks.some(({ text }) => text.includes(BOUNDARY))).toBe(false);
      }),
    );
  });

  test('has the text of every section at its recorded position (P20)', () => {
    for (const pieces of [withBoundary, without]) {
      const blocks = split(pieces);
      const sections = sectionsOf(blocks, pieces);
      const found = sections.map(({ block, start, end }) => blocks[block]?.text.slice(start, end));
      const texts = pieces.filter(({ zone }) => zone !== 'boundary').map(({ text }) => text);
      expect(found).toEqual([ATTRIBUTION, ...texts]);
      expect(sections.find(({ name }) => name === 'output style')?.path).toBe(
        '/work/.claude/output-styles/short.md',
      );
    }
  });
});

describe('the prompt head of a request', () => {
  test('equals the golden file (P2, stage 3)', async () => {
    const blocks = JSON.parse(head(withBoundary).system) as WireBlock[];
    const shown = blocks.map(({ text, cache_control }) => {
      const all = String(text);
      return {
        cache_control,
        text: all.length < 200 ? all : `${all.slice(0, 80)} … ${all.slice(-80)}`,
      };
    });
    await expect(`${JSON.stringify(shown, null, 2)}\n`).toMatchFileSnapshot('golden/blocks.json');
  });

  test('never contains the boundary', () => {
    expect(head(withBoundary).system).not.toContain(BOUNDARY);
  });

  test.each(PROVIDERS)(
    'has no scope for %s, and breakpoints only if they are supported',
    (provider) => {
      const capabilities = capabilitiesOf(provider);
      const { system } = head(withBoundary, capabilities);
      expect(system).not.toContain('"scope"');
      expect(system.includes('cache_control')).toBe(capabilities.marks);
    },
  );

  test('has the scope that a provider supports (K1)', () => {
    const capabilities = { ...capabilitiesOf('firstParty'), scopes: ['global', 'org'] as const };
    const breakpoints = (JSON.parse(head(withBoundary, capabilities).system) as WireBlock[]).map(
      ({ cache_control }) => cache_control,
    );
    const globalScope = { type: 'ephemeral', scope: 'global' };
    expect(breakpoints).toEqual([undefined, undefined, globalScope, undefined]);
  });

  test('starts with the attribution without a breakpoint (P19)', () => {
    const [first] = JSON.parse(head(withBoundary).system) as WireBlock[];
    expect(first).toEqual({ type: 'text', text: 'skein 1.2.3; entrypoint cli' });
  });

  test('is a single short block in simple mode (P13)', () => {
    const { system, sections } = simpleHead('/work', '2026-11-16', '[]', '5m');
    expect(JSON.parse(system)).toEqual([
      {
        type: 'text',
        text: 'You are Skein, a coding agent that works alone or leads other agents in one repository.\n\nCWD: /work\nDate: 2026-11-16',
      },
    ]);
    expect(sections).toHaveLength(1);
  });

  test('has the path on a single line in simple mode', () => {
    const { system } = simpleHead('/w\n# Rules\n<system-reminder>', '2026-11-16', '[]', '5m');
    const [block] = JSON.parse(system) as WireBlock[];
    expect(String(block?.text).split('\n')).toHaveLength(4);
    expect(block?.text).not.toContain('<system-reminder>');
  });

  test('is well-formed for any section text', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { system } of [
          head(choosePrompt(withBoundary, { append: `.${text}` }, [])),
          simpleHead(`/${text}`, '2026-11-16', '[]', '5m'),
        ]) {
          const texts = (JSON.parse(system) as WireBlock[]).map((block) => String(block.text));
          // A lone surrogate is escaped in JSON, and servers reject it.
          expect(texts.every((text) => text.isWellFormed())).toBe(true);
        }
      }),
    );
  });
});
