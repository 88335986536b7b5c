/**
 * History of an agent, folded from its journal. A live agent applies each record right after the
 * write, a rebuilt agent applies all records, so that both have the same state by construction.
 */
import type { Stop } from '../../protocol/agent/stop.js';
import type { Todo } from '../../protocol/agent/todo.js';
import { windowTokens } from '../../protocol/model/usage.js';
import { type RawJson, rawText, type WireBlock } from '../../protocol/model/wire-block.js';
import type { JournalRecord, UserPart } from '../../protocol/session/journal-record.js';
import type { FileStamp } from '../../protocol/tools/workspace.js';
import { Spending } from '../budget/spending.js';
import { BetaLatch } from '../cache/beta-latch.js';
import { CachedPart } from '../cache/cached-part.js';
import { tokensOfBytes } from '../window/text-weight.js';
import { AgentRelations } from './agent-relations.js';
import { AnnouncedFacts } from './announced-facts.js';
import { applyNote } from './apply-note.js';
import { CurrentRun } from './current-run.js';
import {
  blocksIn,
  type HistoryMessage,
  historyMessage,
  openingBlocks,
  partBlock,
  preambleIn,
  preambleOf,
  textOfContent,
  withoutThinking,
} from './history-message.js';
import { Letters } from './letters.js';
import { LoopGuard } from './loop-guard.js';
import { OpenCalls } from './open-calls.js';
import { LOST_MESSAGES_TEXT, lostResult, newestCalls, repairMessages } from './repair-messages.js';
import { RunClock } from './run-clock.js';

type Broken = JournalRecord & { type: 'prompt.broken' };

/** Maximum length of the first prompt that is kept through compactions. */
const MAX_FIRST_PROMPT_LENGTH = 8_000;

/** Stop reasons of an answer that was cut off. */
const CUT_SHORT: readonly string[] = ['max_tokens', 'model_context_window_exceeded'];

export class History {
  readonly messages: HistoryMessage[] = [];
  /** Letters that are not in a message yet, oldest first. */
  readonly letters = new Letters();
  /** Open calls in the order of the model's message. */
  readonly calls = new OpenCalls();
  readonly fileStamps = new Map<string, FileStamp>();
  todos: readonly Todo[] = [];
  /** Offset up to which the agent has read the output of each job. */
  readonly jobReadTo = new Map<string, number>();
  cwd = '';
  model = '';
  prompt = '';
  agent = '';
  runs = 0;
  /** Number of prompts by people. */
  prompts = 0;
  turns = 0;
  /** Number of sent requests, answered or not. */
  requests = 0;
  readonly spent = new Spending();
  readonly announced = new AnnouncedFacts();
  readonly betas = new BetaLatch();
  readonly cached = new CachedPart();
  readonly relations = new AgentRelations();
  /** Run that limits count. */
  readonly currentRun = new CurrentRun();
  readonly loopGuard = new LoopGuard();
  readonly clock = new RunClock();
  /** Permission rules that answers added for the rest of the session. */
  readonly grants = new Set<string>();
  /** End of the last run; null during a run. */
  ended: (Stop & { readonly final: boolean; readonly seq: number }) | null = null;
  /**
   * True if the model must answer next: the newest message is a user message or a paused answer.
   */
  owesAnswer = false;
  /** True if the newest answer was cut at the output limit and no message follows it. */
  cutShort = false;
  /** Number of records that the store has lost. Undefined if no loss is known. */
  lostRecords: number | undefined;
  /** True if messages or results are missing, because the journal is damaged. */
  isInconsistent = false;
  /** True if the next user message joins the newest, whose answer was lost: roles must alternate. */
  private joinsNext = false;
  /** Bytes of the prompt head, until a server has counted it. */
  promptBytes = 0;
  /** Start of the first prompt, which is kept verbatim through compactions. */
  firstPrompt = '';
  /** Tokens that the server counted with the last answer; 0 if it has not counted since a break. */
  countedTokens = 0;
  /** Text weight of the messages after the last count. */
  weightSince = 0;

