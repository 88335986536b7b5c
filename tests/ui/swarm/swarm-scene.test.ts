import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { Key } from '../../../src/terminal/input/line-editor.js';
import { paintFor } from '../../../src/terminal/terminal.js';
import { textWidth } from '../../../src/terminal/text/text-width.js';
import { Screen } from '../../../src/ui/screen/screen.js';
import type { SwarmSteering } from '../../../src/ui/swarm/swarm-data-source.js';
import { SwarmScene, type SwarmSceneOptions } from '../../../src/ui/swarm/swarm-scene.js';
import type { AgentView, SwarmView } from '../../../src/views/swarm/swarm-view.js';
import {
  agentView,
  asking,
  BEGAN,
  ended,
  leadView,
  swarmView,
} from '../../fakes/agents/agent-views.js';
import { recordingHost } from '../../fakes/terminal/recording-host.js';
import { ShownSwarms } from '../../fakes/terminal/shown-swarms.js';

const call = (description: string, ago = 12_000) => ({
  call: description,
  tool: 'Bash',
  description,
  since: BEGAN + 42_000 - ago,
});

const AGENTS: readonly AgentView[] = [
  leadView({ state: 'tool-running', calls: [call('Task explorer: read the docs')] }),
  agentView('a_docs', { name: 'docs', kind: 'teammate', description: '翻訳ファイルを確認する 🚀' }),
  agentView('a_deep', { parent: 'a_docs', depth: 2, ...asking('rm -rf build') }),
  agentView('a_tests', { type: 'tester', ...ended('max_turns', 'after 5 turns') }),
  agentView('a_wait', {
    type: 'reviewer',
    state: 'waiting',
    waitsFor: 'rate-limit',
    wait: { kind: 'rate-limit', detail: null, since: BEGAN, agents: [], count: 1 },
  }),
  agentView('a_done', { type: 'general-purpose', ...ended('end_turn') }),
];

const crowd = (count: number): readonly AgentView[] => [
  leadView(),
  ...Array.from({ length: count - 1 }, (_, at) => {
    const about = AGENTS[1 + (at % 5)];
    return { ...(about ?? leadView()), id: `a_${at}00000`, name: null, parent: 'a_lead' };
  }),
];

const setUp = (
  views: readonly SwarmView[],
  [columns, rows]: readonly [number, number],
  { steering, ...more }: Partial<SwarmSceneOptions> & { steering?: SwarmSteering } = {},
) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const source = new ShownSwarms(views, steering);
  const host = recordingHost(columns, rows);
  const screen = new Screen(host, (error) => {
    throw error;
  });
  const leave = vi.fn<() => void>();
  const style = { paint: paintFor(false), unicode: true };
  const scene = new SwarmScene({ source, style, title: 'skein top', leave, ...more });
  onTestFinished(screen.showFullScreen(scene));
  // A transcript opens after a delay.
  vi.advanceTimersByTime(500);
  const press = (...keys: readonly string[]) => {
    for (const key of keys) {
      const isName = key.length > 1;
      scene.press(isName ? { name: key } : { sequence: key, name: key.toLowerCase() });
    }
  };
  const type = (text: string) => {
    for (const sequence of text) scene.press({ sequence });
  };
  return {
    source,
    scene,
    leave,
    press,
    type,
    terminal: host.terminal,
    lines: () => host.terminal.screen(),
    text: () => host.terminal.screen().join('\n'),
    settle: () => vi.advanceTimersByTimeAsync(200),
  };
};

const replying = (sentence: string) => vi.fn<SwarmSteering['stop']>(async () => sentence);

const fakeSteering = () => ({
  send: vi.fn<SwarmSteering['send']>(async () => 'docs has it.'),
  stop: replying('docs is stopped.'),
  resume: replying('docs goes on.'),
  onDefect: vi.fn<SwarmSteering['onDefect']>(),
});

const ESC = '\u001b';

/** Codes of all colours in the output. */
const coloursIn = (raw: string): readonly string[] => {
  const codes = raw.split(`${ESC}[`).flatMap((part) => /^([\d;]+)m/.exec(part)?.[1] ?? []);
  return [...new Set(codes)].sort();
};

const SIZES = [
  [60, 20],
  [80, 24],
  [120, 40],
  [160, 50],
  [250, 60],
] as const;

