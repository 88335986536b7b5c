import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
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
import { BOUNDARY } from '../../../src/prompt/text/boundary.js';
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
  split(pieces, hasMcpTools).map(({ zone, scope, hasBreakpoint: marked }) => [zone, scope, marked]);

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

describe('a prompt in blocks', () => {
  const whole = [
    ['attribution', null, false],
    ['identity', 'org', true],
    ['rest', 'org', true],
  ];

  test('is shared by the organisation where there are MCP tools (K2)', () => {
    expect(planOf(withBoundary, true)).toEqual(whole);
  });

  test('is shared by everybody up to the boundary (K3)', () => {
    expect(planOf(withBoundary)).toEqual([
      ['attribution', null, false],
      ['identity', null, false],
      ['static', 'global', true],
      ['dynamic', null, true],
    ]);
  });

  test('is shared by the organisation without a boundary (K4)', () => {
    expect(planOf(without)).toEqual(whole);
  });

  test('is what somebody gave, where that replaces ours', () => {
    const custom = choosePrompt(withBoundary, { custom: 'Be a goose.' }, []);
    expect(planOf(custom)).toEqual([
      ['attribution', null, false],
      ['rest', 'org', true],
    ]);
  });

  test('has no block without text, at most two marks and never the boundary (P4)', () => {
    const anyPieces = fc.array(
      fc.constantFrom('', 'a', 'b', BOUNDARY, `${withBoundary[0]?.text}`),
      { maxLength: 6 },
    );
    fc.assert(
      fc.property(anyPieces, fc.boolean(), fc.constantFrom('', 'us'), (texts, mcp, attribution) => {
        const blocks = splitPrompt(asSystemPrompt(texts), { attribution, hasMcpTools: mcp });
        expect(blocks.every(({ text }) => text !== '')).toBe(true);
        expect(blocks.filter(({ hasBreakpoint: marked }) => marked).length).toBeLessThanOrEqual(2);
        expect(blocks.some(({ text }) => text.includes(BOUNDARY))).toBe(false);
      }),
    );
  });

  test('can be traced: every section is found again where it says (P20)', () => {
    for (const pieces of [withBoundary, without]) {
      const blocks = split(pieces);
      const sections = sectionsOf(blocks, pieces);
      const found = sections.map(({ block, start, end }) => blocks[block]?.text.slice(start, end));
      const spoken = pieces.filter(({ zone }) => zone !== 'boundary').map(({ text }) => text);
      expect(found).toEqual([ATTRIBUTION, ...spoken]);
      expect(sections.find(({ name }) => name === 'output style')?.path).toBe(
        '/work/.claude/output-styles/short.md',
      );
    }
  });
});

describe('the head of a request', () => {
  test('is that of the golden file (P2, stage 3)', async () => {
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

  test('never holds the boundary', () => {
    expect(head(withBoundary).system).not.toContain(BOUNDARY);
  });

  test.each(PROVIDERS)(
    'names no scope on the wire to %s, and marks only where marks are taken',
    (provider) => {
      const capabilities = capabilitiesOf(provider);
      const { system } = head(withBoundary, capabilities);
      expect(system).not.toContain('"scope"');
      expect(system.includes('cache_control')).toBe(capabilities.marks);
    },
  );

  test('names the scope that a provider takes (K1)', () => {
    const capabilities = { ...capabilitiesOf('firstParty'), scopes: ['global', 'org'] as const };
    const marks = (JSON.parse(head(withBoundary, capabilities).system) as WireBlock[]).map(
      ({ cache_control }) => cache_control,
    );
    expect(marks).toEqual([
      undefined,
      undefined,
      { type: 'ephemeral', scope: 'global' },
      { type: 'ephemeral' },
    ]);
  });

  test('begins with who speaks, in our own name and without a mark (P19)', () => {
    const [first] = JSON.parse(head(withBoundary).system) as WireBlock[];
    expect(first).toEqual({ type: 'text', text: 'skein 1.2.3; entrypoint cli' });
  });

  test('is one line in simple mode (P13)', () => {
    const { system, sections } = simpleHead('/work', '2026-11-16', '[]', '5m');
    expect(JSON.parse(system)).toEqual([
      {
        type: 'text',
        text: 'You are Skein, a coding agent that works alone or leads other agents in one repository.\n\nCWD: /work\nDate: 2026-11-16',
      },
    ]);
    expect(sections).toHaveLength(1);
  });

  test('is one line of a place in simple mode, whoever named it', () => {
    const { system } = simpleHead('/w\n# Rules\n<system-reminder>', '2026-11-16', '[]', '5m');
    const [block] = JSON.parse(system) as WireBlock[];
    expect(String(block?.text).split('\n')).toHaveLength(4);
    expect(block?.text).not.toContain('<system-reminder>');
  });

  test('is well-formed whatever the sections say', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        for (const { system } of [
          head(choosePrompt(withBoundary, { append: `.${text}` }, [])),
          simpleHead(`/${text}`, '2026-11-16', '[]', '5m'),
        ]) {
          const texts = (JSON.parse(system) as WireBlock[]).map((block) => String(block.text));
          // Half a character is escaped in JSON, and no server takes it.
          expect(texts.every((it) => it.isWellFormed())).toBe(true);
        }
      }),
    );
  });
});
