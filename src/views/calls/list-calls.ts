/** Lists the calls of a session in the order of their requests, from its journals. */

import type { WireBlock } from '../../protocol/model/wire-block.js';
import type { CallOutcome, JournalRecord } from '../../protocol/session/journal-record.js';
import type { SessionStore } from '../../protocol/session/session-store.js';
import { UsageError } from '../../protocol/skein-error.js';
import { type CallSubject, callSubject } from './call-subject.js';

export interface ListedCall {
  /** Number in the session, starting at 1. */
  readonly number: number;
  readonly call: string;
  readonly agent: string;
  readonly tool: string;
  readonly turn: number;
  readonly ts: number;
  /** Number of the record that requested the call. */
  readonly seq: number;
  readonly subject: CallSubject;
  /** Working directory of the agent. */
  readonly cwd: string;
  /** Null if the call has not ended, or if the process died before its end. */
  readonly outcome: CallOutcome | null;
  readonly endedAt: number | null;
  readonly startedAt: number | null;
  /** Recorded file changes, or undefined if the call was not watched. */
  readonly changed: readonly string[] | undefined;
}

type Draft = { -readonly [Key in keyof ListedCall]: ListedCall[Key] };

export const listCalls = async (
  store: Pick<SessionStore, 'agents' | 'records'>,
  id: string,
): Promise<readonly ListedCall[]> => {
  const all: Draft[] = [];
  for (const agent of await store.agents(id)) {
    const fold = new AgentCalls(agent);
    for await (const record of store.records(id, agent)) fold.take(record);
    all.push(...fold.calls.values());
  }
  // Stable: calls of one message keep their order.
  all.sort((a, b) => a.ts - b.ts);
  for (const [index, call] of all.entries()) call.number = index + 1;
  return all;
};

/** Finds a call by number, id or beginning of an id. Throws UsageError. */
export const findCall = (calls: readonly ListedCall[], query: string): ListedCall => {
  const number = /^#?\d{1,6}$/.test(query) ? Number(query.replace('#', '')) : undefined;
  const byNumber = number === undefined ? undefined : calls[number - 1];
  if (byNumber !== undefined) return byNumber;
  const fitting = query === '' ? [] : calls.filter(({ call }) => call.startsWith(query));
  const [found] = fitting.filter(({ call }) => call === query || fitting.length === 1);
  if (found !== undefined) return found;
  const shown = query.slice(0, 80);
  if (fitting.length > 1) {
    const candidates = fitting
      .slice(0, 5)
      .map((candidate) => `${candidate.call} (number ${candidate.number})`);
    throw new UsageError(
      `"${shown}" matches ${fitting.length} calls: ${candidates.join(', ')}. Give more of the id, or the number.`,
    );
  }
  const total = calls.length === 0 ? 'no calls' : `${calls.length} calls, numbered from 1`;
  throw new UsageError(
    `There is no call "${shown}"; the session has ${total}. Leave out the call to list them.`,
  );
};

class AgentCalls {
  readonly calls = new Map<string, Draft>();
  private readonly agent: string;
  private cwd = '/';

  constructor(agent: string) {
    this.agent = agent;
  }

  take(record: JournalRecord): void {
    if (record.type === 'agent.created') this.cwd = record.cwd;
    if (record.type === 'assistant.received') {
      for (const block of toolUseBlocks(record.raw)) this.addRequested(block, record);
    }
    if (!('call' in record) || typeof record.call !== 'string') return;
    if (record.type === 'call.ended') {
      const moved = record.notes?.findLast((note) => note.type === 'cwd.changed');
      if (moved?.type === 'cwd.changed') this.cwd = moved.cwd;
    }
    const known = this.calls.get(record.call);
    // The lead also records the files of worktree merges and of other agents' calls.
    if (known === undefined && isFileRecord(record)) return;
    const call = known ?? this.addEarly(record.call, record);
    if (record.type === 'call.started') call.startedAt = record.ts;
    if (record.type === 'call.ended') [call.outcome, call.endedAt] = [record.outcome, record.ts];
    if (record.type === 'files.changed') call.changed = record.changes.map(({ path }) => path);
  }

  /** Adds a call whose message has no record yet. A call may start before its message ends. */
  private addEarly(id: string, record: JournalRecord): Draft {
    const tool = 'tool' in record ? record.tool : '?';
    const turn = 'turn' in record ? record.turn : 0;
    const call: Draft = {
      number: 0,
      call: id,
      agent: this.agent,
      tool,
      turn,
      ts: record.ts,
      seq: record.seq,
      subject: { files: [] },
      cwd: this.cwd,
      outcome: null,
      startedAt: null,
      endedAt: null,
      changed: undefined,
    };
    this.calls.set(id, call);
    return call;
  }

  private addRequested(
    { id, name, input }: WireBlock,
    record: JournalRecord & { type: 'assistant.received' },
  ): void {
    if (typeof id !== 'string') return;
    const call = this.calls.get(id) ?? this.addEarly(id, record);
    call.tool = String(name);
    call.turn = record.turn;
    call.seq = record.seq;
    call.subject = callSubject(input, call.cwd);
  }
}

const isFileRecord = ({ type }: JournalRecord): boolean =>
  type === 'files.watched' || type === 'files.changed';

/** Returns the tool_use blocks of a message. */
export const toolUseBlocks = (raw: string): readonly WireBlock[] => {
  const blocks = JSON.parse(raw) as unknown;
  return Array.isArray(blocks)
    ? (blocks as WireBlock[]).filter((block) => block?.type === 'tool_use')
    : [];
};