describe('the swarm screen', () => {
  test.each([
    [60, 20],
    [80, 24],
    [160, 30],
  ] as const)('matches its golden file at %d by %d', async (columns, rows) => {
    const { source, text, press } = setUp([swarmView(AGENTS)], [columns, rows], {
      steering: fakeSteering(),
    });
    source.items.set('a_deep', [
      { kind: 'prompt', text: 'Clean up.', at: BEGAN },
      { kind: 'text', text: 'I remove the build first.', at: BEGAN },
    ]);
    press('j', 'j');
    vi.advanceTimersByTime(500);
    const file = join(import.meta.dirname, 'golden', `swarm-${columns}x${rows}.txt`);
    await expect(`${text()}\n`).toMatchFileSnapshot(file);
  });

  test.each(SIZES)('fits into %d by %d for any number of agents', (columns, rows) => {
    const looks: readonly (readonly [readonly AgentView[], readonly string[]])[] = [
      [[leadView()], ['d']],
      [AGENTS, ['tab', 'return', 'q', '?']],
      [crowd(500), ['G', 'd']],
    ];
    for (const [agents, keys] of looks) {
      const { lines, press, text } = setUp([swarmView(agents)], [columns, rows]);
      for (const key of ['up', ...keys]) {
        press(key);
        expect(lines().length).toBeLessThanOrEqual(rows);
        for (const line of lines()) expect(textWidth(line)).toBeLessThanOrEqual(columns);
        // No row slot stays unfilled.
        expect(text()).not.toMatch(/[\ue000-\uf8ff]/);
      }
    }
  });

  test('shows several swarms below each other, or that no swarm runs', () => {
    const views = [swarmView(AGENTS), swarmView([leadView()], { id: 's_two', title: 'docs' })];
    const { text, source } = setUp(views, [100, 24]);
    expect(text()).toMatch(/^skein top {2}2 swarms/);
    expect(text()).toMatch(/^s_two {2}running, pid 77 {2}1 agent {2}\$0\.2500 {2}docs$/m);
    source.show();
    vi.advanceTimersByTime(200);
    expect(text()).toContain('no swarm is running');
  });

  test('shows why its data may be outdated', () => {
    const { source, text } = setUp([swarmView(AGENTS)], [100, 24]);
    source.why = 'Redis at redis://here cannot be reached';
    source.show(swarmView(AGENTS));
    vi.advanceTimersByTime(200);
    expect(text()).toContain(
      '! Redis at redis://here cannot be reached; the screen may be outdated',
    );
  });

  test('writes only changed lines', () => {
    const { source, terminal } = setUp([swarmView(crowd(500))], [160, 50]);
    vi.advanceTimersByTime(200);
    const before = terminal.raw.length;
    const agents = crowd(500).map((agent, at) => (at === 7 ? { ...agent, costUsd: 99 } : agent));
    source.show(swarmView(agents));
    vi.advanceTimersByTime(200);
    const written = terminal.raw.slice(before);
    expect(written).toContain('$99.00');
    expect(written.split(`${ESC}[`).filter((part) => /^\d+;1H/.test(part)).length).toBeLessThan(5);
    expect(written).not.toContain(`${ESC}[2J`);
  });

  test('uses no colours if they are disabled, otherwise only the palette', () => {
    const plain = setUp([swarmView(AGENTS)], [160, 40]).terminal.raw;
    expect(coloursIn(plain)).toEqual([]);
    const style = { paint: paintFor(true), unicode: false };
    const coloured = setUp([swarmView(AGENTS)], [160, 40], { style });
    expect(coloursIn(coloured.terminal.raw)).toEqual(['0', '1', '2', '31', '32', '33', '36', '7']);
    expect(coloured.text().replaceAll(/[…翻訳ファイルを確認する🚀·]/gu, '')).toMatch(/^[ -~\n]*$/);
  });

  test('finds agents by a typed word', () => {
    const { press, type, text, scene } = setUp([swarmView(AGENTS)], [100, 24]);
    press('/');
    type('test');
    expect(text()).toContain('find: test');
    expect(text()).not.toContain('reviewer');
    press('return');
    expect(scene.content.selected?.agent.id).toBe('a_tests');
    expect(text()).toContain('only with "test"');
    press('escape');
    expect(text()).toContain('reviewer');
  });

  test('closes with q, and with Esc after all changes of the view are undone', () => {
    const { press, leave } = setUp([swarmView(AGENTS)], [160, 40]);
    press('tab', 'f', 'return', 'escape', 'escape');
    expect(leave).toHaveBeenCalledTimes(0);
    press('escape');
    expect(leave).toHaveBeenCalledTimes(1);
    press('q');
    expect(leave).toHaveBeenCalledTimes(2);
  });

  test('passes keys to its opener first and shows the line and hints of the opener', () => {
    const taken = ({ name }: Key) => name === 'space';
    const { press, text, leave } = setUp([swarmView(AGENTS)], [100, 24], {
      press: taken,
      hints: [{ key: 'Space', text: 'play' }],
      line: (width) => '='.repeat(width),
    });
    press('space', 'q');
    expect(leave).toHaveBeenCalledTimes(1);
    expect(text().split('\n').slice(-2)).toEqual([
      '='.repeat(100),
      expect.stringMatching(/^Space play {2}\? help/),
    ]);
    expect(text()).not.toContain('+1');
  });

  test('reads only the transcript of the selected agent', () => {
    const { press, source } = setUp([swarmView(AGENTS)], [160, 40]);
    expect(source.open).toEqual(['a_lead']);
    press('j');
    press('j');
    expect(source.open).toEqual([]);
    vi.advanceTimersByTime(500);
    expect(source.open).toEqual(['a_deep']);
    press('d');
    expect(source.open).toEqual([]);
    press('return');
    expect(source.open).toEqual(['a_deep']);
  });
});

