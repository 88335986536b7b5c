import { describe, expect, test } from 'vitest';
import { IDENTITY, STATIC_SECTIONS } from '../../../src/prompt/system/static-sections.js';
import { builtinTools } from '../../../src/tools/builtin-tools.js';

const text = [IDENTITY, ...STATIC_SECTIONS.map((section) => section.text)].join('\n\n');

describe('the words that everybody reads', () => {
  test('are seven sections in their order (P3)', () => {
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

  test('are those of the golden file', async () => {
    await expect(`${text}\n`).toMatchFileSnapshot('golden/static-zone.txt');
  });

  test('name our tools, and none that is not there', () => {
    const names = builtinTools.map(({ name }) => name);
    const spoken = text.match(/\b(?:[A-Z][a-z]+){2,}\b|\b(?:Read|Edit|Write|Glob|Grep|LS|Bash)\b/g);
    const known = new Set([...names, 'Markdown', 'Skein']);
    expect((spoken ?? []).filter((word) => !known.has(word))).toEqual([]);
    expect(new Set(spoken).size).toBeGreaterThan(10);
  });

  test('name no other product and nobody who makes one', () => {
    expect(text).not.toMatch(
      /claude|anthropic|openai|codex|copilot|cursor|gemini|gpt|aider|windsurf|devin/i,
    );
  });

  test('hold no figure that could be a date, a path, an id or a count', () => {
    expect(text).not.toMatch(/\d/);
    expect(text).not.toMatch(/(?:^|\s)[~/]\w+\/|\$\w/);
  });
});
