/** Copies the head of Skein's requests for the floor, and checks that both send the same amount. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Arena } from './arena.js';
import { type Contenders, contenders, type Name } from './contender.js';
import { LOOP_TURNS, PROMPTS } from './playbook.js';
import { startRecorder } from './recorder.js';
import { startSimulatorProcess } from './simulator-process.js';

export interface Calibrated {
  readonly contenders: Contenders;
  /** Bytes of the first and of the last request of the loop. */
  readonly sizes: { readonly floor: readonly number[]; readonly ours: readonly number[] };
}

const TOLERANCE = 0.01;

export const calibrate = async (arena: Arena): Promise<Calibrated> => {
  const head = join(arena.root, 'head.json');
  const pair = contenders(arena, { head });
  const simulator = await startSimulatorProcess(arena);
  const bodiesOf = async (name: Name): Promise<readonly Buffer[]> => {
    const recorder = await startRecorder(simulator.url);
    try {
      await once(pair.start(name, PROMPTS.loop, recorder.url), 'exit');
      return recorder.bodies;
    } finally {
      recorder.close();
    }
  };
  try {
    const ours = await bodiesOf('ours');
    writeFileSync(head, JSON.stringify(headOf(ours[0])));
    const floor = await bodiesOf('floor');
    check(floor, ours);
    const ends = (bodies: readonly Buffer[]) => [
      bodies.at(0)?.length ?? 0,
      bodies.at(-1)?.length ?? 0,
    ];
    return { contenders: pair, sizes: { floor: ends(floor), ours: ends(ours) } };
  } finally {
    await simulator.close();
  }
};

export const headOf = (body: Buffer | undefined): object => {
  if (body === undefined) throw new Error('Skein sent no request.');
  const {
    messages: _,
    stream: __,
    ...head
  } = JSON.parse(body.toString()) as Record<string, unknown>;
  return head;
};

const check = (floor: readonly Buffer[], ours: readonly Buffer[]): void => {
  const requests = LOOP_TURNS + 1;
  if (floor.length !== requests || ours.length !== requests) {
    throw new Error(
      `The loop should send ${requests} requests: floor ${floor.length}, ours ${ours.length}.`,
    );
  }
  for (const [index, { length }] of ours.entries()) {
    const expected = floor[index]?.length ?? 0;
    if (Math.abs(length / expected - 1) > TOLERANCE) {
      throw new Error(`Request ${index + 1} has ${length} bytes and the floor's ${expected}.`);
    }
  }
};