  apply(record: JournalRecord): void {
    // Apply to the sent messages, before this record adds a message.
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
        this.letters.receive(record);
        if (record.from === 'user') this.prompts += 1;
        break;
      case 'user.sent':
        this.addUserMessage(record.parts);
        break;
      case 'turn.started':
        this.requests += 1;
        this.model = record.model;
        this.betas.record(record.betas);
        this.calls.discardDrafts();
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
      case 'journal.repaired':
        this.repair();
        this.addDamageNotice(record.notice.letter, record.notice.text);
        this.isInconsistent = false;
        break;
      case 'session.rewound':
        if (record.notice === undefined) break;
        this.letters.addNotice(record.notice.letter, rawText(record.notice.text));
        break;
      case 'records.lost':
        this.lostRecords = (this.lostRecords ?? 0) + record.lost;
        this.letters.addNotice(record.notice.letter, rawText(record.notice.text), true);
        break;
      case 'run.ended': {
        const { reason, detail, final, seq } = record;
        this.ended = { reason, detail, final, seq };
        break;
      }
      default:
        break;
    }
    this.relations.apply(record);
    this.currentRun.apply(record);
    this.clock.apply(record);
    this.loopGuard.apply(record, this.calls, this.currentRun.first);
  }

  /** Tokens of the next prompt: the server's last count, plus an estimate of the later messages. */
  get tokens(): number {
    const uncounted = this.countedTokens === 0 ? this.promptBytes : 0;
    return this.countedTokens + tokensOfBytes(uncounted + this.weightSince);
  }

  /** Number of letters that need an answer. */
  get waiting(): number {
    return this.letters.waiting;
  }

  /**
   * Returns the parts of the next user message: results in call order, then the waiting letters.
   */
  nextUserParts(): UserPart[] {
    if (this.calls.size === 0 && this.waiting === 0 && !this.letters.hasUrgent) return [];
    return [
      ...[...this.calls.keys()].map((call) => ({ call })),
      ...this.letters.inOrder(this.calls.size > 0).map((letter) => ({ letter })),
    ];
  }

  /** Makes the messages valid after records were lost. Idempotent. */
  repair(): void {
    const { offered } = this.relations;
    const answered = this.calls.size > 0 ? [...this.calls.keys()] : offered;
    this.rebuild(repairMessages(this.messages, answered));
    if (this.messages.at(-1)?.role === 'user') this.owesAnswer = true;
    const newest = newestCalls(this.messages).join();
    // The message of the calls was lost, or its results were.
    if ([...this.calls.keys()].join() !== newest) this.calls.clear();
    if (offered.join() !== newest) this.relations.offer = null;
  }

  /** The notice must be in the next request, which may be an unanswered message. */
  private addDamageNotice(letter: string, text: string): void {
    const last = this.messages.at(-1);
    if (last?.role !== 'user') {
      this.letters.addNotice(letter, rawText(text));
      return;
    }
    this.joinsNext = true;
    this.push('user', `[${rawText(text)}]`, false);
  }

  /** Returns the result of a cited call, also if a damaged journal has lost it or its call. */
  private resultOf(call: string): RawJson | undefined {
    const known = this.calls.get(call);
    if (known?.result) return known.result.raw;
    this.isInconsistent = true;
    return known === undefined ? this.calls.draftedResult(call) : JSON.stringify(lostResult(call));
  }

  private addUserMessage(parts: readonly UserPart[]): void {
    const results = parts.filter((part) => 'call' in part).length;
    if (results < this.calls.size) this.isInconsistent = true;
    const cited = {
      letter: (id: string) => this.letters.get(id),
      result: (call: string) => this.resultOf(call),
      offer: () => this.relations.offer?.blocks,
    };
    const blocksOf = (selected: readonly UserPart[]) =>
      selected.flatMap((part) => partBlock(part, cited) || []).join(',');
    // A damaged journal may have lost the cited content.
    const found = blocksOf(parts);
    if (found === '') this.isInconsistent = true;
    const content = found || rawText(LOST_MESSAGES_TEXT);
    const isActive = (part: UserPart) => 'letter' in part && this.letters.isActive(part.letter);
    if (this.firstPrompt === '')
      this.firstPrompt = textOfContent(
        `[${blocksOf(parts.filter(isActive))}]`,
        MAX_FIRST_PROMPT_LENGTH,
      );
    const isOffered = parts.some((part) => 'offer' in part);
    this.push('user', `[${content}]`, this.calls.size > 0 || isOffered, {
      shared: this.sharedIn(parts, blocksOf),
      preamble: this.messages.length === 0 ? preambleIn(parts) : '',
    });
    this.announced.record(parts, this.messages.length - 1);
    for (const part of parts) {
      if ('letter' in part) this.letters.delete(part.letter);
    }
    if (this.calls.size > 0) this.letters.dropReported();
    this.calls.clear();
    this.owesAnswer = true;
    this.cutShort = false;
  }

  /** Returns the blocks of a child's first message that other children share. */
  private sharedIn(
    parts: readonly UserPart[],
    blocksOf: (selected: readonly UserPart[]) => RawJson,
  ): RawJson {
    if (this.relations.origin === null || this.turns > 0) return '';
    return blocksOf(parts.filter((part) => 'offer' in part || 'briefing' in part));
  }

  private addAssistantMessage(record: JournalRecord & { type: 'assistant.received' }): void {
    this.turns += 1;
    this.spent.count(record);
    // Only a damaged journal has an answer without a question.
    if (!this.owesAnswer && this.messages.at(-1)?.role !== 'user') {
      this.isInconsistent = true;
      this.addUserMessage([...this.nextUserParts(), { text: LOST_MESSAGES_TEXT }]);
    }
    if (record.raw !== '[]') this.push('assistant', record.raw, false);
    // Keep the estimate if the answer has no usage.
    if (windowTokens(record.usage) > 0) {
      this.countedTokens = windowTokens(record.usage);
      this.weightSince = 0;
    }
    this.owesAnswer = record.stopReason === 'pause_turn';
    this.calls.addMessage(JSON.parse(record.raw) as WireBlock[]);
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
    start?: Parameters<typeof historyMessage>[3],
  ): void {
    const last = this.joinsNext && role === 'user' ? this.messages.pop() : undefined;
    this.joinsNext &&= role === 'user';
    const message =
      last === undefined
        ? historyMessage(role, content, answersCalls, start)
        : historyMessage(role, `[${blocksIn(last)},${content.slice(1, -1)}]`, last.answersCalls);
    this.messages.push(message);
    this.weightSince += message.weight;
  }

  private truncate(dropped: number, notice: string): void {
    const [first] = this.messages.splice(0, dropped + 1);
    if (first === undefined) return;
    this.announced.dropMessages(dropped);
    this.beginWith(`${blocksIn(first)},${rawText(notice)}`, preambleOf(first));
  }

  /** Replaces the oldest messages by a summary. */
  private compact({ dropped, summary = '', briefing }: Broken): void {
    this.messages.splice(0, dropped ?? 0);
    if (briefing === undefined) this.announced.clear();
    else this.announced.startFrom(briefing.facts);
    // A damaged journal may have lost the calls of these results.
    while (this.messages[0]?.answersCalls) this.messages.shift();
    const opening = openingBlocks(briefing?.text ?? '', briefing?.role);
    const preamble = briefing?.text ? opening[0] : '';
    this.beginWith([...opening, rawText(summary)].join(','), preamble);
  }

  /** Puts the blocks first, in the same message as a user message that follows. */
  private beginWith(blocks: RawJson, preamble = ''): void {
    const [next, ...rest] = this.messages;
    const isPrompt = next?.role === 'user';
    const following = isPrompt ? `,${blocksIn(next)}` : '';
    const message = historyMessage('user', `[${blocks}${following}]`, false, { preamble });
    this.rebuild([message, ...(isPrompt ? rest : this.messages)]);
  }

  private clear(): void {
    this.rebuild([]);
    this.fileStamps.clear();
    this.todos = [];
    this.calls.clear();
    this.firstPrompt = '';
    this.announced.clear();
    this.owesAnswer = false;
    this.cutShort = false;
  }

  /** Replaces the messages after a break and resets the server's count. */
  private rebuild(messages: readonly HistoryMessage[]): void {
    this.messages.length = 0;
    for (const message of messages) this.messages.push(withoutThinking(message));
    this.cached.clear();
    this.countedTokens = 0;
    this.weightSince = this.messages.reduce((sum, { weight }) => sum + weight, 0);
  }
}
