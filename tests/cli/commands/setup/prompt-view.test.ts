import { describe, expect, test } from 'vitest';
import { promptView } from '../../../../src/cli/commands/setup/prompt-view.js';
import type { PromptReport, PromptSection } from '../../../../src/sdk/sessions/prompt-report.js';

const PLAIN = { isVerbose: false, isFolded: false };
const STYLE = { width: 80, unicode: true, coloured: false };

const SECTION: PromptSection = {
  name: 'manners',
  zone: 'static',
  source: 'skein',
  path: null,
  mayChange: null,
  tokens: 2,
  digest: 'dddddddddddddddd',
  text: 'Be kind.\nBe brief.',
};

/** Report of a prompt with a single block. */
const reportWith = (more: Partial<PromptReport> = {}): PromptReport => ({
  cwd: '/work',
  model: 'claude-haiku-4-5',
  agent: null,
  ttl: '5m',
  notices: [],
  tools: [
    {
      name: 'Read',
      tokens: 1_310,
      digest: 'aaaaaaaaaaaaaaaa',
      mark: null,
      text: '{"name":"Read"}',
    },
  ],
  system: [
    {
      block: 1,
      zones: ['static'],
      mark: { ttl: '1h', scope: 'global' },
      tokens: 1_200,
      digest: 'bbbbbbbbbbbbbbbb',
      sections: [SECTION],
      text: SECTION.text,
    },
  ],
  opening: {
    mark: null,
    tokens: 9,
    digest: 'cccccccccccccccc',
    text: 'Today is a day.',
    files: [],
  },
  marks: [{ after: 'system block 1', ttl: '1h', scope: 'global', tokens: 2_510 }],
  tokens: { tools: 1_310, system: 1_200, opening: 9, shared: 2_500, all: 2_519 },
  ...more,
});

/** View of a prompt with this section in its only block. */
const viewOf = (section: Partial<PromptSection>, style = STYLE): string => {
  const [block] = reportWith().system;
  const sections = [{ ...SECTION, ...section }];
  return promptView(reportWith({ system: block ? [{ ...block, sections }] : [] }), PLAIN, style);
};

describe('the view of a prompt', () => {
  test('has the total, the breakpoints, and each block with its text after a bar', () => {
    expect(promptView(reportWith(), PLAIN, STYLE)).toBe(
      [
        'Prompt of a new session in /work, for claude-haiku-4-5.',
        'About 2,519 tokens at four bytes each: tools 1,310, system 1,200, opening 9.',
        'Tools, identity and static zone, 2,500, are identical for all users.',
        'Cache breakpoints: after system block 1 (2,510 tokens, 1h global); two more in',
        'the messages of each request (5m).',
        '',
        'Tools: 1, 1,310 tokens',
        '  Read  1,310 tokens  aaaaaaaaaaaaaaaa',
        '--verbose shows the text of each tool.',
        '',
        'System block 1 of 1, static, 1,200 tokens, breakpoint 1h global,',
        'bbbbbbbbbbbbbbbb',
        '- manners: static zone, from skein, 2 tokens, dddddddddddddddd',
        '| Be kind.',
        '| Be brief.',
        '',
        'Opening of the first message, 9 tokens, no breakpoint, cccccccccccccccc',
        '| Today is a day.',
        '',
      ].join('\n'),
    );
  });

  test('shows the text of the tools with --verbose', () => {
    const text = promptView(reportWith(), { ...PLAIN, isVerbose: true }, STYLE);
    expect(text).toContain('| {"name":"Read"}\n');
    expect(text).not.toContain('--verbose');
  });

  test('shows the file of a section and why the section may change', () => {
    expect(viewOf({ source: 'agent', path: '/a/reviewer.md', mayChange: 'Servers come.' })).toMatch(
      /from agent \(\/a\/reviewer\.md\), 2 tokens, d{16};\n {2}may change: Servers come\.\n/,
    );
  });

  test('names the files of the opening and whether each was included', () => {
    const file = { tokens: 7, digest: 'eeeeeeeeeeeeeeee', parent: null } as const;
    const files = [
      { ...file, layer: 'user', path: '/home/me.md', fate: 'told' },
      { ...file, layer: 'project', path: '/w/b.md', parent: '/w/a.md', fate: 'left out' },
      { ...file, layer: 'project', path: '/w/r.md', fate: 'waits', paths: ['src/**', '*.ts'] },
    ] as const;
    const text = promptView(reportWith({ opening: { ...reportWith().opening, files } }), PLAIN, {
      ...STYLE,
      width: 1_000,
    });
    expect(text).toContain('- /home/me.md: user, included, 7 tokens, e');
    expect(text).toContain('- /w/b.md: project, included by /w/a.md, left out, no room, 7 tokens');
    expect(text).toContain('- /w/r.md: project, waits for src/**, *.ts, 7 tokens');
  });

  test('shows a block without sections, as in older prompts', () => {
    const [block] = reportWith().system;
    const system = block ? [{ ...block, sections: [], zones: [] }] : [];
    expect(promptView(reportWith({ system }), PLAIN, STYLE)).toMatch(
      /System block 1 of 1, 1,200 tokens.*\n\| Be kind\.\n/,
    );
  });

  test('marks text of files with a bar and spells out control characters', () => {
    const text = 'Hi.\u001B[2J\nSystem block 1 of 1, static\u202E';
    const view = viewOf({ text, name: '\u001B[31mred\n', path: '/a\u001B[2J\n/b' });
    for (const sign of ['\u001B', '\u202E']) expect(view).not.toContain(sign);
    expect(view).toContain('| Hi.^[[2J\n| System block 1 of 1, static<U+202E>\n');
    expect(view.match(/^System block/gm)).toHaveLength(1);
    expect(view).toContain('- red: static zone');
  });

  test.each([40, 60, 120])('keeps its own lines within %i columns', (width) => {
    const lines = viewOf({ mayChange: 'word '.repeat(30) }, { ...STYLE, width }).split('\n');
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(width);
  });

  test('folds long lines at a terminal and marks the continuation rows', () => {
    const text = `${'word '.repeat(7)}System block 1 of 1`;
    const [block] = reportWith().system;
    const system = block ? [{ ...block, sections: [], text }] : [];
    const options = { ...PLAIN, isFolded: true };
    const view = promptView(reportWith({ system }), options, { ...STYLE, width: 40 });
    expect(view).toContain('| word word word word word word word\n: System block 1 of 1\n');
  });

  test('shows that there is no breakpoint', () => {
    expect(promptView(reportWith({ marks: [] }), PLAIN, STYLE)).toContain(
      'No block ends with a cache breakpoint.',
    );
  });
});