describe('the help of the swarm screen', () => {
  test.each([
    [60, 20],
    [60, 12],
    [80, 60],
  ])('has a frame and shows the key to go back at %d by %d', (columns, rows) => {
    const help = Array.from({ length: 6 }, (_, at) => ({ key: `${at}`, text: `theirs ${at}` }));
    const { press, lines, text } = setUp([swarmView(AGENTS)], [columns, rows], {
      steering: fakeSteering(),
      help,
    });
    press('?');
    const seen = lines().filter((line) => line.trim() !== '');
    expect(seen[0]).toMatch(/^\s*╭─+╮/);
    expect(seen[1]).toContain('theirs 0');
    expect(seen.at(-3)).toMatch(/q +leave/);
    expect(seen.at(-2)).toMatch(/^\s*╰─+╯/);
    expect(seen.at(-1)).toContain('any key goes back');
    expect(text().includes('reverse the sort order')).toBe(rows >= 20);
  });
});

const SIGNAL = expect.any(AbortSignal);

describe('steering from the swarm screen', () => {
  test('sends a typed message and shows the reply for a while', async () => {
    const steering = fakeSteering();
    const { press, type, text, settle, scene, terminal } = setUp([swarmView(AGENTS)], [100, 24], {
      steering,
    });
    press('j', 'm');
    type('and the tests');
    scene.paste(', please');
    expect(text()).toContain('to docs: and the tests, please');
    expect(terminal.cursor).toMatchObject({ row: 22, column: 30, isShown: true });
    press('return');
    expect(steering.send).toHaveBeenCalledWith('s_one', 'a_docs', 'and the tests, please', SIGNAL);
    await settle();
    expect(text()).toContain('docs has it.');
    expect(terminal.cursor.isShown).toBe(false);
    await vi.advanceTimersByTimeAsync(9_000);
    expect(text()).not.toContain('docs has it.');
  });

  test('sends no cancelled and no empty message', () => {
    const steering = fakeSteering();
    const { press, type } = setUp([swarmView(AGENTS)], [100, 24], { steering });
    press('m');
    type('never mind');
    press('escape');
    press('m', 'return');
    expect(steering.send).not.toHaveBeenCalled();
  });

  test('stops an agent after a confirmation that mentions its descendants', async () => {
    const steering = fakeSteering();
    const { press, text, settle } = setUp([swarmView(AGENTS)], [100, 24], { steering });
    press('j', 'x');
    expect(text()).toContain('Stop docs and the agent below it?');
    press('n');
    expect(steering.stop).not.toHaveBeenCalled();
    press('x', 'y');
    expect(steering.stop).toHaveBeenCalledWith('s_one', 'a_docs', SIGNAL);
    await settle();
    expect(text()).toContain('docs is stopped.');
    press('r');
    await settle();
    expect(steering.resume).toHaveBeenCalledWith('s_one', 'a_docs', SIGNAL);
    expect(text()).toContain('docs goes on.');
  });

  test('passes a defect to onDefect()', async () => {
    const defect = new TypeError('a defect');
    const steering = { ...fakeSteering(), resume: () => Promise.reject(defect) };
    const { press, settle } = setUp([swarmView(AGENTS)], [100, 24], { steering });
    press('r');
    await settle();
    expect(steering.onDefect).toHaveBeenCalledExactlyOnceWith(defect);
  });

  test('is not offered for a read-only source', () => {
    const { press, text } = setUp([swarmView(AGENTS)], [100, 24]);
    press('m', 'x', 'r');
    expect(text()).not.toMatch(/message|stop|resume|to lead/i);
    press('?');
    expect(text()).not.toContain('write to it');
  });
});
