/** Two processes that send letters to each other, to measure throughput and latency. */
import { printLine, type Role } from './peers.js';
import { openPost, type Post } from './posts.js';
import { percentile } from './statistics.js';

export interface LetterFigures {
  /** µs per letter at full throughput. */
  readonly perLetter: number;
  /** µs from one process to the other, for single letters with pauses. */
  readonly oneWay: Spread;
  /** µs until the reply to a letter arrives. */
  readonly answered: Spread;
}

interface Spread {
  readonly p50: number;
  readonly p99: number;
}

interface Letter {
  /** Time of sending, by a clock that all processes of a machine share. */
  readonly at: number;
  /** True if the receiver must reply. */
  readonly needsReply: boolean;
  /** Text of typical length. */
  readonly text: string;
  /** In a reply: µs that each earlier letter took. */
  readonly taken?: readonly number[];
}

const [role, kind = '', socket = '', count = '10000'] = process.argv.slice(2);
/** Maximum concurrent sends. */
const WINDOW = 64;
/** Letters before a wait for a reply, because a mailbox holds at most a thousand letters. */
const BLOCK = 512;
const PAUSE_MS = 2;
const TEXT = 'word '.repeat(40);

const microseconds = (): number => Number(process.hrtime.bigint() / 1_000n);

const answer = async (post: Post): Promise<void> => {
  let taken: number[] = [];
  await post.receive('answers', (body) => {
    const { at, needsReply } = body as Letter;
    taken.push(microseconds() - at);
    if (!needsReply) return;
    const reply: Letter = { at: microseconds(), needsReply: false, text: '', taken };
    taken = [];
    void post.send('begins', `reply-${at}`, reply);
  });
  printLine('ready');
};

const begin = async (post: Post): Promise<LetterFigures> => {
  let onReply: (letter: Letter) => void = () => {};
  await post.receive('begins', (body) => onReply(body as Letter));
  let sent = 0;
  const send = (needsReply: boolean) => {
    sent += 1;
    return post.send('answers', `letter-${sent}`, { at: microseconds(), needsReply, text: TEXT });
  };
  const ask = () =>
    new Promise<Letter>((resolve, reject) => {
      onReply = resolve;
      send(true).catch(reject);
    });
  const flood = async (count: number): Promise<number> => {
    const began = microseconds();
    const line = async () => {
      for (let at = 0; at < BLOCK / WINDOW; at += 1) await send(false);
    };
    for (let left = count; left > 0; left -= BLOCK) {
      await Promise.all(Array.from({ length: WINDOW }, line));
      await ask();
    }
    return (microseconds() - began) / (Math.ceil(count / BLOCK) * (BLOCK + 1));
  };
  const letterCount = Number(count);
  await flood(letterCount / 5);
  const perLetter = await flood(letterCount);
  for (let at = 0; at < letterCount / 10; at += 1) {
    void send(false);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const { taken: oneWay = [] } = await ask();
  const answered: number[] = [];
  for (let at = 0; at < letterCount / 10; at += 1) {
    const began = microseconds();
    await ask();
    answered.push(microseconds() - began);
  }
  return { perLetter, oneWay: spread(oneWay.slice(0, -1)), answered: spread(answered) };
};

const spread = (values: readonly number[]): Spread => ({
  p50: percentile(values, 50),
  p99: percentile(values, 99),
});

const post = await openPost(kind, socket);
if ((role as Role) === 'answers') await answer(post);
else printLine(JSON.stringify(await begin(post)));
