/** Random damage to journals, and the check that a model accepts the messages of a damaged session. */
import fc from 'fast-check';
import { parseJson } from '../../src/lib/json/parse-json.js';
import type { WireBlock } from '../../src/protocol/model/wire-block.js';

interface Message {
  readonly role: string;
  readonly content: readonly WireBlock[];
}

/** Returns the messages without cache breakpoints. */
export const messagesOf = (body: string) =>
  (
    JSON.parse(body, (key, value: unknown) => (key === 'cache_control' ? undefined : value)) as {
      messages: Message[];
    }
  ).messages;

/** Returns why the Messages API would refuse the messages. */
export const refusalOf = (messages: readonly Message[]): string | undefined => {
  if (messages[0]?.role !== 'user') return 'it starts with an answer';
  let open: readonly unknown[] = [];
  for (const [at, { role, content }] of messages.entries()) {
    // The API joins messages of the user. They follow each other after a crash before an answer.
    const isRepeated = role === 'assistant' && messages[at - 1]?.role === role;
    if (isRepeated) return `message ${at} repeats the role ${role}`;
    if (content.length === 0) return `message ${at} is empty`;
    const results = content.flatMap((block) =>
      block.type === 'tool_result' ? [block.tool_use_id] : [],
    );
    const isFirst = content.slice(0, results.length).every(({ type }) => type === 'tool_result');
    if (!isFirst || JSON.stringify(results) !== JSON.stringify(open))
      return `message ${at} has the results ${results.join()} for the calls ${open.join()}`;
    open = content.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  }
  if (open.length > 0) return 'the last calls have no results';
  return messages.at(-1)?.role === 'user' ? undefined : 'it ends with an answer';
};

interface Line {
  readonly type: string;
  readonly agent?: string;
  readonly call?: string;
  readonly raw?: readonly WireBlock[];
  readonly cites?: { readonly seq: number };
}

const linesIn = (text: string): readonly Line[] =>
  text.split('\n').flatMap((line) => {
    const value = parseJson(line);
    return typeof value === 'object' && value !== null ? [value as Line] : [];
  });

interface LeftFiles {
  readonly agent: string;
  /** Journal of the agent as its owner had closed it. */
  readonly written: string;
  /** Journal that is left. */
  readonly text: string;
  /** Event index that is left. */
  readonly index: string;
  /** True if the session has no other journal. */
  readonly isOnly: boolean;
}

/**
 * Returns the calls that have run but that no file shows as started: the files are those of a process that died before
 * these calls, so no program can know that they have run. That needs
 * - a journal that is cut between two records. A torn record shows damage, because the owner had closed the journal.
 * - an event index without a later record of the agent. A torn event shows one more record of its agent.
 */
export const forgottenCalls = ({ agent, written, text, index, isOnly }: LeftFiles) => {
  const isCut = written.startsWith(text) && text.endsWith('\n');
  const records = linesIn(text);
  const cited = linesIn(index).map((line) => (line.agent === agent ? (line.cites?.seq ?? 0) : 0));
  const torn = index.slice(index.lastIndexOf('\n') + 1);
  const isShown = torn !== '' && (isOnly || torn.includes(`"agent":"${agent}"`));
  if (!isCut || Math.max(0, ...cited) + (isShown ? 1 : 0) > records.length) return [];
  const asked = records.flatMap(({ type, raw }) => (type === 'assistant.received' && raw) || []);
  const started = new Set(records.map(({ type, call }) => (type === 'call.started' ? call : '')));
  const calls = asked.flatMap(({ type, id }) => (type === 'tool_use' ? [String(id)] : []));
  return calls.filter((call) => !started.has(call));
};

type Damage = (bytes: Buffer) => Buffer;

const onLines =
  (change: (lines: string[]) => readonly string[]): Damage =>
  (bytes) => {
    const lines = bytes.toString().split('\n').slice(0, -1);
    const changed = lines.length === 0 ? lines : change(lines);
    return Buffer.from(changed.map((line) => `${line}\n`).join(''));
  };

