import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  IDENTITY,
  STATIC_SECTIONS,
  staticSections,
} from '../../../src/prompt/system/static-sections.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';

const text = [IDENTITY, ...STATIC_SECTIONS.map((section) => section.text)].join('\n\n');

describe('the static prompt', () => {
  test('has seven sections in order (P3)', () => {
    expect(STATIC_SECTIONS.map(({ name }) => name)).toEqual([
      'intro',
      'system rules',
      'doing tasks',
      'actions',
      'using tools',
      'tone and style',
      'output efficiency',
    ]);
    expect(STATIC_SECTIONS.every((section) => section.text.length > 100)).toBe(true);
  });

  test('equals the golden file', async () => {
    await expect(`${text}\n`).toMatchFileSnapshot('golden/static-zone.txt');
  });

  test('names only existing tools', () => {
    const names = builtinTools.map(({ name }) => name);
    const mentioned = text.match(
      /\b(?:[A-Z][a-z]+){2,}\b|\b(?:Read|Edit|Write|Glob|Grep|LS|Bash)\b/g,
    );
    const known = new Set([...names, 'Markdown', 'Skein']);
    expect((mentioned ?? []).filter((word) => !known.has(word))).toEqual([]);
    expect(new Set(mentioned).size).toBeGreaterThan(10);
  });

  test('names only tools that the prompt shows, for any tools', () => {
    const names = builtinTools.map(({ name }) => name);
    fc.assert(
      fc.property(fc.subarray(names), (shown) => {
        const sections = staticSections(shown);
        const tools = sections.find(({ name }) => name === 'using tools')?.text ?? '';
        const guides = names.filter((name) => new RegExp(`\\b${name}\\b`).test(tools));
        expect(guides.filter((name) => !shown.includes(name) && name !== 'Task')).toEqual([]);
        expect(tools.includes('Task starts agents')).toBe(shown.includes('Task'));
      }),
    );
    expect(staticSections(names)).toEqual(STATIC_SECTIONS);
  });

  test('names no other product or vendor', () => {
    expect(text).not.toMatch(
      /claude|anthropic|openai|codex|copilot|cursor|gemini|gpt|aider|windsurf|devin/i,
    );
  });

  test('contains no digits and no paths', () => {
    expect(text).not.toMatch(/\d/);
    expect(text).not.toMatch(/(?:^|\s)[~/]\w+\/|\$\w/);
  });
});
