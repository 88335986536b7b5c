/** Two processes that write letters to each other: how many, and how long each is on its way. */
import { type Role, say } from './peers.js';
import { openPost, type Post } from './posts.js';
import { percentile } from './statistics.js';

export interface LetterFigures {
  /** µs of each letter, when as many are sent as can be. */
  readonly each: number;
  /** µs from one process to the other, one letter now and then. */
  readonly oneWay: Spread;
  /** µs until the answer to a letter is there, one after another. */
  readonly answered: Spread;
}

interface Spread {
  readonly p50: number;
  readonly p99: number;
}

interface Letter {
  /** By a clock that all processes of a machine share. */
  readonly at: number;
  /** An answer is wanted. */
  readonly asks: boolean;
  /** As long as a letter usually is. */
  readonly words: string;
  /** In an answer: how long each of those before it was on its way. */
  readonly taken?: readonly number[];
}

const [role, kind = '', socket = '', count = '10000'] = process.argv.slice(2);
/** Sent and not taken by Redis yet. */
const WINDOW = 64;
/** Then it is waited for that all of them were taken: no more than a thousand may lie in a mailbox. */
const BLOCK = 512;
const PAUSE_MS = 2;
const WORDS = 'word '.repeat(40);

const microseconds = (): number => Number(process.hrtime.bigint() / 1_000n);

const answer = async (post: Post): Promise<void> => {
  let taken: number[] = [];
  await post.receive('answers', (body) => {
    const { at, asks } = body as Letter;
    taken.push(microseconds() - at);
    if (!asks) return;
    const reply: Letter = { at: microseconds(), asks: false, words: '', taken };
    taken = [];
    void post.send('begins', `reply-${at}`, reply);
  });
  say('ready');
};

const begin = async (post: Post): Promise<LetterFigures> => {
  let heard: (letter: Letter) => void = () => {};
  await post.receive('begins', (body) => heard(body as Letter));
  let sent = 0;
  const send = (asks: boolean) => {
    sent += 1;
    return post.send('answers', `letter-${sent}`, { at: microseconds(), asks, words: WORDS });
  };
  const ask = () =>
    new Promise<Letter>((resolve, reject) => {
      heard = resolve;
      send(true).catch(reject);
    });
  const flood = async (many: number): Promise<number> => {
    const began = microseconds();
    const line = async () => {
      for (let at = 0; at < BLOCK / WINDOW; at += 1) await send(false);
    };
    for (let left = many; left > 0; left -= BLOCK) {
      await Promise.all(Array.from({ length: WINDOW }, line));
      await ask();
    }
    return (microseconds() - began) / (Math.ceil(many / BLOCK) * (BLOCK + 1));
  };
  const most = Number(count);
  await flood(most / 5);
  const each = await flood(most);
  for (let at = 0; at < most / 10; at += 1) {
    void send(false);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  const { taken: oneWay = [] } = await ask();
  const answered: number[] = [];
  for (let at = 0; at < most / 10; at += 1) {
    const began = microseconds();
    await ask();
    answered.push(microseconds() - began);
  }
  return { each, oneWay: spread(oneWay.slice(0, -1)), answered: spread(answered) };
};

const spread = (values: readonly number[]): Spread => ({
  p50: percentile(values, 50),
  p99: percentile(values, 99),
});

const post = await openPost(kind, socket);
if ((role as Role) === 'answers') await answer(post);
else say(JSON.stringify(await begin(post)));
