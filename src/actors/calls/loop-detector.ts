/** Looks at each call that ends: whether the agent goes round in circles, and what it is told then. */
import type { CommonFailures } from '../../context/common-failures.js';
import type { History } from '../../context/history/history.js';
import * as stops from '../../machines/stops.js';
import type { AgentLimits, Stop } from '../../protocol/agent/agent.js';
import type { CallOutcome, CallTrace } from '../../protocol/session/journal.js';
import type { ResultBlock } from '../../protocol/tools/tool.js';
import { inputDigest, shortDigest } from '../permissions/input-digest.js';
import type { PendingCall } from './pending-call.js';

export type LoopLimits = Pick<AgentLimits, 'roundsBeforeWarning' | 'maxRounds'>;

type Content = string | readonly ResultBlock[];

export interface WatchedCall {
  readonly outcome: CallOutcome;
  readonly content: Content;
  readonly failed: boolean;
  /** What the result says, where its text is never the same twice. */
  readonly gist: string | undefined;
}

export interface Looked {
  /** With the warning, if there is one. */
  readonly content: Content;
  readonly trace: CallTrace | undefined;
  /** The agent must not go on. */
  readonly stop: Stop | undefined;
}

/** From so many agents on that have met the same failure, each is told. */
const AGENTS_BEFORE_WARNING = 3;

export class LoopWatch {
  private readonly agent: string;
  private readonly history: History;
  private readonly limits: LoopLimits;
  private readonly failures: CommonFailures | undefined;

  constructor(
    agent: string,
    history: History,
    limits: LoopLimits,
    failures: CommonFailures | undefined,
  ) {
    this.agent = agent;
    this.history = history;
    this.limits = limits;
    this.failures = failures;
  }

  look({ wanted, call, digest: known }: PendingCall, ended: WatchedCall): Looked {
    const { outcome, content, gist } = ended;
    // It says nothing of what the call would have come to.
    if (outcome === 'interrupted') return { content, trace: undefined, stop: undefined };
    const { tool, malformed } = wanted;
    const input = known ?? inputDigest(malformed ?? call?.input ?? wanted.input);
    const said = gist ?? (typeof content === 'string' ? content : JSON.stringify(content));
    const result = shortDigest(`${outcome}\n${said}`);
    const digest = shortDigest(`${tool}\n${input}\n${result}`);
    if (call?.tool.polls?.(call.input) === true) {
      return { content, trace: { digest, polls: true }, stop: undefined };
    }
    const rounds = this.history.loops.roundsWith(digest);
    const agents = this.agentsThatFail(`${tool}\n${input}`, ended.failed, result);
    const told = this.warning(tool, rounds, agents);
    if (told === undefined) return { content, trace: { digest }, stop: undefined };
    return {
      content: withWords(content, told),
      trace: { digest, told: rounds },
      stop: this.isHopeless(rounds, agents) ? stops.loopOfMany(tool, agents) : undefined,
    };
  }

  private agentsThatFail(call: string, failed: boolean, result: string): number {
    if (failed) return this.failures?.count(this.agent, call, result) ?? 1;
    this.failures?.forget(call);
    return 1;
  }

  private warning(tool: string, rounds: number, agents: number): string | undefined {
    const { roundsBeforeWarning, maxRounds } = this.limits;
    if (rounds >= roundsBeforeWarning) return repeats(tool, rounds, maxRounds);
    return agents >= AGENTS_BEFORE_WARNING ? failsForAll(tool, agents) : undefined;
  }

  /** Others have tried it as well, and it was told so. */
  private isHopeless(rounds: number, agents: number): boolean {
    return agents >= AGENTS_BEFORE_WARNING && rounds >= this.limits.roundsBeforeWarning;
  }
}

/** Of an agent that is about to ask the model again; undefined while it gets on. */
export const loopOf = ({ loops }: History, { maxRounds }: LoopLimits): Stop | undefined =>
  loops.rounds >= maxRounds && !loops.hasNews ? stops.loop(loops.rounds) : undefined;

const repeats = (tool: string, rounds: number, most: number): string =>
  `[Skein: you have made this call ${rounds} times in a row with nothing new in between, and ${tool} gave the same result each time. It will again. Do something else: look elsewhere, change something first, ask, or end with what you have and what is in the way. To wait for something use a command that waits, or TaskOutput. At ${most} times you are stopped.]`;

const failsForAll = (tool: string, agents: number): string =>
  `[Skein: ${agents} agents of this swarm have made this very call of ${tool}, and it failed for each of them in the same way. Do not repeat it: do it another way, or report what is in the way to whoever you work for.]`;

const withWords = (content: Content, words: string): Content =>
  typeof content === 'string'
    ? `${content}\n\n${words}`
    : [...content, { type: 'text', text: words }];
