/**
 * What an agent knows, folded from its journal. The live agent applies each record right after it
 * was written, a rebuilt one applies them all: so both are in the same place by construction.
 */
import type { Stop } from '../../protocol/agent/agent.js';
import type { Todo } from '../../protocol/agent/todos.js';
import { windowTokens } from '../../protocol/model/usage.js';
import { type RawJson, rawText, type WireBlock } from '../../protocol/model/wire.js';
import type { JournalRecord, UserPart } from '../../protocol/session/journal.js';
import type { FileStamp } from '../../protocol/tools/tool.js';
import { Spending } from '../budget/spending.js';
import { BetaLatch } from '../cache/beta-latch.js';
import { CachedPart } from '../cache/cached-part.js';
import { tokensOfBytes } from '../window/tokens.js';
import { applyNote } from './apply-note.js';
import { CurrentRun } from './current-run.js';
import {
  blocksIn,
  type HistoryMessage,
  messageOf,
  textIn,
  withoutThoughts,
} from './history-message.js';
import { Letters } from './letters.js';
import { LoopGuard } from './loop-guard.js';
import { blockOf, Told } from './message-parts.js';
import { OpenCalls } from './open-calls.js';
import { AgentRelations } from './relations.js';
import { RunClock } from './run-clock.js';

type Broken = JournalRecord & { type: 'prompt.broken' };

/** How much of the first prompt outlives every compaction. */
const OPENING_CHARACTERS = 8_000;

/** How an answer ends that has no room to end. */
const CUT_SHORT: readonly string[] = ['max_tokens', 'model_context_window_exceeded'];

export class History {
  readonly messages: HistoryMessage[] = [];
  /** Received and not in a message yet, oldest first. */
  readonly letters = new Letters();
  /** In the order in which the model asked. */
  readonly calls = new OpenCalls();
  readonly seen = new Map<string, FileStamp>();
  todos: readonly Todo[] = [];
  /** How far it has read what each of its jobs prints. */
  readonly jobs = new Map<string, number>();
  cwd = '';
  model = '';
  prompt = '';
  agent = '';
  runs = 0;
  /** What people have said, however long ago. */
  prompts = 0;
  turns = 0;
  /** Requests that were sent, answered or not. */
  requests = 0;
  readonly spent = new Spending();
  readonly told = new Told();
  readonly betas = new BetaLatch();
  readonly cached = new CachedPart();
  readonly family = new AgentRelations();
  /** As limits count runs. */
  readonly run = new CurrentRun();
  readonly loops = new LoopGuard();
  readonly life = new RunClock();
  /** Rules that answers allow for the rest of the session. */
  readonly grants = new Set<string>();
  /** How the last run ended; null while one is under way. */
  ended: (Stop & { readonly final: boolean; readonly seq: number }) | null = null;
  /** The model must speak next: the newest message is the user's, or a pause. */
  owesAnswer = false;
  /** The newest answer was cut at the output limit, and nobody has asked it to go on. */
  cutShort = false;
  /** What stands ahead of the messages, until a server has counted it. */
  promptBytes = 0;
  /** What the first prompt said, as far as it is kept word for word through every compaction. */
  opening = '';
  /** What the server counted with the last answer; 0 when nothing has been counted since a break. */
  countedTokens = 0;
  /** Of what came after the last count. */
  weightSince = 0;

  apply(record: JournalRecord): void {
    // Before the messages grow: it is about those that were sent.
    this.cached.apply(record, this.messages);
    switch (record.type) {
      case 'agent.created':
        this.agent = record.agent;
        this.cwd = record.cwd;
        this.model = record.model;
        this.prompt = record.prompt;
        break;
      case 'agent.moved':
        this.cwd = record.to.place.cwd;
        break;
      case 'run.started':
        this.runs = record.run;
        this.ended = null;
        break;
      case 'letter.received':
        this.letters.take(record);
        if (record.from === 'user') this.prompts += 1;
        break;
      case 'user.sent':
        this.addUserMessage(record.parts);
        break;
      case 'turn.started':
        this.requests += 1;
        this.model = record.model;
        this.betas.take(record.betas);
        this.calls.forgetDrafts();
        break;
      case 'assistant.received':
        this.addAssistantMessage(record);
        break;
      case 'turn.failed':
      case 'consultation.ended':
        this.spent.count(record);
        break;
      case 'call.ruled':
        if (record.granted !== undefined) this.grants.add(record.granted);
        break;
      case 'call.started':
        this.calls.progressOf(record.call).started = { readOnly: record.readOnly };
        break;
      case 'call.ended': {
        const call = this.calls.progressOf(record.call);
        call.result = { raw: record.raw, outcome: record.outcome };
        call.notes = record.notes ?? [];
        call.trace = record.trace ?? null;
        this.applyNotes();
        break;
      }
      case 'prompt.broken':
        this.prompt = record.prompt ?? this.prompt;
        if (record.reason === 'clear') this.clear();
        else if (record.summary !== undefined) this.compact(record);
        else if (record.dropped !== undefined) this.truncate(record.dropped, record.notice ?? '');
        break;
      case 'session.rewound':
        if (record.notice === undefined) break;
        this.letters.setAside(record.notice.letter, rawText(record.notice.text));
        break;
      case 'run.ended': {
        const { reason, detail, final, seq } = record;
        this.ended = { reason, detail, final, seq };
        break;
      }
      default:
        break;
    }
    this.family.apply(record);
    this.run.apply(record);
    this.life.apply(record);
    this.loops.apply(record, this.calls, this.run.first);
  }

