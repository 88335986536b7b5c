import { describe, expect, test } from 'vitest';
import { agentMachine } from '../../../../src/machines/agent-machine.js';
import { paintFor } from '../../../../src/terminal/terminal.js';
import {
  CHART_COLUMNS,
  CHART_ROWS,
  STATE_TRANSITIONS,
  stateChart,
} from '../../../../src/ui/swarm/detail/state-chart.js';

const plain = { unicode: true, paint: paintFor(false) };
const wide = (state: string) => stateChart(state, { ...plain, columns: 80 });
const narrow = (state: string, columns: number) => stateChart(state, { ...plain, columns });

/** States of the view that are not states of the machine. */
const VIEW_ONLY_STATES = ['queued', 'waiting', 'lost'];
const MACHINE_STATES = Object.keys(agentMachine.states).filter((state) => state !== 'waking');

type Node = (typeof agentMachine.states)[keyof typeof agentMachine.states];

/** Targets of a state, including the targets of the transient state `waking`. */
const targetsOf = (state: string): readonly string[] => {
  const { transitions, always = [] } = (agentMachine.states as Record<string, Node>)[state] as Node;
  const direct = [...transitions.values(), always]
    .flat()
    .flatMap(({ target = [] }) => target.map(({ key }) => key));
  return direct.includes('waking') && state !== 'waking'
    ? [...direct, ...targetsOf('waking')]
    : direct;
};

interface Box {
  readonly state: string;
  readonly from: number;
  readonly to: number;
}

const boxesIn = (line: string): readonly Box[] =>
  [...line.matchAll(/[a-z-]{4,}/g)].map(({ 0: state, index }) => ({
    state,
    from: index,
    to: index + state.length,
  }));

/** Arrows of the chart: between two names in a line, and between rows. */
const arrowsIn = (lines: readonly string[]): readonly string[] => {
  const arrows = lines.flatMap((line) =>
    [...line.matchAll(/([a-z-]{4,}) (◀?)─(▶?) (?=([a-z-]{4,}))/g)].flatMap(
      ([, left, back, forth, right]) => [
        ...(forth ? [`${left} → ${right}`] : []),
        ...(back ? [`${right} → ${left}`] : []),
      ],
    ),
  );
  const nameAt = (row: number, column: number): string => {
    const boxes = boxesIn(lines[row] ?? '');
    const [only] = boxes;
    const found = boxes.find(({ from, to }) => column >= from && column < to);
    return (boxes.length === 1 ? only : found)?.state ?? `nothing at ${row}:${column}`;
  };
  for (const [row, line] of lines.entries()) {
    for (const { 0: sign, index } of line.matchAll(/[▲▼]/g)) {
      const isUpper = sign === '▲' ? boxesIn(lines[row - 1] ?? '').length > 0 : false;
      const [top, bottom] = isUpper ? [row - 1, row + 2] : [row - 2, row + 1];
      const [above, below] = [nameAt(top, index), nameAt(bottom, index)];
      arrows.push(sign === '▲' ? `${below} → ${above}` : `${above} → ${below}`);
    }
  }
  return arrows.sort();
};

describe('the state chart', () => {
  test('has exactly the states of the machine and of the view', () => {
    const names = wide('').flatMap((line) => boxesIn(line).map(({ state }) => state));
    expect(names.sort()).toEqual([...MACHINE_STATES, ...VIEW_ONLY_STATES].sort());
    expect(Object.keys(STATE_TRANSITIONS).sort()).toEqual(names);
  });

  test('draws the arrows of STATE_TRANSITIONS', () => {
    const declared = Object.entries(STATE_TRANSITIONS).flatMap(([from, to]) =>
      to.map((state) => `${from} → ${state}`),
    );
    expect(arrowsIn(wide(''))).toEqual(declared.sort());
  });

  test('has only arrows of the machine', () => {
    const invented = MACHINE_STATES.flatMap((from) =>
      (STATE_TRANSITIONS[from] ?? [])
        .filter((to) => !targetsOf(from).includes(to))
        .map((to) => `${from} → ${to}`),
    );
    expect(invented).toEqual([]);
    expect(STATE_TRANSITIONS.stopped).toEqual(targetsOf('stopped'));
  });

  test('shows the current state in brackets', () => {
    expect(wide('tool-running')).toEqual([
      ' queued ─▶ waiting     retrying    compacting      lost ',
      '              │            ▲            ▲               ',
      '              ▼            ▼            ▼               ',
      '────────────────────── streaming ───────────────────────',
      '   ▲         ▲                  ▲                   │   ',
      '   ▼         ▼                  ▼                   ▼   ',
      ' idle  [tool-running]◀─▶ awaiting-permission    stopped ',
    ]);
  });

  test.each(Object.keys(STATE_TRANSITIONS))('highlights only %s', (state) => {
    const paint = paintFor(true);
    const lines = stateChart(state, { unicode: true, columns: 200, paint });
    const lit = lines.join('\n').split(paint.inverse(`[${state}]`));
    expect(lit).toHaveLength(2);
    expect(lit.join('')).not.toContain('[7m');
  });

  test('uses only ASCII on a terminal without Unicode', () => {
    const [first, second, third, line] = stateChart('idle', {
      columns: 60,
      unicode: false,
      paint: paintFor(false),
    });
    expect(first).toContain('queued -> waiting');
    expect([second?.trim()[0], third?.trim()[0], line?.slice(0, 4)]).toEqual(['|', 'v', '----']);
    const all = Object.keys(STATE_TRANSITIONS).flatMap((state) =>
      stateChart(state, { columns: 60, unicode: false, paint: paintFor(false) }),
    );
    expect(all.filter((text) => /[^ -~]/.test(text))).toEqual([]);
  });

  test('never exceeds CHART_COLUMNS and CHART_ROWS', () => {
    for (const state of [...Object.keys(STATE_TRANSITIONS), 'unheard-of', 'constructor']) {
      expect(wide(state)).toHaveLength(CHART_ROWS);
      for (const line of wide(state)) expect(line).toHaveLength(CHART_COLUMNS);
      for (let columns = 10; columns < CHART_COLUMNS; columns += 1) {
        const lines = narrow(state, columns);
        expect(lines.length).toBeLessThanOrEqual(2);
        for (const line of lines) expect(line.length).toBeLessThanOrEqual(columns);
      }
    }
  });

  test('lists the next states on a narrow screen', () => {
    expect(narrow('tool-running', 50)).toEqual([
      '[tool-running] ─▶ streaming, awaiting-permission',
    ]);
    expect(narrow('streaming', 40)).toEqual([
      '[streaming] ─▶ tool-running, idle,',
      'awaiting-permission, retrying, …',
    ]);
    expect(narrow('stopped', 40)).toEqual(['[stopped]']);
    expect(narrow('unheard-of', 40)).toEqual([]);
  });
});
