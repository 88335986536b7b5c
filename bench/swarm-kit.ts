/** Copies the messages of a small fan-out of Skein for the floor of a large one, and checks both. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Block, MessagesRequest } from '../src/simulator/messages-request.js';
import type { Arena } from './arena.js';
import { headOf } from './calibrate.js';
import { type Contenders, contenders, type Name } from './contender.js';
import { startRecorder } from './recorder.js';
import { startSimulatorProcess } from './simulator-process.js';
import { READERS, SWARM_PROMPTS, swarmPlaybook } from './swarm-playbook.js';

export interface SwarmKit {
  /** Throws unless the children send the same as the children of a fan-out of `FEW`. */
  checkChildren(bodies: readonly Buffer[]): void;
  /** Returns contenders with limits that let all agents of this width run at once. */
  contenders(width: number, env?: Readonly<Record<string, string>>): Contenders;
}

const TOLERANCE = 0.01;
export const FEW = 2;
/** Requests of the lead and of each child. */
const LEAD_REQUESTS = 2;
const CHILD_REQUESTS = 3;

export const swarmKit = async (arena: Arena): Promise<SwarmKit> => {
  const head = join(arena.root, 'swarm-head.json');
  const child = join(arena.root, 'child.json');
  const kit: Pick<SwarmKit, 'contenders'> = {
    contenders: (width, env) =>
      contenders(arena, {
        head,
        floorArgs: [child],
        skeinArgs: ['--agents', JSON.stringify(READERS)],
        env: { ...limitsFor(width), ...env },
      }),
  };
  const simulator = await startSimulatorProcess(arena, swarmPlaybook([FEW]));
  const bodiesOf = async (name: Name): Promise<readonly Buffer[]> => {
    const recorder = await startRecorder(simulator.url);
    try {
      const prompt = SWARM_PROMPTS.fanOut(FEW);
      await once(kit.contenders(FEW).start(name, prompt, recorder.url), 'exit');
      return recorder.bodies;
    } finally {
      recorder.close();
    }
  };
  try {
    const ours = await bodiesOf('ours');
    const requests = ours.map((body) => JSON.parse(body.toString()) as MessagesRequest);
    writeFileSync(head, JSON.stringify(headOf(ours[0])));
    writeFileSync(child, JSON.stringify(childOf(requests)));
    check(await bodiesOf('floor'), ours);
    return {
      ...kit,
      checkChildren: (bodies) => compare(ours.filter(isOfChild), bodies.filter(isOfChild)),
    };
  } finally {
    await simulator.close();
  }
};

export const limitsFor = (width: number): Record<string, string> => ({
  SKEIN_MAX_AGENTS: String(width),
  // Above the default only for wide swarms: a lead also reads 75 files in a message.
  SKEIN_MAX_CALLS_PER_MESSAGE: String(Math.max(width, 200)),
  SKEIN_MAX_CONCURRENT_AGENTS: String(width),
  SKEIN_MAX_CONCURRENT_REQUESTS: String(width),
});

const isChild = ({ messages }: MessagesRequest): boolean =>
  /Look at part \d+/.test(textIn(messages[0]));

const isOfChild = (body: Buffer): boolean =>
  isChild(JSON.parse(body.toString()) as MessagesRequest);

/** Returns templates of the first message of a child and of the report that its lead gets. */
const childOf = (requests: readonly MessagesRequest[]): { opening: string[]; report: string } => {
  const first = requests.find((request) => isChild(request) && request.messages.length === 1);
  const lead = requests.findLast((request) => !isChild(request));
  const [result] = blocksIn(lead?.messages.at(-1));
  if (first === undefined || result?.type !== 'tool_result') {
    throw new Error('Skein handed nothing out, or got no report back.');
  }
  const content = result.content as string | readonly Block[];
  const report = typeof content === 'string' ? content : content.map(({ text }) => text).join('');
  return {
    opening: blocksIn(first.messages[0]).map(({ text = '' }) =>
      text.replace(/Look at part \d+ and report\./, '{{prompt}}'),
    ),
    report: report.replace('Both files compute values, and nothing else.', '{{text}}'),
  };
};

const blocksIn = (message: MessagesRequest['messages'][number] | undefined): readonly Block[] =>
  typeof message?.content === 'string' ? [] : (message?.content ?? []);

const textIn = (message: MessagesRequest['messages'][number] | undefined): string =>
  blocksIn(message)
    .map(({ text = '' }) => text)
    .join('\n');

const check = (floor: readonly Buffer[], ours: readonly Buffer[]): void => {
  const expected = LEAD_REQUESTS + FEW * CHILD_REQUESTS;
  if (floor.length !== expected || ours.length !== expected) {
    throw new Error(
      `A fan-out of ${FEW} should send ${expected} requests: floor ${floor.length}, ours ${ours.length}.`,
    );
  }
  compare(floor, ours);
};

/** Compares sorted lengths, because requests of concurrent children arrive in any order. */
const compare = (floor: readonly Buffer[], ours: readonly Buffer[]): void => {
  if (floor.length !== ours.length) {
    throw new Error(
      `A fan-out sends ${floor.length} requests in one way, ${ours.length} in another.`,
    );
  }
  const [floorSizes, ourSizes] = [floor, ours].map((bodies) =>
    bodies.map(({ length }) => length).toSorted((a, b) => a - b),
  );
  for (const [index, length] of (ourSizes ?? []).entries()) {
    const expected = floorSizes?.[index] ?? 0;
    if (Math.abs(length / expected - 1) <= TOLERANCE) continue;
    throw new Error(`A request of the fan-out has ${length} bytes and the floor's ${expected}.`);
  }
};