const pick = (lines: readonly string[], at: number) => Math.floor(at * lines.length);
/** A share of the file. `fc.double` would be next to 0 nearly always, because most doubles are. */
const place = fc.integer({ min: 0, max: 9_999 }).map((at) => at / 10_000);

/** Damage that must be named, because a number or a line shows it. */
export const visibleDamage: fc.Arbitrary<readonly [string, Damage]> = fc.oneof(
  place.map(
    (at) =>
      [
        `cut at ${at}`,
        (bytes: Buffer) => bytes.subarray(0, Math.floor(at * bytes.length)),
      ] as const,
  ),
  fc.constant(['emptied', () => Buffer.alloc(0)] as const),
  place.map(
    (at) =>
      [`lines up to ${at} deleted`, onLines((lines) => lines.slice(pick(lines, at) + 1))] as const,
  ),
  place.map(
    (at) =>
      [`line ${at} deleted`, onLines((lines) => lines.toSpliced(pick(lines, at), 1))] as const,
  ),
  fc
    .tuple(place, fc.integer({ min: 2, max: 9 }))
    .map(
      ([at, count]) =>
        [
          `${count} lines from ${at} deleted`,
          onLines((lines) => lines.toSpliced(pick(lines, at), count)),
        ] as const,
    ),
  place.map(
    (at) =>
      [
        `line ${at} repeated`,
        onLines((lines) => lines.toSpliced(pick(lines, at), 0, lines[pick(lines, at)] ?? '')),
      ] as const,
  ),
  fc
    .tuple(place, place)
    .filter(([a, b]) => Math.abs(a - b) > 0.1)
    .map(
      ([a, b]) =>
        [
          `lines ${a} and ${b} swapped`,
          onLines((lines) =>
            lines
              .with(pick(lines, a), lines[pick(lines, b)] ?? '')
              .with(pick(lines, b), lines[pick(lines, a)] ?? ''),
          ),
        ] as const,
    ),
  fc
    .tuple(place, fc.constantFrom('garbage{', '', '{"v":1}', '\0\0\0\0', 'null', '[]'))
    .map(
      ([at, text]) =>
        [
          `${JSON.stringify(text)} inserted at ${at}`,
          onLines((lines) => lines.toSpliced(pick(lines, at), 0, text)),
        ] as const,
    ),
  fc
    .tuple(place, fc.constantFrom('garbage{', '{"v":1,"seq":3}'))
    .map(
      ([at, text]) =>
        [
          `line ${at} overwritten by ${text}`,
          onLines((lines) => lines.with(pick(lines, at), text)),
        ] as const,
    ),
  fc.tuple(place, fc.integer({ min: 1, max: 60 })).map(
    ([at, seq]) =>
      [
        `line ${at} numbered ${seq}`,
        onLines((lines) => {
          const line = lines[pick(lines, at)] ?? '';
          const changed = line.replace(/"seq":\d+/, `"seq":${seq}`);
          return changed === line
            ? lines.toSpliced(pick(lines, at), 1)
            : lines.with(pick(lines, at), changed);
        }),
      ] as const,
  ),
);

/**
 * Adds bytes that JSON does not allow. Other bytes can leave a well-formed record with another value,
 * such as the name of a missing prompt, and such a session is refused.
 */
export const anyDamage: fc.Arbitrary<readonly [string, Damage]> = fc.oneof(
  { weight: 3, arbitrary: visibleDamage },
  {
    weight: 2,
    arbitrary: fc.tuple(place, fc.uint8Array({ minLength: 1, maxLength: 40, max: 8 })).map(
      ([at, bytes]) =>
        [
          `bytes at ${at} overwritten`,
          (whole: Buffer) => {
            const damaged = Buffer.from(whole);
            damaged.set(
              bytes.subarray(0, whole.length),
              Math.floor(at * Math.max(0, whole.length - bytes.length)),
            );
            return damaged;
          },
        ] as const,
    ),
  },
);