  /** Tokens of the next prompt: what the last answer counted, and the rest at four bytes each. */
  get tokens(): number {
    const uncounted = this.countedTokens === 0 ? this.promptBytes : 0;
    return this.countedTokens + tokensOfBytes(uncounted + this.weightSince);
  }

  /** Letters that want an answer. */
  get waiting(): number {
    return this.letters.waiting;
  }

  /** The parts of the next user message: results in call order, then the letters that wait. */
  nextUserParts(): UserPart[] {
    if (this.calls.size === 0 && this.waiting === 0) return [];
    return [
      ...[...this.calls.keys()].map((call) => ({ call })),
      ...this.letters.inOrder(this.calls.size > 0).map((letter) => ({ letter })),
    ];
  }

  private addUserMessage(parts: readonly UserPart[]): void {
    const cited = {
      letter: (id: string) => this.letters.get(id),
      result: (call: string) => this.calls.get(call)?.result?.raw,
      offer: () => this.family.offer?.blocks,
    };
    // A damaged journal may have lost what the parts cite; a message without blocks is none.
    const blocksOf = (some: readonly UserPart[]) =>
      some.flatMap((part) => blockOf(part, cited) || []).join(',');
    const content = blocksOf(parts);
    const isSaid = (part: UserPart) => 'letter' in part && this.letters.isSaid(part.letter);
    if (this.opening === '')
      this.opening = textIn(`[${blocksOf(parts.filter(isSaid))}]`, OPENING_CHARACTERS);
    if (content !== '') {
      const isOffered = parts.some((part) => 'offer' in part);
      this.push(
        'user',
        `[${content}]`,
        this.calls.size > 0 || isOffered,
        this.sharedIn(parts, blocksOf),
      );
    }
    this.told.take(parts, this.messages.length - 1);
    for (const part of parts) {
      if ('letter' in part) this.letters.delete(part.letter);
    }
    if (this.calls.size > 0) this.letters.dropTold();
    this.calls.clear();
    this.owesAnswer = true;
    this.cutShort = false;
  }

  /** Of the first message of a child: how much of it other children begin with too. */
  private sharedIn(
    parts: readonly UserPart[],
    blocksOf: (some: readonly UserPart[]) => RawJson,
  ): RawJson {
    if (this.family.origin === null || this.turns > 0) return '';
    return blocksOf(parts.filter((part) => 'offer' in part || 'briefing' in part));
  }

  private addAssistantMessage(record: JournalRecord & { type: 'assistant.received' }): void {
    this.turns += 1;
    this.spent.count(record);
    if (record.raw !== '[]') this.push('assistant', record.raw, false);
    // An answer that broke off at once, or a server that does not count, leaves the estimate.
    if (windowTokens(record.usage) > 0) {
      this.countedTokens = windowTokens(record.usage);
      this.weightSince = 0;
    }
    this.owesAnswer = record.stopReason === 'pause_turn';
    this.calls.land(JSON.parse(record.raw) as WireBlock[]);
    this.cutShort = CUT_SHORT.includes(record.stopReason) && this.calls.size === 0;
    this.applyNotes();
  }

  private applyNotes(): void {
    for (const note of this.calls.takeNotes()) applyNote(this, note);
  }

  private push(
    role: 'user' | 'assistant',
    content: RawJson,
    answersCalls: boolean,
    shared: RawJson = '',
  ): void {
    const message = messageOf(role, content, answersCalls, shared);
    this.messages.push(message);
    this.weightSince += message.weight;
  }

  private truncate(dropped: number, notice: string): void {
    const [first] = this.messages.splice(0, dropped + 1);
    if (first === undefined) return;
    this.told.lose(dropped);
    this.beginWith(`${blocksIn(first)},${rawText(notice)}`);
  }

  /** The summary stands where the messages stood. */
  private compact({ dropped, summary = '', briefing }: Broken): void {
    this.messages.splice(0, dropped ?? 0);
    if (briefing === undefined) this.told.forget();
    else this.told.begin(briefing.facts);
    // A damaged journal may have lost the calls that these answer.
    while (this.messages[0]?.answersCalls) this.messages.shift();
    const opening = briefing?.text ? `${rawText(briefing.text)},` : '';
    this.beginWith(`${opening}${rawText(summary)}`);
  }

  /** In one message with a prompt that follows it. */
  private beginWith(blocks: RawJson): void {
    const [next, ...rest] = this.messages;
    const isPrompt = next?.role === 'user';
    const told = isPrompt ? `,${blocksIn(next)}` : '';
    const message = messageOf('user', `[${blocks}${told}]`, false);
    this.rebuild([message, ...(isPrompt ? rest : this.messages)]);
  }

  private clear(): void {
    this.rebuild([]);
    this.seen.clear();
    this.todos = [];
    this.calls.clear();
    this.opening = '';
    this.told.forget();
    this.owesAnswer = false;
    this.cutShort = false;
  }

  /** After a break: nothing is as any server has counted it. */
  private rebuild(messages: readonly HistoryMessage[]): void {
    this.messages.length = 0;
    for (const message of messages) this.messages.push(withoutThoughts(message));
    this.cached.forget();
    this.countedTokens = 0;
    this.weightSince = this.messages.reduce((sum, { weight }) => sum + weight, 0);
  }
}
