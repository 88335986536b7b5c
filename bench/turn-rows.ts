/** Rows for the cost of a turn with a tool call, in a short loop and in a long history. */
import type { Bench } from './bench.js';
import type { Trace } from './contender.js';
import { LONG_TURNS, LOOP_TURNS, PROMPTS } from './playbook.js';
import type { Row } from './row.js';
import { type Point, slope } from './statistics.js';

/** Returns the mean of a turn from the first request to the last, without start and end of the process. */
const perTurn = (trace: Trace, turns: number, figure: 'ms' | 'cpu'): number => {
  const [first, last] = [trace[0], trace[turns]];
  if (first === undefined || last === undefined) throw new Error('A loop was cut short.');
  return (last[figure] - first[figure]) / turns;
};

const both = <T>(traces: Record<'floor' | 'ours', Trace[]>, figure: (trace: Trace) => T) => ({
  floor: traces.floor.map(figure),
  ours: traces.ours.map(figure),
});

export const toolLoop = async (bench: Bench): Promise<readonly Row[]> => {
  const traces = await bench.measure(PROMPTS.loop, bench.quick ? 1 : 9);
  return [
    {
      id: 'turn-cpu',
      what: `CPU per turn, ${LOOP_TURNS} turns`,
      unit: 'µs',
      target: 1.2,
      ...both(traces, (trace) => perTurn(trace, LOOP_TURNS, 'cpu')),
    },
    {
      id: 'turn-time',
      what: `time per turn, ${LOOP_TURNS} turns, with the server's`,
      unit: 'ms',
      ...both(traces, (trace) => perTurn(trace, LOOP_TURNS, 'ms')),
    },
  ];
};

/** First counted turn for CPU. Before it, code is still compiled, which would hide the growth. */
const COMPILED_TURN = 200;
/** First counted turn for memory. Before it, the heap still grows to its working size. */
const SETTLED_TURN = 50;

const cpuByTurn = (trace: Trace): Point[] =>
  trace.slice(COMPILED_TURN, LONG_TURNS).map(({ cpu }, index) => ({
    x: index,
    y: (trace[COMPILED_TURN + index + 1]?.cpu ?? Number.NaN) - cpu,
  }));

const memoryByTurn = (trace: Trace): Point[] =>
  trace
    .slice(0, LONG_TURNS + 1)
    .flatMap(({ memory }, turn) =>
      memory === null || turn < SETTLED_TURN ? [] : [{ x: turn, y: memory / 1024 }],
    );

export const longRun = async (bench: Bench): Promise<readonly Row[]> => {
  const traces = await bench.measure(PROMPTS.long, bench.quick ? 1 : 7);
  return [
    {
      id: 'turn-slope',
      what: `growth of CPU per turn, turns ${COMPILED_TURN} to ${LONG_TURNS}`,
      unit: 'µs per 100 turns',
      target: 1,
      ...both(traces, (trace) => slope(cpuByTurn(trace)) * 100),
    },
    {
      id: 'long-turn-cpu',
      what: `CPU per turn, ${LONG_TURNS} turns`,
      unit: 'µs',
      ...both(traces, (trace) => perTurn(trace, LONG_TURNS, 'cpu')),
    },
    {
      id: 'turn-memory',
      what: `growth of resident memory per turn, ${LONG_TURNS} turns`,
      unit: 'KB',
      target: 1.5,
      ...both(traces, (trace) => slope(memoryByTurn(trace))),
    },
  ];
};
